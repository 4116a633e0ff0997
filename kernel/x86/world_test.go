package x86_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// A world is a small machine with a kernel and user programs of random code (worldgen_test.go), for TestWorlds: two CPUs, two address
// spaces, interrupts, gates, shadow text, page tables that the code changes and code that it changes. What it does must not depend on
// how its CPUs are driven.
//
//	c  0x10000000          2 pages  user code; the second differs between the address spaces
//	d  0x20000000          4 pages  data; so does the third
//	k  0xffffffff81000000  4 pages  kernel code: handlers and the dispatcher, then slots
//	   0xffffffff81004000  1 page   shadow text, with gates at its end
//	e  0xffffffff82000000  8 pages  kernel data: words and the table of slots, two stacks of three pages, one that is remapped
//	w  0xffffffff83000000  leaf page tables, as data
//	s  0xffff888000010000  GDT, TSS, IDT and stacks, as in rig_test.go
const (
	kernVA   = 0xffffffff81000000
	shadowVA = kernVA + 0x4000
	gateVA   = shadowVA + 0xf00

	straightVA = shadowVA + 0x40 // a piece up to a gate
	trampVA    = shadowVA + 0x400
	kdataVA    = 0xffffffff82000000
	ptVA       = 0xffffffff83000000

	kernSlots   = kernVA + 0x400 // of slotSize bytes each
	slotSize    = 0x180
	numKern     = 0x3c00 / slotSize
	numUser     = 0x2000 / slotSize
	slotTable   = kdataVA + 0x100 // of 64 addresses
	wordCount   = kdataVA + 0x10  // of the dispatcher's rounds
	wordScratch = kdataVA + 0x18
	wordSP      = kdataVA + 0x20 // what the code saves rsp to: 4 words
	wordLocks   = kdataVA + 0x40
	stackA      = kdataVA + 0x3800
	stackB      = kdataVA + 0x6800
)

var (
	kernFrames  = []uint64{0x80, 0x83, 0x81, 0x86, 0x88}
	kdataFrames = []uint64{0x90, 0x92, 0x91, 0x95, 0x97, 0x98, 0x9a, 0x9b}
	altCode     = uint64(0xa0) // what kernel code is remapped to
	altData     = uint64(0xa2)
	otherCode   = uint64(0xa4) // in the second address space
	otherData   = uint64(0xa6)
)

// wMode is how a world is driven.
type wMode struct {
	name   string
	warm   int  // see HostCoder
	chop   int  // the longest piece of a step, or 0
	hooks  bool // some instructions are hooked
	gater  bool
	text   bool // gates stand for pieces of the shadow text
	fork   bool // the world is a fork of itself, now and then
	reload bool // CPUs are restored from their state then
}

// wStep is one step of a world's schedule: something happens, and then a CPU executes so many counted instructions.
type wStep struct {
	cpu  int
	n    int64
	what int
	arg  uint64
}

type world struct {
	prog    *program
	mode    wMode
	p       *mem.Phys
	cpus    []*x86.CPU
	order   x86.Order
	ahead   [2]int64
	irq     [2]bool
	dead    [2]bool
	log     []string
	rnd     *rand.Rand // of the mode, not of the world
	now     int        // the CPU that runs
	end     uint64     // its Insns at the step's end
	stop    uint64     // and at the piece's
	entries uint64     // of functions: every fourth slot
	msr     uint64
	step    int // number of the step, from 1
}

// wEnv is a CPU's Env; gaterEnv has the gates settled by the CPU too.
type wEnv struct {
	w  *world
	id int
}

type gaterEnv struct{ wEnv }

type orderedEnv struct{ gaterEnv }

