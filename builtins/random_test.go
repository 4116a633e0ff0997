package builtins

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/lang"
)

// A random script: statements that keep what they make, hang handlers on it and run the machine. Whatever it does, it ends
// within its budget and the host does not panic.

// scripter writes random scripts.
type scripter struct {
	rng  *rand.Rand
	rows []lang.Row
	vars int
}

// specs and bodies are of handlers; some are wrong.
var specs = []string{
	"kprobe:vfs_*", "kprobe:vfs_read+5", "kretprobe:vfs_read", "kretprobe:kscope_*", "function:*alloc*", "function:__schedule", "tracepoint:sched:*",
	"tracepoint:*:*", "interval:us:50", "profile:hz:5000", "insn:777", "patch", "lost", "panic", "watch:jiffies", "watch:percpu:__preempt_count:4", "BEGIN", "END", "kprobe:", "x:y", "interval:ms:0",
}

var bodies = []string{
	"None", "agg.count('c').inc(c.comm)", "agg.hist('h').add(c.duration, c.where)", "c.stack(9)", "c.stop('x')", "agg.sum('s').add(c.arg(1))", "fail('no')",
	"kernel.run(time = 1)", "c.set('ax', 0)", "c.str(c.arg(1))", "c.nothing", "[i for i in range(1 << 30)]", "on('kprobe:vfs_read', print)", "c.regs.di",
	"agg.clear_all()", "kernel.stop()", "c.mem(0, 9)", "kernel.task(c.pid).comm", "tracer.off()", "fs.read('/etc/hostname')",
}

// hungry expressions want more memory or time than there is.
var hungry = []string{
	"[0] * (1 << 40)", "'x' * (1 << 40)", "list(range(1 << 40))", "'%s' % ([[[0] * 1000] * 1000] * 1000,)", "str([[['a'] * 1000] * 1000] * 1000)", "max(range(1 << 50))",
	"[].extend(range(1 << 40))", "json.encode([[0] * 1000] * 100000)", "sorted(range(1 << 40))", "print(*range(1 << 40))", "table([[0] * 1000] * 1000000)", "sprintf('%v', [[0] * 1000] * 1000000)",
	"','.join(['x' * 1000000] * 1000000)", "('a' * 1000000).replace('a', 'b' * 1000000)", "re('a').sub('b' * 1000000, 'a' * 1000000)", "fs.read('/dev/zero')", "plot.bars([1] * 1000)",
	"kernel.read(0xffff888000000000, 1 << 40)", "export.folded([])", "event.get('sched:sched_switch').hist(['next_pid'], size = 1 << 40)", "on('watch:jiffies', lambda c: c.stop())",
}

func (s *scripter) pick(list []string) string { return list[s.rng.IntN(len(list))] }

// value is an odd value, or something that the script has made.
func (s *scripter) value() string {
	if s.vars > 0 && s.rng.IntN(2) == 0 {
		return fmt.Sprintf("v%d", s.rng.IntN(s.vars))
	}
	return s.pick(odd)
}

func (s *scripter) statement(b *strings.Builder) {
	call := ""
	switch s.rng.IntN(7) {
	case 6:
		call = s.pick(hungry)
	case 0, 1:
		call = fmt.Sprintf("on(%q, lambda c: %s, limit = %d, on_error = %q)", s.pick(specs), s.pick(bodies), 1+s.rng.IntN(9), s.pick([]string{"stop", "count", "detach"}))
	case 2:
		call = s.pick([]string{"kernel.run(time = 300 * us)", "kernel.hot([0], calls = 50)", "kernel.spawn(lambda sys: sys.getpid())", "kernel.step(n = 99)", "kernel.fork()",
			"tracer.set('function')", "tracer.set('nop')", "event.enable('sched:*')", "tracer.records()[:3]", "awk.run(limit = 3, time = 100 * us)"})
	case 3:
		if s.vars > 0 {
			call = fmt.Sprintf("getattr(v%d, %q)(%s)", s.rng.IntN(s.vars), s.pick([]string{"close", "print", "items", "delta", "clear", "run", "kill", "stack"}), "")
			break
		}
		fallthrough
	default:
		r := s.rows[s.rng.IntN(len(s.rows))]
		typ, _, dotted := strings.Cut(r.Name, ".")
		if !strings.HasPrefix(r.Sig, "(") || dotted && typ[0] < 'a' || r.Name == "demo" || r.Name == "tour" || typ == "kernel" && strings.HasSuffix(r.Name, ".boot") {
			return
		}
		var args []string
		for range s.rng.IntN(3) {
			args = append(args, s.value())
		}
		call = r.Name + "(" + strings.Join(args, ", ") + ")"
	}
	fmt.Fprintf(b, "v%d = attempt(lambda: %s).value\n", s.vars, call)
	s.vars++
}

// script makes one of some statements.
func (s *scripter) script() string {
	var b strings.Builder
	s.vars = 0
	for range 12 {
		s.statement(&b)
	}
	return b.String()
}

// allowance bounds a random script.
type allowance struct{ steps, memory, insns uint64 }

// amply is for tests; scantly for go's fuzzer, which takes what needs 10 s for hung: of its instrumented code a script may get a hundredth of a
// loaded host.
var (
	amply   = allowance{300_000, 1 << 30, 30_000_000}
	scantly = allowance{20_000, 160 << 20, 3_000_000}
)

// runRandom runs the script of a seed; it returns what went wrong with us, not with the script.
func runRandom(t *testing.T, snaps *kernel.Snapshots, seed uint64, a allowance) {
	e := New(Config{Boot: bootLimited(snaps, a.insns), Defaults: kernel.Config{CPUs: 2}, Stdout: io.Discard})
	h := lang.New(lang.Config{Tables: e.Tables(), MaxSteps: a.steps, MaxMemory: a.memory, Stdout: io.Discard})
	e.Attach(h)
	s := &scripter{rng: rand.New(rand.NewPCG(seed, 7)), rows: h.Rows()}
	src := s.script()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("seed %d: %v\n%s", seed, p, src)
			panic(p)
		}
	}()
	session := &lang.Session{Host: h, In: io.NopCloser(strings.NewReader(src)), Out: io.Discard}
	session.Run()
}

// TestRandomScripts runs some of them.
func TestRandomScripts(t *testing.T) {
	t.Chdir(t.TempDir()) // some write files of the host
	var snaps kernel.Snapshots
	n := uint64(30)
	if testing.Short() {
		n = 10
	} else if x, err := strconv.ParseUint(os.Getenv("KSCOPE_SEEDS"), 10, 32); err == nil {
		n = x
	}
	for seed := range n {
		runRandom(t, &snaps, seed, amply)
	}
}

// FuzzScripts runs more: go test -fuzz FuzzScripts ./builtins.
func FuzzScripts(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed)
	}
	var snaps kernel.Snapshots
	f.Fuzz(func(t *testing.T, seed uint64) {
		t.Chdir(t.TempDir())
		runRandom(t, &snaps, seed, scantly)
	})
}
