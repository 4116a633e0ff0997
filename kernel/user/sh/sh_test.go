package sh_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/kernel/user/sh"
)

var update = flag.Bool("update", false, "rewrite testdata/snippets.txt from the host's bash")

var snaps kernel.Snapshots

// noTracer answers the gates that a tracer would own.
type noTracer struct{}

func (noTracer) Fork(m *kernel.Machine) kernel.Part {
	for _, name := range m.Gates() {
		ret := kernel.ENOSYS.Ret()
		switch {
		case name == "tracefs_lookup":
			ret = kernel.ENOENT.Ret()
		case name == "tracefs_iterate", name == "tracefs_readable", name == "ftrace_process_locs":
			ret = 0
		case name != "function_trace_call" && name != "arch_ftrace_ops_list_func" && name != "__ftrace_trace_stack" && !strings.HasPrefix(name, "tracefs_"):
			continue
		}
		m.RegisterGate(name, func(*kernel.VCPU) uint64 { return ret })
	}
	return noTracer{}
}

var initrd = sync.OnceValue(func() []byte { return user.Initrd(sh.Files()...) })

// boot gives a fork of a booted machine with the shell in /bin.
func boot(t testing.TB, cfg kernel.Config) (*kernel.Machine, *user.Host) {
	t.Helper()
	cfg.Initrd = initrd()
	if cfg.MaxInsns == 0 {
		cfg.MaxInsns = 2e9 // a guest that never ends must fail, not hang the tests
	}
	m, err := snaps.Machine(cfg, func(m *kernel.Machine) error {
		h, err := user.New(m)
		if err != nil {
			return err
		}
		sh.Install(h)
		m.Attach(noTracer{}.Fork(m))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	h, _ := kernel.PartOf[*user.Host](m)
	t.Cleanup(h.Close)
	return m, h
}

type result struct {
	out, err string
	code     int
}

// run executes a script as ./x.sh.
func run(t testing.TB, m *kernel.Machine, h *user.Host, script string) result {
	t.Helper()
	if err := m.WriteFile("/x.sh", []byte(script), false); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	pid, err := h.Exec("bash", []string{"./x.sh"}, kernel.Streams{Out: &out, Err: &errs})
	if err != nil {
		t.Fatal(err)
	}
	code, err := m.Wait(pid)
	if err != nil {
		t.Errorf("%v\n%s\nstdout %s\nstderr %s", err, script, out.String(), errs.String())
		code = -1
	}
	return result{out.String(), errs.String(), code}
}

// snippet is one row of testdata/snippets.txt.
type snippet struct {
	title, script string
	want          result
}

// parseSnippets reads rows of "%% title", the script, "%out", what bash 5.2 prints, "%err", and "%exit N".
func parseSnippets(text string) (out []snippet) {
	for _, chunk := range strings.Split("\n"+text, "\n%% ")[1:] {
		title, rest, _ := strings.Cut(chunk, "\n")
		s := snippet{title: title}
		cur := &s.script
		for _, line := range strings.SplitAfter(rest, "\n") {
			switch {
			case line == "%out\n":
				cur = &s.want.out
			case line == "%err\n":
				cur = &s.want.err
			case strings.HasPrefix(line, "%exit "):
				fmt.Sscan(line[6:], &s.want.code)
				cur = new(string)
			default:
				*cur += line
			}
		}
		for _, p := range []*string{&s.want.out, &s.want.err} { // "%nonl" at the end: no newline there
			*p = strings.TrimSuffix(*p, "%nonl\n")
		}
		if !strings.HasSuffix(s.script, "\n") {
			s.script += "\n"
		}
		out = append(out, s)
	}
	return out
}

func (s snippet) String() string {
	part := func(mark, text string) string {
		if text == "" {
			return ""
		}
		if !strings.HasSuffix(text, "\n") {
			text += "%nonl\n"
		}
		return mark + "\n" + text
	}
	return "%% " + s.title + "\n" + s.script + part("%out", s.want.out) + part("%err", s.want.err) + fmt.Sprintf("%%exit %d\n", s.want.code)
}

// hostBash runs a script with the host's bash; ok is false when that is not bash 5.2.
func hostBash(t *testing.T, script string) (r result, ok bool) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.sh"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	// A shell lists signals that its parent ignores (nohup); one that Go catches is at its default again in the child.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTERM)
	defer signal.Stop(caught)
	cmd := exec.Command("bash", "./x.sh")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/root", "TERM=linux", "LC_ALL=C"}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return r, false
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}, true
}

func isBash52() bool {
	v, err := exec.Command("bash", "--version").Output()
	return err == nil && bytes.Contains(v, []byte("version 5.2."))
}

const snippetFile = "testdata/snippets.txt"

func snippets(t *testing.T) []snippet {
	text, err := os.ReadFile(snippetFile)
	if err != nil {
		t.Fatal(err)
	}
	return parseSnippets(string(text))
}

// The rows' expectations are those of a real bash 5.2.
func TestSnippetsAgainstHost(t *testing.T) {
	if os.Getenv("KSCOPE_HOST_TOOLS") == "" && !*update {
		t.Skip("starts the host's bash for each row: KSCOPE_HOST_TOOLS=1")
	}
	if !isBash52() {
		t.Skip("the host has no bash 5.2")
	}
	rows := snippets(t)
	for i := range rows {
		got, ok := hostBash(t, rows[i].script)
		if !ok {
			t.Skip("bash does not start")
		}
		if got != rows[i].want && !*update {
			t.Errorf("%s: bash has\n%v\nthe file\n%v", rows[i].title, got, rows[i].want)
		}
		rows[i].want = got
	}
	if *update {
		var b strings.Builder
		for _, r := range rows {
			b.WriteString(r.String())
		}
		if err := os.WriteFile(snippetFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSnippets(t *testing.T) {
	for _, s := range snippets(t) {
		t.Run(strings.ReplaceAll(s.title, " ", "_"), func(t *testing.T) {
			m, h := boot(t, kernel.Config{Seed: 1})
			got := run(t, m, h, s.script)
			if got.out != s.want.out || got.err != s.want.err || got.code != s.want.code {
				t.Errorf("script\n%s--- got exit %d\n%s--- err\n%s--- want exit %d\n%s--- err\n%s", s.script, got.code, got.out, got.err, s.want.code, s.want.out, s.want.err)
			}
		})
	}
}