func (e wEnv) RDMSR(c *x86.CPU, n uint32) (uint64, bool) { return e.w.msr, n == 0x830 }
func (e wEnv) WRMSR(c *x86.CPU, n uint32, v uint64) bool {
	if n == 0x831 { // an interrupt, to itself or the other one
		e.w.setIRQ(int(v&1)%len(e.w.cpus), true)
		return true
	}
	e.w.msr = v
	return n == 0x830
}
func (e wEnv) TSC(c *x86.CPU) uint64 { return uint64(int64(c.Insns) + e.w.ahead[e.id]) }
func (e wEnv) CodeWrite(c *x86.CPU, pa uint64, n int) {
	for _, o := range e.w.cpus {
		if o != c {
			o.HoldWindow()
		}
	}
	if c != nil && e.w.prog.stopOnStore {
		e.w.ahead[e.id] += 10
		c.RequestStop()
	}
}
func (e wEnv) Gate(va uint64) bool {
	return va >= gateVA && va < shadowVA+0x1000 && va%16 == 0 || va == trampVA && e.w.text()
}
func (e wEnv) Shadow(va uint64) bool { return va >= shadowVA && va < gateVA }
func (e wEnv) EntryCounter(va uint64) *uint64 {
	if i := (va - kernSlots) / slotSize; i < numKern && va == kernSlots+i*slotSize && i%4 == 1 {
		return &e.w.entries
	}
	return nil
}
func (e wEnv) CPUID(c *x86.CPU, leaf, sub uint32) (a, b, cx, d uint32, ok bool) { return }
func (e wEnv) HostCode() int                                                    { return e.w.mode.warm }
func (e wEnv) Hooked(va uint64) bool                                            { return e.w.mode.hooks && va*0x9e3779b97f4a7c15>>62 == 0 }
func (e wEnv) Hook(c *x86.CPU, va uint64) {
	if c.RIP() != va {
		e.w.logf("hook at %#x, rip %#x", va, c.RIP())
	}
}
func (e wEnv) KeepDeadStack() bool               { return e.w.prog.keepStack }
func (e gaterEnv) GateText(uint64) int           { return 0 }
func (e gaterEnv) RunGate() int64                { return e.w.gate(e.w.cpus[e.id]) }
func (e gaterEnv) RunTrap() int64                { return e.w.exception(e.w.cpus[e.id]) }
func (e orderedEnv) Order() (*x86.Order, *int64) { return &e.w.order, &e.w.ahead[e.id] }
func (e orderedEnv) Locked(c *x86.CPU, va uint64) bool {
	now := e.TSC(c)
	if turn := e.w.order.Locked(va, e.id, now); turn != 0 {
		e.w.ahead[e.id] += int64(turn - now)
		return false
	}
	return true
}

type plainOrdered struct{ wEnv }

func (e plainOrdered) Order() (*x86.Order, *int64) { return orderedEnv{gaterEnv{e.wEnv}}.Order() }
func (e plainOrdered) Locked(c *x86.CPU, va uint64) bool {
	return orderedEnv{gaterEnv{e.wEnv}}.Locked(c, va)
}

func (w *world) env(id int) x86.Env {
	e := wEnv{w, id}
	switch {
	case w.mode.gater && w.prog.ordered:
		return orderedEnv{gaterEnv{e}}
	case w.mode.gater:
		return gaterEnv{e}
	case w.prog.ordered:
		return plainOrdered{e}
	}
	return e
}

func (w *world) logf(f string, args ...any) {
	if len(w.log) > 20000 {
		panic("BUG: a step without end: " + strings.Join(w.log[len(w.log)-6:], "; "))
	}
	w.log = append(w.log, fmt.Sprintf("cpu %d +%d: ", w.now, w.cpus[w.now].Insns)+fmt.Sprintf(f, args...))
}

func (w *world) setIRQ(id int, on bool) {
	w.irq[id] = on
	w.cpus[id].SetIRQ(on)
}

// left is what an answer of a Gater is: how far the piece under way goes on.
func (w *world) left(c *x86.CPU) int64 {
	if c.StopRequested() {
		return 0
	}
	if c.Insns >= w.stop && c.InShadow() {
		return x86.InShadow
	}
	return int64(w.stop) - int64(c.Insns)
}

// text says whether gates stand for pieces of text. They do not keep the dead stack.
func (w *world) text() bool { return w.mode.text && !w.prog.keepStack }

// gate runs the gate at RIP, or what stands for the text there.
func (w *world) gate(c *x86.CPU) int64 {
	tramp := &w.prog.tramp
	switch c.RIP() {
	case trampVA:
		ip, parent, ok := c.EnterTrampoline(tramp)
		if !ok {
			return w.left(c)
		}
		if c.RIP() != tramp.Gate || c.Reg(x86.RDI) != ip || c.Reg(x86.RSI) != parent {
			w.logf("trampoline: rip %#x, rdi %#x, rsi %#x, want %#x %#x %#x", c.RIP(), c.Reg(x86.RDI), c.Reg(x86.RSI), tramp.Gate, ip, parent)
		}
		if ret, own := w.effect(c); !own && !c.LeaveTrampoline(tramp) && !c.GateReturn(ret) {
			w.deliver(c)
		}
		return w.left(c)
	case straightVA:
		ok, fault := c.RunStraight(x86.NewStraight(straightVA, w.prog.way))
		if fault {
			w.deliver(c)
		}
		if !ok {
			return w.left(c)
		}
	}
	if ret, own := w.effect(c); !own && !c.GateReturn(ret) {
		w.deliver(c)
	}
	return w.left(c)
}

