package ftrace

import (
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/kernel/guest"
)

// bootModules is boot with the test modules in the root directory.
func bootModules(tb testing.TB, cfg kernel.Config) *Tracer {
	tr := boot(tb, cfg)
	for _, name := range guest.Modules() {
		must(tb, tr.m.WriteFile("/"+name+".ko", guest.Module(name), false))
	}
	return tr
}

func read(tb testing.TB, tr *Tracer, file string) string {
	tb.Helper()
	text, err := tr.ReadFile(file)
	must(tb, err)
	return text
}

// A module's sites come as nops, are listed with its name, get what is registered, and go with it, filters included.
func TestModuleSites(t *testing.T) {
	tr := bootModules(t, kernel.Config{Seed: 1})
	m := tr.m
	before, total := read(t, tr, "available_filter_functions"), read(t, tr, "dyn_ftrace_total_info")
	must(t, m.LoadModule("/kscope_test.ko", ""))
	after := read(t, tr, "available_filter_functions")
	added, ok := strings.CutPrefix(after, before)
	want := "kscope_test_mix [kscope_test]\nkscope_test_peek [kscope_test]\nkscope_test_oops [kscope_test]\nkscope_test_add [kscope_test]\n" +
		"kscope_test_step [kscope_test]\nkscope_test_thread [kscope_test]\nkscope_test_exit [kscope_test]\n"
	if !ok || added != want { // kscope_test_quiet is notrace, kscope_test_init gone
		t.Errorf("added %q", added)
	}
	for _, r := range tr.sites.recs {
		if b := tr.bytesAt(t, r.IP); r.Module != "" && b != nop5 {
			t.Errorf("%s: % x", r.Name, b)
		}
	}
	must(t, tr.Set("function"))
	must(t, m.LoadModule("/kscope_test_user.ko", "")) // patched as it comes: its init is traced
	must(t, m.UnloadModule("kscope_test_user"))
	must(t, m.UnloadModule("kscope_test"))
	trace := read(t, tr, "trace")
	for _, fn := range []string{": kscope_test_add <-0x", ": kscope_test_add <-delete_module", "do_one_initcall", "free_module", "ftrace_release_mod"} {
		if fn[0] == ':' { // the module's names are gone with it
			continue
		}
		if !strings.Contains(trace, fn) {
			t.Errorf("no %s in the trace", fn)
		}
	}
	if got := read(t, tr, "available_filter_functions"); got != before {
		t.Errorf("records are left: %d bytes, %d", len(before), len(got))
	}
	if got := read(t, tr, "dyn_ftrace_total_info"); got != total {
		t.Errorf("%s, then %s", total, got)
	}
	must(t, tr.Set("nop"))
	if len(m.Oopses()) > 0 {
		t.Error(m.Oopses()[0].Text())
	}
}

// A filter for a module that is not there yet acts when it comes, from its init function on.
func TestModulePending(t *testing.T) {
	tr := bootModules(t, kernel.Config{Seed: 2})
	h, err := tr.fs.Open(nil, "set_ftrace_filter", oWronly)
	must(t, err)
	_, err = h.Write([]byte("*:mod:kscope_test_user\n"))
	must(t, err)
	must(t, h.Close())
	must(t, tr.Set("function"))
	must(t, tr.m.LoadModule("/kscope_test.ko", ""))
	if n := strings.Count(read(t, tr, "enabled_functions"), "\n"); n != 0 {
		t.Errorf("%d functions are enabled", n)
	}
	must(t, tr.m.LoadModule("/kscope_test_user.ko", ""))
	if got := read(t, tr, "enabled_functions"); !strings.HasPrefix(got, "kscope_test_user_exit [kscope_test_user] (1)") {
		t.Errorf("enabled: %s", got)
	}
	if got := read(t, tr, "trace"); strings.Count(got, " <-do_one_initcall\n") != 1 {
		t.Errorf("trace:\n%s", got)
	}
}

// Loading and unloading under tracers: no record or patch is left, and with zero cost the traced run is the untraced one.
func TestModulesUnderFire(t *testing.T) {
	run := func(tracer string, seed uint64) (hash, state uint64) {
		tr := bootModules(t, kernel.Config{Overhead: kernel.OverheadNone, Seed: seed})
		must(t, tr.Set(tracer))
		tr.m.SetSliceHook(func(c *kernel.VCPU) {
			for _, x := range []uint64{uint64(c.ID), c.Now(), c.CPU.RIP()} {
				hash = (hash ^ x) * 0x100000001b3
			}
		})
		recs := len(tr.sites.recs)
		for range 2 {
			must(t, tr.m.LoadModule("/kscope_test.ko", ""))
			tr.m.Run(kernel.Until{Time: tr.m.Now() + 6_000_000})
			must(t, tr.m.LoadModule("/kscope_test_user.ko", ""))
			must(t, tr.m.UnloadModule("kscope_test_user"))
			must(t, tr.m.UnloadModule("kscope_test"))
		}
		if len(tr.sites.recs) != recs || len(tr.m.Oopses()) > 0 {
			t.Errorf("%s, seed %d: %d records, then %d", tracer, seed, recs, len(tr.sites.recs))
		}
		return hash, tr.m.StateHash()
	}
	for seed := range uint64(5) {
		hash, state := run("nop", seed)
		for _, tracer := range []string{"function", "function_graph"} {
			if h, s := run(tracer, seed); h != hash || s != state {
				t.Errorf("seed %d: %x, %x; %s: %x, %x", seed, hash, state, tracer, h, s)
			}
		}
	}
}

// A tracepoint in a module is patched with its event: before the module comes, and while it is there.
func TestModuleTracepoint(t *testing.T) {
	tr := bootModules(t, kernel.Config{Seed: 3})
	events := func() int {
		tr.m.Run(kernel.Until{Time: tr.m.Now() + 20_000_000})
		return strings.Count(read(t, tr, "trace"), ": sched_waking: comm=kscope_test pid=")
	}
	must(t, tr.WriteFile("events/sched/sched_waking/enable", "1", false))
	must(t, tr.m.LoadModule("/kscope_test.ko", ""))
	on := events()
	must(t, tr.WriteFile("events/sched/sched_waking/enable", "0", false))
	off := events()
	must(t, tr.WriteFile("events/sched/sched_waking/enable", "1", false))
	again := events()
	if on < 4 || off != on || again < on+4 {
		t.Errorf("%d events, then %d, then %d", on, off, again)
	}
	must(t, tr.m.UnloadModule("kscope_test"))
	for _, tp := range tr.points.list {
		for _, s := range tp.sites {
			if s.code >= 0xffffffffc0000000 {
				t.Errorf("%s has a site at %#x", tp.name, s.code)
			}
		}
	}
	must(t, tr.WriteFile("events/sched/sched_waking/enable", "0", false))
	if len(tr.m.Oopses()) > 0 {
		t.Error(tr.m.Oopses()[0].Text())
	}
}
