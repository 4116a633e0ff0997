package kernel

import (
	"strings"
)

// oopsReport fills in the record: registers from the guest's pt_regs (0: none, a stack dump) and the report's lines.
func (m *Machine) oopsReport(v *VCPU, o *OopsRecord, regs uint64) {
	r := m.reporter(v)
	var err error
	if regs != 0 {
		o.Regs, err = readPtRegs(v.CPU, regs)
	}
	if regs == 0 || err != nil || isDump(o.What) {
		r.dump(v.dwarfRegs())
	} else {
		o.Die = o.What != "WARNING"
		r.report(o.What, &o.Regs, o.Err, o.CR2)
	}
	o.Line = r.out
}

// StackText is what dump_stack() would print on v now.
func (v *VCPU) StackText() string {
	r := v.m.reporter(v)
	r.dump(v.dwarfRegs())
	return strings.Join(r.out, "\n") + "\n"
}

func (m *Machine) reporter(v *VCPU) *reporter {
	c := v.CPU
	r := &reporter{syms: m.syms, types: m.Types(), unw: m.Unwinder(), mem: c, cpu: v.ID, task: v.Current(), uts: m.uts(),
		text: m.isText, count: 1, taint: "Not tainted", linked: m.linkedIn(), module: m.ModuleAt}
	r.area = func(sp uint64) (stackArea, bool) { return m.stackArea(v, sp) }
	r.phys = func(pa uint64) (uint64, bool) {
		if !m.phys.Contains(pa + 7) {
			return 0, false
		}
		return m.phys.U64(pa), true
	}
	for _, o := range m.oopses {
		if o.Die {
			r.count++
		}
	}
	if at, ok := m.syms.Lookup("tainted_mask"); ok {
		mask, _ := m.U64(at)
		r.taint = taintText(mask)
	}
	r.cr = [5]uint64{0: c.CR0(), 2: c.CR2(), 3: c.CR3(), 4: c.CR4()}
	for i := range r.seg {
		r.seg[i] = c.Seg(i)
	}
	r.base = [3]uint64{c.FSBase(), c.GSBase(), c.KernelGSBase()}
	return r
}

// taintFlags are the letters of the bits of tainted_mask (taint_flags in kernel/panic.c); a clear bit prints a blank, the
// first a G.
const taintFlags = "PFSRMBUDAWCIOELKXTN"

func taintText(mask uint64) string {
	if mask == 0 {
		return "Not tainted"
	}
	b := []byte(strings.Repeat(" ", len(taintFlags)))
	b[0] = 'G'
	for i := range taintFlags {
		if mask>>i&1 != 0 {
			b[i] = taintFlags[i]
		}
	}
	return "Tainted: " + string(b)
}

// uts is "6.1.0-kscope #1": the release and the first word of the version, as the guest's uname has them.
func (m *Machine) uts() string {
	o, err := m.Var("init_uts_ns", 0)
	if err != nil {
		return "6.1.0-kscope #1"
	}
	text := func(field string) string {
		f, err := o.Path("name", field)
		if err != nil {
			return ""
		}
		s, _ := f.Text()
		return s
	}
	version, _, _ := strings.Cut(text("version"), " ")
	return text("release") + " " + version
}