// effect is what the gate at RIP does: each does something else. own: it has set RIP itself.
func (w *world) effect(c *x86.CPU) (ret uint64, own bool) {
	n := (c.RIP() - gateVA) / 16
	arg := c.Reg(x86.RDI)
	w.logf("gate %d", n)
	ret = arg*3 + n
	switch n {
	case 1:
		c.PutU64(kdataVA+0x60, arg)
	case 2:
		w.setIRQ(w.now, true)
	case 3:
		c.RequestStop()
	case 4: // it patches a site as the host does
		slot := kernSlots + (arg%numKern)*slotSize
		text := [][]byte{{0x0f, 0x1f, 0x44, 0, 0}, {0xb8, 1, 2, 3, byte(arg)}, {0xcc, 0x1f, 0x44, 0, 0}}[arg>>8%3]
		c.Write(slot, text)
	case 5:
		c.SetFlags(c.Flags() ^ x86.FlagIF)
	case 6:
		c.PutU64(c.Reg(x86.RSP), kernSlots+(arg%numKern)*slotSize)
	case 7:
		w.ahead[w.now] += int64(arg & 0xff)
	case 8: // as a continuation: it goes elsewhere, and comes back to its caller from there
		c.SetRIP(kernSlots + (arg%numKern)*slotSize)
		return ret, true
	case 9:
		c.SetFlags(c.Flags() | x86.FlagTF)
	case 10:
		c.InvalidateCode(kernFrames[1]<<12+arg&0xff0, 16)
	}
	return ret, false
}

// exception owns the int3 at the slots' beginnings, which stand for a nop.
func (w *world) exception(c *x86.CPU) int64 {
	e := &c.Exc
	w.logf("%s at %#x from %#x", excName(e), c.RIP(), e.At)
	if at := e.At - kernSlots; e.Vec == x86.VecBP && e.Soft && at%slotSize == 0 && at < numKern*slotSize {
		if at/slotSize%8 == 3 {
			c.SetRIP(shadowVA + at/slotSize%4*0x40)
		} else {
			c.SetRIP(e.At + 5)
		}
		return w.left(c)
	}
	w.deliver(c)
	return w.left(c)
}

func (w *world) deliver(c *x86.CPU) {
	if !c.DeliverExc() {
		w.logf("triple fault")
		w.dead[w.now] = true
		c.RequestStop()
	}
}

// run drives the CPU of a step to its end.
func (w *world) run(s wStep) {
	w.now = s.cpu
	w.happen(s)
	c := w.cpus[s.cpu]
	w.end = c.Insns + uint64(s.n)
	for n := 0; (c.Insns < w.end || c.InShadow()) && !w.dead[s.cpu]; n++ {
		w.stop = w.end
		if k := uint64(w.mode.chop); k != 0 && c.Insns < w.end {
			w.stop = min(w.end, c.Insns+1+w.rnd.Uint64N(k))
		}
		e := c.Run(max(0, int64(w.stop)-int64(c.Insns)))
		switch e {
		case x86.ExitBudget, x86.ExitStop:
		case x86.ExitGate:
			if !w.mode.gater {
				w.gate(c)
			}
		case x86.ExitException:
			w.exception(c)
		case x86.ExitWindow:
			w.logf("interrupt at %#x", c.RIP())
			w.setIRQ(s.cpu, false)
			if !c.Interrupt(0x20) {
				w.logf("triple fault")
				w.dead[s.cpu] = true
			}
		default:
			w.logf("%v at %#x", e, c.RIP())
		}
		if n > 100_000 {
			panic("BUG: a step without end")
		}
	}
}

// What happens before a step.
const (
	wNothing = iota
	wIRQ
	wNMI
	wPatch // by the host, as the text patcher does
	wHere
	wRemap // of the host: all is flushed
	wGoto
	wStep0
	numWhat
)

