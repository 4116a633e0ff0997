package builtins

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/kprobe"
	"kscope/lang"
)

// bootForTest makes machines as main does.
var initrd = sync.OnceValue(func() []byte { return user.Initrd() })

func bootForTest(snaps *kernel.Snapshots) func(kernel.Config) (*Guest, error) {
	return bootLimited(snaps, 30_000_000)
}

func bootLimited(snaps *kernel.Snapshots, insns uint64) func(kernel.Config) (*Guest, error) {
	return func(cfg kernel.Config) (*Guest, error) {
		cfg.Initrd, cfg.MaxInsns = initrd(), insns
		m, err := snaps.Machine(cfg, func(m *kernel.Machine) error {
			if _, err := user.New(m); err != nil {
				return err
			}
			if _, err := ftrace.New(m); err != nil {
				return err
			}
			_, err := kprobe.New(m)
			return err
		})
		if err != nil {
			return nil, err
		}
		return NewGuest(m)
	}
}

// odd are values that a function may not expect.
var odd = []string{
	"None", "True", "0", "1", "-1", "2", "1 << 63", "1 << 64", "-(1 << 70)", "1.5", `""`, `"vfs_read"`, `"x"`, `"/etc/hostname"`, `"/"`,
	`"a" * 5000`, `b"\x90"`, "[]", "[1]", `["x", 3]`, "{}", "(1, 2)", "lambda *a: 0", "lambda *a: fail()", "print", `kernel.sym("vfs_read")`,
	`kernel.task(1)`, `kernel.var("init_task")`, "kernel.cpus[0]", "kernel", "kernel.fork()", `"tT"`, `"set"`, `"*"`, `"!vfs_*"`, `"nop"`,
	`"function"`, `"per_cpu/cpu0/stats"`, `"trace_pipe"`, "range(3)", "1000", `"\0"`, `"\n"`,
}

// TestAnyArguments calls every function and method with values that it may not expect: it may refuse them, but neither
// panic nor hang, and the machine stays usable.
func TestAnyArguments(t *testing.T) {
	t.Chdir(t.TempDir()) // some write files of the host
	var snaps kernel.Snapshots
	rng := rand.New(rand.NewPCG(1, 2))
	calls, accepted := 40, 0
	if testing.Short() {
		calls = 5
	}
	objects := map[string]string{"Task": "kernel.task(1)", "Obj": `kernel.var("init_task").tasks`, "Machine": "kernel.fork()", "Regexp": `re("x")`,
		"Agg": `agg.hist("h")`, "On": `on("interval:ms:1", print)`, "Event": `event.get("sched:sched_switch")`, "Probe": `kprobe.attach("vfs_read")`}
	rows := lang.New(lang.Config{Tables: New(Config{}).Tables()}).Rows()
	for _, r := range rows {
		typ, name, _ := strings.Cut(r.Name, ".")
		target := r.Name
		if obj := objects[typ]; obj != "" {
			target = obj + "." + name
		} else if r.Name == "demo" || r.Name == "tour" || r.Name == "time" || r.Name == "flag.args" {
			continue
		}
		e := New(Config{Boot: bootForTest(&snaps), Defaults: kernel.Config{CPUs: 2}, Stdout: io.Discard})
		h := lang.New(lang.Config{Tables: e.Tables(), MaxSteps: 50_000_000, Stdout: io.Discard})
		e.Attach(h)
		for range calls {
			src := target + "(" + oddArgs(rng, r.Sig) + ")"
			if typ == "Sys" {
				src = "kernel.spawn(lambda sys: attempt(lambda: sys." + name + "(" + oddArgs(rng, r.Sig) + "))).wait(10 * ms)"
			}
			err := h.Eval(src)
			if err == nil {
				accepted++
			} else if strings.Contains(err.Error(), "BUG") {
				t.Errorf("%s: %v", src, err)
			}
		}
		h.Close()
	}
	if accepted < 10*calls {
		t.Errorf("only %d calls were accepted: the machine is of no use", accepted)
	}
}

// oddArgs makes an argument list: some by position, some by the names in the signature.
func oddArgs(rng *rand.Rand, sig string) string {
	var args []string
	for range rng.IntN(4) {
		args = append(args, odd[rng.IntN(len(odd))])
	}
	for _, p := range strings.FieldsFunc(sig, func(r rune) bool { return strings.ContainsRune("(), ", r) }) {
		if rng.IntN(4) == 0 && p[0] >= 'a' && p[0] <= 'z' && !strings.Contains(strings.Join(args, " "), p+" = ") {
			args = append(args, fmt.Sprintf("%s = %s", p, odd[rng.IntN(len(odd))]))
		}
	}
	return strings.Join(args, ", ")
}
