package x86_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// vector is one row of testdata/*.txt; testdata/README.md says what it looks like.
type vector struct {
	asm     string
	mode    string
	code    []byte
	setup   []string
	want    string
	undef   uint64 // flags that the row leaves undefined
	in      *state
	irq     bool
	deliver bool
	nohost  bool
	nmi     bool
	msrs    [][2]uint64
	budget  int64
}

func parseVector(line, mode string) (*vector, error) {
	asm, rest, _ := strings.Cut(line, "|")
	code, rest, _ := strings.Cut(rest, "|")
	setup, want, _ := strings.Cut(rest, "=>")
	v := &vector{asm: strings.TrimSpace(asm), mode: mode, setup: strings.Fields(setup), want: strings.TrimSpace(want), in: newState()}
	var err error
	if v.code, err = hex.DecodeString(strings.ReplaceAll(code, " ", "")); err != nil {
		return nil, err
	}
	switch mode {
	case "kernel":
		v.in.cpl, v.in.flags = 0, 2
		v.in.regs[x86.RSP] = stack0
	case "user", "emulated":
	default:
		return nil, fmt.Errorf("no mode %q", mode)
	}
	for _, w := range v.setup {
		if err := v.set(w); err != nil {
			return nil, fmt.Errorf("%q: %w", w, err)
		}
	}
	return v, nil
}

// on returns a CPU set up for the row.
func (v *vector) on(p *mem.Phys) *rig {
	r := newRig(p, v.in.cpl, v.msrs...)
	r.irq, r.nmi, r.deliver, r.budget = v.irq, v.nmi, v.deliver, v.budget
	r.poke(sysVA, v.in.supers)
	return r
}

func (v *vector) String() string {
	return fmt.Sprintf("%-27s | %-26s | %s", v.asm, fmt.Sprintf("% x", v.code), strings.TrimSpace(strings.Join(v.setup, " ")+" => "+v.want))
}

// set applies one word of a setup.
func (v *vector) set(w string) error {
	if flags, ok := strings.CutPrefix(w, "?"); ok {
		var err error
		v.undef, err = parseFlags(flags)
		return err
	}
	switch w {
	case "irq":
		v.irq = true
		return nil
	case "deliver":
		v.deliver = true
		return nil
	case "nmi":
		v.nmi = true
		return nil
	case "nohost":
		v.nohost = true
		return nil
	}
	name, val, ok := strings.Cut(w, "=")
	if !ok {
		return fmt.Errorf("not understood")
	}
	if addr, isMem := strings.CutPrefix(name, "["); isMem {
		return v.setMem(strings.TrimSuffix(addr, "]"), val)
	}
	if name == "f" {
		f, err := parseFlags(val)
		v.in.flags |= f
		return err
	}
	n, err := parseValue(val)
	if err != nil {
		return err
	}
	if msr, ok := strings.CutPrefix(name, "msr."); ok {
		m, err := strconv.ParseUint(msr, 16, 32)
		v.msrs = append(v.msrs, [2]uint64{m, n})
		return err
	}
	switch name {
	case "n":
		v.budget = int64(n)
	case "fs":
		v.in.fs = n
	case "gs":
		v.in.gs = n
	case "kgs":
		v.in.kgs = n
	case "rip":
		v.in.rip = n
	default:
		for i := range 16 {
			for _, p := range regParts(i) {
				if p.name == name {
					v.in.regs[i] = v.in.regs[i]&^p.mask | n<<p.shift&p.mask
					return nil
				}
			}
		}
		return fmt.Errorf("no such register")
	}
	return nil
}

func (v *vector) setMem(addr, val string) error {
	a, err := parseValue(addr)
	if err != nil {
		return err
	}
	b, err := hex.DecodeString(val)
	if err != nil {
		return err
	}
	if a >= sysVA {
		if len(v.in.supers) == 0 {
			v.in.supers = make([]byte, sysSize)
			newPhys().ReadAt(sysFrames[0]<<12, v.in.supers)
		}
		copy(v.in.supers[a-sysVA:], b)
		return nil
	}
	if a < dataVA {
		a += dataVA
	}
	copy(v.in.data[a-dataVA:], b)
	return nil
}

