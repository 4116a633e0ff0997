package x86_test

import (
	"encoding/binary"
	"fmt"
	"slices"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// The address space of the tests, the same for the emulated CPU and for the host process (host_test.go):
//
//	c  0x10000000           2 pages rwx  code, filled with int3
//	d  0x20000000           4 pages rwx  data; neighbouring pages lie in scattered frames; rsp starts at d+3000
//	r  0x30000000           1 page  r--
//	s  0xffff888000010000   8 pages      supervisor only, emulated only: see below
//
// Supervisor pages: s+0 the GDT, s+200 the TSS, s+1000 the IDT (vector n -> c+1000+10*n, vector 2 on IST1, vectors 3 and
// 4 callable from user mode, vector 6 not present), s+2000..3000 the stack of CPL 0, s+3000..4000 IST1.
const (
	codeVA = 0x10000000
	dataVA = 0x20000000
	roVA   = 0x30000000
	sysVA  = 0xffff888000010000

	codeSize = 0x2000
	dataSize = 0x4000
	sysSize  = 0x8000

	tssAt, idtAt, stack0, ist1 = sysVA + 0x200, sysVA + 0x1000, sysVA + 0x3000, sysVA + 0x4000
)

// state is what an instruction starts from and what it leaves.
type state struct {
	regs     [16]uint64
	rip      uint64
	flags    uint64
	fs, gs   uint64
	data     []byte // of the d area
	code     []byte // at c
	stop     string // after a run: "", or what ended it
	supers   []byte // of the s area; nil on the host
	cpl      int
	kgs, cr2 uint64
}

func newState() *state {
	s := &state{rip: codeVA, flags: 0x202, data: make([]byte, dataSize), cpl: 3}
	for i := range s.regs {
		s.regs[i] = 0x0101010101010101 * uint64(0x10+i)
	}
	s.regs[x86.RSP] = dataVA + 0x3000
	return s
}

// runner executes the code of a state and returns the state after it.
type runner interface{ run(s *state) *state }

// rig is one emulated CPU in that address space.
type rig struct {
	p       *mem.Phys
	c       *x86.CPU
	irq     bool                        // an interrupt is pending: vector 20
	nmi     bool                        // an NMI comes first
	deliver bool                        // exceptions and interrupts are delivered, and the next instruction is not executed
	budget  int64                       // 0 means plenty
	chop    int64                       // run in slices of so many instructions
	step    bool                        // single-step by TF
	driver  func(budget int64) x86.Exit // runs the CPU instead of drive
	writes  []string
	entries uint64          // of the function at c+1d00
	seen    map[string]bool // uops that were decoded
	hook    func(va uint64) // called before each instruction

	interpret bool // without host code
}

var (
	codeFrames = []uint64{0x20, 0x33}
	dataFrames = []uint64{0x40, 0x45, 0x42, 0x47}
	sysFrames  = []uint64{0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67}
)

func (r *rig) RDMSR(c *x86.CPU, msr uint32) (uint64, bool) { return 0x1122334455667788, msr == 0x802 }
func (r *rig) WRMSR(c *x86.CPU, msr uint32, v uint64) bool {
	r.writes = append(r.writes, fmt.Sprintf("wrmsr(%x,%x)", msr, v))
	return msr == 0x830
}
func (r *rig) TSC(c *x86.CPU) uint64                  { return 0x123456789a }
func (r *rig) CodeWrite(c *x86.CPU, pa uint64, n int) {}
func (r *rig) Gate(va uint64) bool                    { return va == codeVA+0x1f00 }
func (r *rig) Shadow(va uint64) bool                  { return va >= codeVA+0x1e00 && va < codeVA+0x1f00 }
func (r *rig) EntryCounter(va uint64) *uint64 {
	if va == codeVA+0x1d00 {
		return &r.entries
	}
	return nil
}
func (r *rig) HostCode() int {
	if r.interpret {
		return 0
	}
	return 1
}
func (r *rig) Hooked(va uint64) bool                                            { return r.hook != nil && va < dataVA }
func (r *rig) Hook(c *x86.CPU, va uint64)                                       { r.hook(va) }
func (r *rig) CPUID(c *x86.CPU, leaf, sub uint32) (a, b, cx, d uint32, ok bool) { return }

// newPhys builds the address space; forks of it serve any number of rigs.
func newPhys() *mem.Phys {
	p := mem.NewPhys(1 << 20)
	next := uint64(2)
	table := func(pos uint64) uint64 {
		if e := p.U64(pos); e != 0 {
			return e &^ 0xfff
		}
		p.PutU64(pos, next<<12|mem.P|mem.RW|mem.US)
		next++
		return (next - 1) << 12
	}
	mapPages := func(va uint64, frames []uint64, bits uint64) {
		for _, f := range frames {
			t := table(0x1000 + va>>39&511*8)
			t = table(t + va>>30&511*8)
			t = table(t + va>>21&511*8)
			p.PutU64(t+va>>12&511*8, f<<12|mem.P|bits)
			va += mem.PageSize
		}
	}
	mapPages(codeVA, codeFrames, mem.RW|mem.US)
	mapPages(dataVA, dataFrames, mem.RW|mem.US)
	mapPages(roVA, []uint64{0x50}, mem.US|mem.NX)
	mapPages(sysVA, sysFrames, mem.RW)
	for _, f := range codeFrames {
		for i := range mem.PageSize {
			p.PutU8(f<<12+uint64(i), 0xcc)
		}
	}
	sys := sysFrames[0] << 12
	for i, d := range []uint64{0, 0x00cf9b000000ffff, 0x00af9b000000ffff, 0x00cf93000000ffff, 0x00cffb000000ffff,
		0x00cff3000000ffff, 0x00affb000000ffff, 0, 0x67 | tssAt&0xffffff<<16 | 0x89<<40 | tssAt>>24&0xff<<56, tssAt >> 32} {
		p.PutU64(sys+uint64(i)*8, d)
	}
	p.PutU64(sys+0x200+4, stack0)
	p.PutU64(sys+0x200+36, ist1)
	p.PutU16(sys+0x200+102, 0x68) // no I/O bitmap
	for v := uint64(0); v < 256; v++ {
		h := codeVA + 0x1000 + v*16%0xd00
		d := h&0xffff | 0x10<<16 | 0x8e<<40 | h>>16&0xffff<<48
		switch v {
		case 2:
			d |= 1 << 32
		case 3, 4:
			d |= 3 << 45
		case 6:
			d &^= 1 << 47
		}
		p.PutU64(sys+0x1000+v*16, d)
		p.PutU64(sys+0x1000+v*16+8, h>>32)
	}
	p.PutU16(sys+0x7000, 0x4f) // what the prelude loads
	p.PutU64(sys+0x7002, sysVA)
	p.PutU16(sys+0x7010, 0xfff)
	p.PutU64(sys+0x7012, idtAt)
	p.WriteAt(sys+0x6000, []byte{
		0x0f, 0x01, 0x17, // lgdt [rdi]
		0x0f, 0x01, 0x5f, 0x10, // lidt [rdi+16]
		0xb8, 0x18, 0, 0, 0, // mov eax, 0x18
		0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xd0, // mov ds, eax; mov es, eax; mov ss, eax
		0xb8, 0x40, 0, 0, 0, // mov eax, 0x40
		0x0f, 0x00, 0xd8, // ltr ax
		0xf4,                                        // hlt
		0xb8, 0x2b, 0, 0, 0, 0x8e, 0xd8, 0x8e, 0xc0, // mov eax, 0x2b; mov ds, eax; mov es, eax
		0x48, 0xcf, // iretq
	})
	p.WriteAt(sys+0x6040, []byte{0x0f, 0x30, 0xf4}) // wrmsr; hlt
	return p
}

// newRig returns a CPU at CPL 0 or 3, with the tables above and MSRs loaded by the instructions that load them.
func newRig(p *mem.Phys, cpl int, msrs ...[2]uint64) *rig {
	return (&rig{}).init(p, cpl, msrs...)
}

func (r *rig) init(p *mem.Phys, cpl int, msrs ...[2]uint64) *rig {
	r.p = p.Fork()
	r.c = x86.New(0, r.p, r)
	r.c.SetCR3(0x1000)
	r.c.SetReg(x86.RSP, stack0)
	r.c.SetReg(x86.RDI, sysVA+0x7000)
	r.c.SetRIP(sysVA + 0x6000)
	if e := r.c.Run(100); e != x86.ExitHalt {
		panic(fmt.Sprintf("prelude: exit %v, rip %#x, exception %+v", e, r.c.RIP(), r.c.Exc))
	}
	for _, m := range msrs {
		r.c.SetReg(x86.RCX, m[0])
		r.c.SetReg(x86.RAX, m[1]&0xffffffff)
		r.c.SetReg(x86.RDX, m[1]>>32)
		r.c.SetRIP(sysVA + 0x6040)
		if e := r.c.Run(100); e != x86.ExitHalt {
			panic(fmt.Sprintf("wrmsr %#x: exit %v", m, e))
		}
	}
	if cpl == 0 {
		return r
	}
	r.c.SetRIP(sysVA + 0x601b)
	frame := uint64(stack0 - 0x100)
	for i, v := range []uint64{codeVA, 0x33, 0x202, dataVA + 0x3000, 0x2b} {
		if err := r.c.PutU64(frame+uint64(8*i), v); err != nil {
			panic(err)
		}
	}
	r.c.SetReg(x86.RSP, frame)
	if e := r.c.Run(100); e != x86.ExitException || r.c.Exc.Vec != x86.VecBP || r.c.CPL() != 3 {
		panic(fmt.Sprintf("prelude: exit %v, rip %#x, cpl %d, exception %+v", e, r.c.RIP(), r.c.CPL(), r.c.Exc))
	}
	return r
}

// poke writes to the code, data or supervisor area as a host would.
func (r *rig) poke(va uint64, b []byte) {
	frames, base := dataFrames, uint64(dataVA)
	switch {
	case va >= sysVA:
		frames, base = sysFrames, sysVA
	case va < dataVA:
		frames, base = codeFrames, codeVA
	}
	for len(b) > 0 {
		off := va - base
		pa := frames[off/mem.PageSize]<<12 + off%mem.PageSize
		n := min(len(b), int(mem.PageSize-off%mem.PageSize))
		r.p.WriteAt(pa, b[:n])
		r.c.InvalidateCode(pa, n)
		va, b = va+uint64(n), b[n:]
	}
}

func (r *rig) peek(frames []uint64) []byte {
	b := make([]byte, 0, len(frames)*mem.PageSize)
	for _, f := range frames {
		b = append(b, r.p.Page(f)[:]...)
	}
	return b
}

// codeAt is where the code of s goes: to rip, or to c when rip is elsewhere.
func codeAt(s *state) uint64 {
	if s.rip < codeVA || s.rip >= codeVA+codeSize {
		return codeVA
	}
	return s.rip
}

// load puts s into the CPU and its memory. An int3 ends the code.
func (r *rig) load(s *state) {
	r.poke(codeAt(s), append(slices.Clip(s.code), 0xcc))
	r.poke(dataVA, s.data)
	for i, v := range s.regs {
		r.c.SetReg(i, v)
	}
	r.c.SetRIP(s.rip)
	r.c.SetFlags(s.flags)
	r.c.SetFSBase(s.fs)
	r.c.SetGSBase(s.gs)
	r.c.SetKernelGSBase(s.kgs)
	r.c.SetCR2(s.cr2)
	r.c.SetIRQ(r.irq)
}

func (r *rig) run(s *state) *state {
	r.load(s)
	budget := r.budget
	if budget == 0 {
		budget = 100000
	}
	if r.nmi {
		r.c.NMI()
	}
	if r.driver == nil {
		r.driver = r.drive
	}
	e := r.driver(budget)
	stop := e.String()
	if e == x86.ExitException {
		stop = excName(&r.c.Exc)
		if stop == "#BP" && (r.c.RIP()-1-s.rip >= uint64(len(s.code))) {
			stop = ""
		}
		if r.deliver && !r.c.DeliverExc() {
			stop += " shutdown"
		}
	}
	if e == x86.ExitWindow && r.deliver {
		r.c.Interrupt(0x20)
	}
	if r.seen != nil {
		r.c.DecodedOps(func(op string) { r.seen[op] = true })
	}
	r.poke(codeAt(s), slices.Repeat([]byte{0xcc}, len(s.code)))
	return r.save(s, stop)
}

// drive runs the CPU until something other than the slices' or steps' end stops it.
func (r *rig) drive(budget int64) x86.Exit {
	switch {
	case r.step:
		for range budget {
			r.c.SetFlags(r.c.Flags() | x86.FlagTF)
			e := r.c.Run(budget)
			r.c.SetFlags(r.c.Flags() &^ x86.FlagTF)
			if e != x86.ExitException || r.c.Exc.Vec != x86.VecDB {
				return e
			}
		}
	case r.chop != 0:
		for n := int64(0); n < budget; n += r.chop {
			if e := r.c.Run(r.chop); e != x86.ExitBudget {
				return e
			}
		}
	default:
		return r.c.Run(budget)
	}
	return x86.ExitBudget
}

func (r *rig) save(s *state, stop string) *state {
	o := *s
	for i := range o.regs {
		o.regs[i] = r.c.Reg(i)
	}
	o.rip, o.flags, o.stop = r.c.RIP(), r.c.Flags(), stop
	o.fs, o.gs, o.kgs, o.cr2, o.cpl = r.c.FSBase(), r.c.GSBase(), r.c.KernelGSBase(), r.c.CR2(), r.c.CPL()
	o.data = r.peek(dataFrames)
	return &o
}

var excNames = map[uint8]string{x86.VecDE: "#DE", x86.VecDB: "#DB", x86.VecNMI: "NMI", x86.VecBP: "#BP", x86.VecOF: "#OF", x86.VecUD: "#UD",
	x86.VecNM: "#NM", x86.VecDF: "#DF", x86.VecTS: "#TS", x86.VecNP: "#NP", x86.VecSS: "#SS", x86.VecGP: "#GP", x86.VecPF: "#PF", x86.VecAC: "#AC"}

func excName(e *x86.Exception) string {
	name, ok := excNames[e.Vec]
	if !ok || e.Soft && e.Vec != x86.VecBP {
		name = fmt.Sprintf("int(%x)", e.Vec)
	}
	switch {
	case e.Vec == x86.VecPF && e.HasErr:
		name += fmt.Sprintf("(%x,%s)", e.Err, valueName(e.CR2))
	case e.HasErr:
		name += fmt.Sprintf("(%x)", e.Err)
	}
	return name
}

// areas name the addresses of the tests in vectors.
var areas = []struct {
	name       string
	base, size uint64
}{{"c", codeVA, codeSize}, {"d", dataVA, dataSize + 0x100}, {"r", roVA, 0x1000}, {"s", sysVA, sysSize}}

func valueName(v uint64) string {
	for _, a := range areas {
		if v >= a.base-8 && v < a.base+a.size {
			return fmt.Sprintf("%s%+x", a.name, int64(v-a.base))
		}
	}
	return fmt.Sprintf("%x", v)
}

func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
