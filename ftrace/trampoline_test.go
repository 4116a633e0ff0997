package ftrace

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kscope/kernel"
)

// TestTemplates: ftrace_caller is what prologue and epilogue read, that of ftrace_regs_caller is more.
func TestTemplates(t *testing.T) {
	tr := boot(t, kernel.Config{})
	if p := tr.sites.tmpl[0].way; p == nil || p.Frame != 160 || p.Back != 5 {
		t.Errorf("ftrace_caller: %+v", p)
	}
	if p := tr.sites.tmpl[1].way; p != nil {
		t.Errorf("ftrace_regs_caller: %+v", p)
	}
}

// TestOneStep: a machine whose trampolines run in one step runs instruction for instruction, and to the same memory, records and texts, as one that executes all their bytes: with one tracer on a site, several (the shared trampolines, without
// and with all registers), stacks, and what is behind --features.
func TestOneStep(t *testing.T) {
	run := func(writes []string, seed uint64, execute bool) (ends int, hash, state uint64, text string) {
		tr := boot(t, kernel.Config{Seed: seed, Features: "args,retaddr,retval"})
		tr.sites.execute = execute
		regs := &Ops{Name: "regs", Gate: "kprobe_ftrace_handler", Regs: true, Filter: NewHash(), Call: func(c *kernel.VCPU, ip, parent, regs uint64) {
			for off := uint64(0); off < tr.lay.regsSize; off += 8 { // what a handler would see
				hash = (hash ^ hot{tr.m}.u64(regs+off)) * 0x100000001b3
			}
		}}
		tr.m.RegisterGate("kprobe_ftrace_handler", tr.sites.GateOwn)
		for _, w := range writes {
			file, arg, _ := strings.Cut(w, " ")
			switch file {
			case "regs":
				rec := tr.sites.recs[slices.IndexFunc(tr.sites.recs, func(r Record) bool { return r.Name == arg })]
				regs.Filter.Add(rec.IP)
				if !regs.Registered() {
					must(t, tr.m.Do("regs", func(*kernel.VCPU) error { return tr.sites.Register(regs) }))
				}
			case "instance":
				x, err := tr.MakeInstance("i")
				must(t, err)
				must(t, x.Set(arg))
			default:
				must(t, tr.WriteFile(file, arg+"\n", false))
			}
		}
		tr.m.SetSliceHook(func(c *kernel.VCPU) {
			ends++
			for _, x := range []uint64{uint64(c.ID), c.Now(), c.CPU.RIP()} {
				hash = (hash ^ x) * 0x100000001b3
			}
		})
		must(t, tr.m.Hot(0b1111, 100))
		for range 10 {
			work(t, tr)
		}
		text = tr.Text(-1)
		for _, x := range tr.instances {
			text += x.Text(-1)
		}
		for i := range tr.cpu {
			stat, err := tr.ReadFile(fmt.Sprintf("trace_stat/function%d", i))
			must(t, err)
			text += string(stat)
		}
		return ends, hash, tr.m.StateHash(), text
	}
	for seed, writes := range [][]string{
		{"current_tracer function"},
		{"current_tracer function_graph"},
		{"current_tracer function", "options/func_stack_trace 1"},
		{"options/func_stack_trace 1", "current_tracer function", "options/func_stack_trace 0"},
		{"current_tracer function_graph", "options/funcgraph-args 1", "options/funcgraph-retaddr 1", "options/funcgraph-retval 1"},
		{"function_profile_enabled 1"},
		{"current_tracer function", "set_ftrace_filter kscope_hot:stacktrace:9", "instance function"},
		{"current_tracer function_graph", "instance function"},
		{"current_tracer function", "regs kscope_hot", "regs vfs_read"},
		{"regs kscope_hot", "regs vfs_open"},
	} {
		n, hash, state, text := run(writes, uint64(seed), true)
		n2, hash2, state2, text2 := run(writes, uint64(seed), false)
		if n != n2 || hash != hash2 || state != state2 || text != text2 {
			t.Errorf("%q: %d slices, hash %x, state %x; executed %d, %x, %x; texts equal: %v", writes, n2, hash2, state2, n, hash, state, text == text2)
		}
	}
}

// TestOneStepIsTaken: the bytes of a trampoline stay those of the template, and are not what runs.
func TestOneStepIsTaken(t *testing.T) {
	for _, execute := range []bool{false, true} {
		tr := boot(t, kernel.Config{})
		tr.sites.execute = execute
		must(t, tr.Filter("kscope_hot"))
		must(t, tr.Set("function"))
		code := make([]byte, 4)
		must(t, tr.m.Read(tr.ops.tramp, code))
		if string(code) != string(tr.sites.tmpl[0].code[:4]) {
			t.Errorf("the trampoline begins % x", code)
		}
		tr.m.ShadowWrite(tr.ops.tramp, []byte{0x0f, 0x0b}) // ud2
		must(t, tr.m.Hot(0b1, 1000))
		tr.m.Run(kernel.Until{Time: tr.m.Now() + 1e6})
		if traced := strings.Contains(tr.Text(-1), "kscope_hot <-"); traced == execute {
			t.Errorf("executed: %v, traced: %v", execute, traced)
		}
	}
}

// TestTracedChain: with events that move t over the ends of slices a machine whose slices follow each other within a Run is as one that
// stops at each, which a slice hook demands.
func TestTracedChain(t *testing.T) {
	run := func(write string, seed uint64, single bool) (trail string) {
		tr := boot(t, kernel.Config{Seed: seed, CPUs: 2})
		file, arg, _ := strings.Cut(write, " ")
		must(t, tr.WriteFile(file, arg+"\n", false))
		if single {
			tr.m.SetSliceHook(func(*kernel.VCPU) {})
		}
		must(t, tr.m.Hot(0b10, 0))
		for range 20 {
			tr.m.Run(kernel.Until{Time: tr.m.Now() + 20_000})
			trail += fmt.Sprintf("%d %d %x\n", tr.m.Now(), tr.m.Insns(), tr.m.StateHash())
		}
		return trail + tr.Text(-1)
	}
	for seed, write := range []string{"current_tracer function", "current_tracer function_graph", "events/enable 1"} {
		if one, all := run(write, uint64(seed), true), run(write, uint64(seed), false); one != all {
			t.Errorf("%s: single slices:\n%.2000s\nothers:\n%.2000s", write, one, all)
		}
	}
}
