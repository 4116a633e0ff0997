package kernel

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"kscope/kernel/guest"
)

// withModules is a booted machine with the test modules in its root directory.
func withModules(t testing.TB, seed uint64) *Machine { return withModulesConfig(t, Config{Seed: seed}) }

func withModulesConfig(t testing.TB, cfg Config) *Machine {
	t.Helper()
	m := boot(t, cfg)
	for _, name := range guest.Modules() {
		if err := m.WriteFile("/"+name+".ko", guest.Module(name), false); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// logSince is the kernel log from line n on.
func logSince(m *Machine, n int) string {
	var b strings.Builder
	for _, l := range m.Dmesg()[n:] {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

func TestModuleLife(t *testing.T) {
	m := withModules(t, 1)
	at := len(m.Dmesg())
	load := func(file, args string, want error) {
		t.Helper()
		if err := m.LoadModule("/"+file+".ko", args); !errors.Is(err, want) {
			t.Fatalf("loading %s: %v, want %v\n%s", file, err, want, logSince(m, at))
		}
	}
	load("kscope_test_user", "", ENOENT)
	load("kscope_test", "count=40 name=me strange=1", nil)
	load("kscope_test", "", EEXIST)
	load("kscope_test_user", "", nil)
	m.Run(Until{Time: m.Now() + 20_000_000})
	want := `kscope_test_user: loading out-of-tree module taints kernel.
kscope_test_user: Unknown symbol kscope_test_add (err -2)
kscope_test: unknown parameter 'strange' ignored
kscope_test: hello from me, count 40, peek -14
kscope_test_user: `
	if got := logSince(m, at); !strings.HasPrefix(got, want) {
		t.Errorf("log %q", got)
	}
	lines := ""
	for _, i := range m.Modules() {
		lines += i.Line() + "\n"
	}
	if want := "kscope_test_user 16384 0 - Live 0xffffffffc0005000 (O)\nkscope_test 16384 1 kscope_test_user, Live 0xffffffffc0000000 (O)\n"; lines != want {
		t.Errorf("modules:\n%s", lines)
	}
	if got := m.Symbols().Format(0xffffffffc0000000 + 4); !strings.HasSuffix(got, " [kscope_test]") {
		t.Errorf("symbol %s", got)
	}
	count, _ := m.Symbols().Lookup("kscope_test:count")
	if n, err := m.U32(count); err != nil || n < 140 || n == 140 {
		t.Errorf("count is %d, %v: the thread does not run", n, err)
	}
	for _, step := range []struct {
		name string
		want error
	}{{"kscope_test", EAGAIN}, {"kscope_test_user", nil}, {"kscope_test", nil}, {"kscope_test", ENOENT}} {
		if err := m.UnloadModule(step.name); err != step.want {
			t.Errorf("unloading %s: %v, want %v", step.name, err, step.want)
		}
	}
	if m.linkedIn() != " [last unloaded: kscope_test(O)]" || len(m.Modules()) > 0 || len(m.mods.list) > 0 {
		t.Errorf("linked in:%s", m.linkedIn())
	}
	if _, ok := m.Symbols().Lookup("kscope_test_add"); ok {
		t.Error("kscope_test_add is still a symbol")
	}
	if len(m.Oopses()) > 0 {
		t.Error(m.lastOops().Text())
	}
}

// What goes wrong in a module is Linux's report with the module's name, and the machine lives on.
func TestModuleOops(t *testing.T) {
	for kind, want := range map[int][]string{
		1: {"BUG: kernel NULL pointer dereference, address: 0000000000000008\n", "\nRIP: 0010:kscope_test_oops+0x", " [kscope_test]\nCode: ",
			"\n kscope_test_thread+0x", " [kscope_test]\n kthread+0x", "\nModules linked in: kscope_test(O)\n", "Tainted: G           O"},
		2: {"kernel BUG at modules/kscope_test.c:", "invalid opcode: 0000 [#1]", "RIP: 0010:kscope_test_oops"},
		3: {"WARNING: CPU: ", " at modules/kscope_test.c:", "Modules linked in: kscope_test(O)\n"},
		4: {"RIP: 0010:kscope_test_oops", "\n kscope_test_init+0x", "\n do_one_initcall+0x", "\n do_init_module+0x", "\n load_module+0x", "Modules linked in: kscope_test(O+)\n"},
	} {
		m := withModules(t, uint64(kind))
		at := len(m.Dmesg())
		err := m.LoadModule("/kscope_test.ko", fmt.Sprintf("oops=%d", kind))
		if wantErr := map[int]error{4: EFAULT}[kind]; !errors.Is(err, wantErr) { // its loader died: Linux kills insmod
			t.Errorf("kind %d: %v", kind, err)
		}
		m.Run(Until{Time: m.Now() + 20_000_000})
		log := logSince(m, at)
		for _, w := range want {
			if !strings.Contains(log, w) {
				t.Errorf("kind %d: no %q in\n%s", kind, w, log)
				break
			}
		}
		if err := m.WriteFile("/after", []byte("x"), false); err != nil {
			t.Errorf("kind %d: the machine is lost: %v", kind, err)
		}
	}
}

// usedFrames counts the pages that somebody holds.
func usedFrames(t *testing.T, m *Machine) (n int) {
	t.Helper()
	page := m.Types().Struct("page")
	at := uint64(page.Field("_refcount").Offset)
	mapVar, _ := m.Symbols().Lookup("mem_map")
	maxVar, _ := m.Symbols().Lookup("max_pfn")
	start, err := m.U64(mapVar)
	frames, err2 := m.U64(maxVar)
	if err != nil || err2 != nil || frames == 0 {
		t.Fatal(err, err2, frames)
	}
	for i := range frames {
		if c, _ := m.U32(start + i*uint64(page.Size) + at); c != 0 {
			n++
		}
	}
	for cpu := range m.NumCPU() { // stacks of dead tasks that are kept for new ones
		for i := range uint64(2) {
			if stack, err := m.U64(m.PerCPU("cached_stacks", cpu) + 8*i); err != nil {
				t.Fatal(err)
			} else if stack != 0 {
				n--
			}
		}
	}
	return n
}

// Seeds (200 with KSCOPE_STRESS) of loading and unloading, with the thread running on other CPUs: no frame, symbol or module stays behind, and
// the same seed is the same run.
func TestModuleLoop(t *testing.T) {
	const slack = 6 // a few slabs more, by which CPU frees what: less than one for each round
	base := withModules(t, 5)
	cycle := func(m *Machine) {
		t.Helper()
		for _, step := range []func() error{
			func() error { return m.LoadModule("/kscope_test.ko", "name=loop verbose=1") },
			func() error { return m.LoadModule("/kscope_test_user.ko", "") },
			func() error { m.Run(Until{Time: m.Now() + 3_000_000}); return nil },
			func() error { return m.UnloadModule("kscope_test_user") },
			func() error { return m.UnloadModule("kscope_test") },
			func() error { m.Run(Until{Time: m.Now() + 30_000_000}); return nil }, // RCU frees the dead tasks
		} {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 3 { // slabs and stacks reach their size
		cycle(base)
	}
	seeds := 40
	if os.Getenv("KSCOPE_STRESS") != "" {
		seeds = 200
	}
	hashes := map[uint64]bool{}
	for seed := range seeds {
		m := base.Fork(uint64(seed))
		before, syms := usedFrames(t, m), len(m.Symbols().All())
		cycle(m)
		if after := usedFrames(t, m); after > before+slack {
			t.Fatalf("seed %d: %d frames before, %d after", seed, before, after)
		}
		if got := len(m.Symbols().All()); got != syms || len(m.mods.list) > 0 || len(m.Oopses()) > 0 {
			t.Fatalf("seed %d: %d symbols before, %d after; %d modules", seed, syms, got, len(m.mods.list))
		}
		hash := m.StateHash()
		hashes[hash] = true
		if seed%20 == 0 {
			again := base.Fork(uint64(seed))
			cycle(again)
			if again.StateHash() != hash {
				t.Errorf("seed %d: two runs differ", seed)
			}
		}
	}
	before := usedFrames(t, base)
	for range seeds / 4 {
		cycle(base)
	}
	if after := usedFrames(t, base); after > before+slack {
		t.Errorf("%d rounds: %d frames before, %d after", seeds/4, before, after)
	}
	if len(hashes) < seeds/2 {
		t.Errorf("%d seeds gave %d runs", seeds, len(hashes))
	}
}

// A fork has the modules of its parent, and the two live on apart.
func TestModuleFork(t *testing.T) {
	m := withModules(t, 6)
	if err := m.LoadModule("/kscope_test.ko", "count=7"); err != nil {
		t.Fatal(err)
	}
	n := m.Copy()
	if err := m.UnloadModule("kscope_test"); err != nil {
		t.Fatal(err)
	}
	if len(m.Modules()) != 0 || len(n.Modules()) != 1 {
		t.Fatalf("%v, %v", m.Modules(), n.Modules())
	}
	if err := n.LoadModule("/kscope_test_user.ko", ""); err != nil {
		t.Fatal(err)
	}
	if got := n.Symbols().Name(n.mods.list[0].Addr) + n.linkedIn(); got != "__this_module [kscope_test_user] kscope_test_user(O) kscope_test(O)" {
		t.Error(got)
	}
	if _, ok := m.Symbols().Lookup("kscope_test_add"); ok || len(m.Oopses())+len(n.Oopses()) > 0 {
		t.Error("the parent has the child's symbols, or something oopsed")
	}
}