func (w *world) happen(s wStep) {
	w.step++
	if w.mode.fork && w.step%8 == 3 {
		w.forked()
	}
	if w.mode.reload && w.step%8 == 3 {
		for i, o := range w.cpus {
			st := o.SaveState()
			o.LoadState(st)
			o.SetIRQ(w.irq[i])
		}
	}
	c := w.cpus[s.cpu]
	if w.dead[s.cpu] || c.InShadow() {
		return
	}
	switch s.what {
	case wIRQ:
		w.setIRQ(s.cpu, true)
	case wNMI:
		c.NMI()
	case wHere: // what another CPU is about to execute
		o := w.cpus[(s.cpu+1)%len(w.cpus)]
		if at := o.RIP() + s.arg>>16%24; at >= kernSlots && at < shadowVA-8 {
			c.Write(at, [][]byte{{0x90}, {0xcc}, {0x0f, 0x1f, 0x44, 0, 0}, {0xeb, 0}, {0x48, 0xff, 0xc0}, {byte(s.arg >> 24)}}[s.arg>>8%6])
		}
	case wPatch:
		o := w.cpus[(s.cpu+1)%len(w.cpus)]
		o.HoldWindow()
		c.Write(kernSlots+s.arg%numKern*slotSize, [][]byte{{0xcc}, {0x0f, 0x1f, 0x44, 0, 0}, {0xb8, 1, 2, 3, 4}}[s.arg>>8%3])
	case wRemap:
		t := w.prog.remaps[s.arg%uint64(len(w.prog.remaps))]
		w.p.PutU64(w.prog.leaf(t.va), t.pte)
		for _, o := range w.cpus {
			o.FlushTLB()
		}
	case wGoto:
		if c.CPL() == 0 {
			c.SetRIP(kernSlots + s.arg%numKern*slotSize)
		}
	}
}

func (w *world) forked() {
	p := w.p.Fork()
	for i, c := range w.cpus {
		n := c.Fork(p, w.env(i))
		n.SetIRQ(w.irq[i])
		w.cpus[i] = n
	}
	w.p = p
}

// newWorld makes the world of a program, driven in a mode.
func newWorld(prog *program, mode wMode) *world {
	w := &world{prog: prog, mode: mode, p: prog.p.Fork(), rnd: rand.New(rand.NewPCG(prog.seed, 77))}
	for i := range prog.cpus {
		w.cpus = append(w.cpus, x86.New(i, w.p, w.env(i)))
	}
	for i, c := range w.cpus {
		w.now = i
		c.SetCR3(0x1000)
		c.SetReg(x86.RSP, stack0)
		c.SetReg(x86.RDI, sysVA+0x7000)
		c.SetRIP(sysVA + 0x6000)
		for _, m := range append([][2]uint64{{}}, prog.msrs...) {
			if m[0] != 0 {
				c.SetReg(x86.RCX, m[0])
				c.SetReg(x86.RAX, m[1]&0xffffffff)
				c.SetReg(x86.RDX, m[1]>>32)
				c.SetRIP(sysVA + 0x6040)
			}
			if e := c.Run(100); e != x86.ExitHalt {
				panic(fmt.Sprintf("prelude: exit %v, rip %#x, exception %+v", e, c.RIP(), c.Exc))
			}
		}
		for r, v := range prog.regs {
			c.SetReg(r, v+uint64(i))
		}
		c.SetRIP(kernVA)
	}
	return w
}

// sum is a hash of everything of the world that must not depend on the mode; memory only when asked.
func (w *world) sum(memory bool) uint64 {
	h := uint64(14695981039346656037)
	add := func(x uint64) { h = (h ^ x) * 1099511628211 }
	for i, c := range w.cpus {
		for k := range 16 {
			add(c.Reg(k))
		}
		for _, x := range c.ArchWords() {
			add(x)
		}
		for _, x := range []uint64{c.Insns, uint64(c.Exc.Vec), uint64(c.Exc.Err), c.Exc.CR2, c.Exc.At, c.StaleInsns, c.Int3Hits, uint64(w.ahead[i])} {
			add(x)
		}
	}
	add(w.entries)
	add(uint64(len(w.log)))
	if memory {
		for _, f := range w.prog.frames {
			add(uint64(crc32.Checksum(w.p.Page(f)[:], castagnoli)))
		}
	}
	return h
}