// outcome runs the row and says what changed.
func (v *vector) outcome(r runner) string {
	o := r.run(v.in)
	in := v.in
	var w []string
	add := func(f string, a ...any) { w = append(w, fmt.Sprintf(f, a...)) }
	if o.stop != "" {
		add("%s", o.stop)
	}
	end := in.rip + uint64(len(v.code)) + 1
	if o.stop != "" {
		end = in.rip
	}
	if o.rip != end {
		rip := o.rip
		if o.stop == "" {
			rip-- // of the int3 that it ran into
		}
		add("rip=%s", valueName(rip))
	}
	if o.cpl != in.cpl {
		add("cpl=%d", o.cpl)
	}
	for i := range 16 {
		if s := regChange(i, in.regs[i], o.regs[i]); s != "" {
			add("%s", s)
		}
	}
	w = append(w, flagChange(in.flags|v.undef, o.flags|v.undef, v.undef)...)
	for _, x := range []struct {
		name string
		a, b uint64
	}{{"fs", in.fs, o.fs}, {"gs", in.gs, o.gs}, {"kgs", in.kgs, o.kgs}} {
		if x.a != x.b {
			add("%s=%s", x.name, valueName(x.b))
		}
	}
	w = append(w, memChange("", in.data, o.data)...)
	if rig, ok := r.(*rig); ok {
		before := newPhys()
		b := make([]byte, sysSize)
		before.ReadAt(sysFrames[0]<<12, b)
		copy(b, in.supers)
		now := rig.peek(sysFrames)
		// The prelude's leftovers: the frame of its iretq, and the accessed and busy bits in the GDT.
		copy(b[:0x100], now[:0x100])
		copy(b[0x2f00:0x2f28], now[0x2f00:0x2f28])
		if in.cpl == 0 {
			copy(now[0x2f00:0x2f28], b[0x2f00:0x2f28])
		}
		w = append(w, memChange("s+", b, now)...)
		w = append(w, rig.writes...)
		if rig.entries != 0 {
			add("entries=%d", rig.entries)
		}
	}
	return strings.Join(w, " ")
}

func memChange(area string, a, b []byte) (w []string) {
	if bytes.Equal(a, b) {
		return nil
	}
	for i := 0; i < len(a); i++ {
		if a[i] == b[i] {
			continue
		}
		n := 1
		for i+n < len(a) && !bytes.Equal(a[i+n:min(i+n+8, len(a))], b[i+n:min(i+n+8, len(a))]) {
			n++ // gaps of up to 7 unchanged bytes do not end a change
		}
		for a[i+n-1] == b[i+n-1] {
			n--
		}
		w = append(w, fmt.Sprintf("[%s%x]=%x", area, i, b[i:i+n]))
		i += n
	}
	return w
}

type regPart struct {
	name  string
	mask  uint64
	shift uint
}

var regNames = strings.Fields("rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15")

// regParts lists the names of register i, the narrowest part first.
func regParts(i int) []regPart {
	n := regNames[i]
	switch {
	case i >= 8:
		return []regPart{{n + "b", 0xff, 0}, {n + "w", 0xffff, 0}, {n, ^uint64(0), 0}, {n + "d", 0xffffffff, 0}}
	case i < 4:
		return []regPart{{n[1:2] + "l", 0xff, 0}, {n[1:2] + "h", 0xff00, 8}, {n[1:], 0xffff, 0}, {n, ^uint64(0), 0}, {"e" + n[1:], 0xffffffff, 0}}
	}
	return []regPart{{n[1:] + "l", 0xff, 0}, {n[1:], 0xffff, 0}, {n, ^uint64(0), 0}, {"e" + n[1:], 0xffffffff, 0}}
}

func regChange(i int, a, b uint64) string {
	if a == b {
		return ""
	}
	for _, p := range regParts(i) {
		if (a^b)&^p.mask == 0 {
			return fmt.Sprintf("%s=%s", p.name, valueName(b&p.mask>>p.shift))
		}
	}
	panic("unreachable")
}

var flagNames = []struct {
	name byte
	bit  uint64
}{{'C', x86.FlagCF}, {'P', x86.FlagPF}, {'A', x86.FlagAF}, {'Z', x86.FlagZF}, {'S', x86.FlagSF}, {'D', x86.FlagDF}, {'O', x86.FlagOF},
	{'T', x86.FlagTF}, {'I', x86.FlagIF}, {'N', x86.FlagNT}, {'R', x86.FlagRF}, {'X', x86.FlagAC}, {'Y', x86.FlagID}, {'L', x86.FlagIOPL}}

const shownFlags = 7 // the first of flagNames are shown as a whole when one of them changed, the rest one by one

func parseFlags(s string) (f uint64, err error) {
	for i := range len(s) {
		n := f
		for _, x := range flagNames {
			if x.name == s[i] {
				f |= x.bit
			}
		}
		if n == f && s != "-" {
			return 0, fmt.Errorf("no flag %q", s[i])
		}
	}
	return f, nil
}

func flagChange(a, b, undef uint64) (w []string) {
	all, changed := "", false
	for i, x := range flagNames {
		on, diff := b&x.bit != 0, (a^b)&x.bit != 0
		switch {
		case i >= shownFlags && diff:
			w = append(w, fmt.Sprintf("%c%c", "-+"[b&x.bit/x.bit&1], x.name))
		case i < shownFlags:
			changed = changed || diff
			if on && undef&x.bit == 0 {
				all += string(x.name)
			}
		}
	}
	if all == "" {
		all = "-"
	}
	if changed {
		w = slices.Insert(w, 0, "f="+all)
	}
	return w
}

func parseValue(s string) (uint64, error) {
	for _, a := range areas {
		if off, ok := strings.CutPrefix(s, a.name+"+"); ok {
			n, err := strconv.ParseUint(off, 16, 64)
			return a.base + n, err
		}
		if off, ok := strings.CutPrefix(s, a.name+"-"); ok {
			n, err := strconv.ParseUint(off, 16, 64)
			return a.base - n, err
		}
	}
	return strconv.ParseUint(s, 16, 64)
}