// state tells it.
func (w *world) state() string {
	s := ""
	for i, c := range w.cpus {
		var r [16]uint64
		for k := range r {
			r[k] = c.Reg(k)
		}
		s += fmt.Sprintf("cpu %d: %d insns, regs %x, arch %x, exc %+v, stale %d, int3 %d, ahead %d\n", i, c.Insns, r, c.ArchWords(), c.Exc, c.StaleInsns,
			c.Int3Hits, w.ahead[i])
	}
	if n := len(w.log); n > 0 {
		s += fmt.Sprintf("%d logged, last: %s\n", n, w.log[n-1])
	}
	s += fmt.Sprintf("entries %d", w.entries)
	for _, f := range w.prog.frames {
		s += fmt.Sprintf(" %x:%08x", f, crc32.Checksum(w.p.Page(f)[:], castagnoli))
	}
	return s
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// buildWorld makes the memory of a program but for its random code.
func (g *program) buildWorld() {
	p := mem.NewPhys(1 << 20)
	next := uint64(2)
	g.p, g.leaves = p, map[uint64]uint64{}
	table := func(pos uint64) uint64 {
		if e := p.U64(pos); e != 0 {
			return e &^ 0xfff
		}
		p.PutU64(pos, next<<12|mem.P|mem.RW|mem.US)
		next++
		return (next - 1) << 12
	}
	mapPages := func(cr3, va uint64, frames []uint64, bits uint64) {
		for _, f := range frames {
			t := table(cr3 + va>>39&511*8)
			t = table(t + va>>30&511*8)
			t = table(t + va>>21&511*8)
			p.PutU64(t+va>>12&511*8, f<<12|mem.P|bits)
			if cr3 == 0x1000 {
				g.leaves[va>>21] = t
			}
			va += mem.PageSize
		}
	}
	const second = 0xff000
	mapPages(0x1000, codeVA, codeFrames, mem.RW|mem.US)
	mapPages(0x1000, dataVA, dataFrames, mem.RW|mem.US)
	mapPages(0x1000, roVA, []uint64{0x50}, mem.US|mem.NX)
	mapPages(second, codeVA, []uint64{codeFrames[0], otherCode}, mem.RW|mem.US)
	mapPages(second, dataVA, []uint64{dataFrames[0], dataFrames[1], otherData, dataFrames[3]}, mem.RW|mem.US)
	mapPages(0x1000, sysVA, sysFrames, mem.RW|mem.G)
	mapPages(0x1000, kernVA, kernFrames, mem.RW|mem.G)
	mapPages(0x1000, kdataVA, kdataFrames, mem.RW|mem.G)
	g.windows = []uint64{g.leaves[kernVA>>21], g.leaves[kdataVA>>21], g.leaves[dataVA>>21], g.leaves[codeVA>>21]}
	for i, t := range g.windows {
		mapPages(0x1000, ptVA+uint64(i)<<12, []uint64{t >> 12}, mem.RW|mem.G)
	}
	for i := uint64(256); i < 512; i++ {
		p.PutU64(second+i*8, p.U64(0x1000+i*8))
	}
	g.space = [2]uint64{0x1000, second}
	for f := range next {
		g.frames = append(g.frames, f)
	}
	g.frames = slices.Concat(g.frames, codeFrames, dataFrames, kernFrames, kdataFrames, []uint64{altCode, altData, otherCode, otherData, 0x50, 0xff})
	g.descriptors()
}

// descriptors fills the supervisor pages; see newPhys.
func (g *program) descriptors() {
	base := newPhys()
	for _, f := range sysFrames {
		g.p.WriteAt(f<<12, base.Page(f)[:])
	}
	sys := sysFrames[0] << 12
	for v := uint64(0); v < 256; v++ {
		h, ist, dpl := uint64(kernVA+0x40), uint64(1), uint64(0) // a fault: begin again
		switch v {
		case 1:
			h, ist = kernVA+0x80, 0
		case 2:
			h = kernVA + 0xc0
		case 3, 0x30:
			h, ist, dpl = kernVA+0x100, 0, 3
		case 0x20, 0x31:
			h, ist = kernVA+0x140, 0
		}
		typ := uint64(0x8e)
		if v == 0x30 {
			typ = 0x8f
		}
		g.p.PutU64(sys+0x1000+v*16, h&0xffff|0x10<<16|ist<<32|(typ|dpl<<5)<<40|h>>16&0xffff<<48)
		g.p.PutU64(sys+0x1000+v*16+8, h>>32)
	}
}

// leaf is the physical address of the entry of a page in the first address space.
func (g *program) leaf(va uint64) uint64 { return g.leaves[va>>21] + va>>12&511*8 }

// window is where the code finds that entry.
func (g *program) window(va uint64) uint64 {
	i := slices.Index(g.windows, g.leaves[va>>21])
	return ptVA + uint64(i)<<12 + va>>12&511*8
}

func put32(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint32(b, uint32(v)) }
