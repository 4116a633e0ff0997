package x86

import (
	"slices"

	"kscope/kernel/mem"
)

const (
	tlbMask = mem.TLBSize - 1
	jcSize  = 8192
	jcMask  = jcSize - 1

	// userKey marks user-mode entries of the jump cache; no canonical address has bit 62 alone flipped.
	userKey = 1 << 62
)

// jcEntry is one entry of the jump cache: where an indirect branch went last.
type jcEntry struct {
	tag uint64 // target, with userKey when at CPL 3
	b   *block
}

// itlbEntry caches the fetch translation of a page.
type itlbEntry struct {
	tag   uint64
	page  *codePage
	local bool // not a global page
}

const itlbSize = 256

// itlbEmpty is no page: an address has 52 bits of page number, and userKey is bit 62. (It was 1 once, which is one.)
const itlbEmpty = 1 << 63

// CPU is one virtual CPU.
type CPU struct {
	r        [numSlots]uint64 // first: uops address it by byte offset from the CPU
	fa, fb   uint64           // lazy flags: see flags.go
	sa, sb   uint64
	fop, sop uint8
	idx      uint8 // instruction of the block that the slow path is in
	smc      bool  // a store changed decoded code: leave the block after the instruction
	exit     Exit  // for stExit
	budget   int64 // counted instructions left; block b's are all taken while it runs
	tl       *mem.TLB
	order    *Order // of locked accesses, and what t is ahead of Insns; nil: Ordered is asked
	ahead    *int64
	jkey     uint64 // up to here a byte's displacement reaches from host code
	limit    uint64
	rip      uint64
	b        *block    // that the slow path is in
	why      int       // exec's answer when slowEnter gives none
	tmp      [2]uint64 // host code's

	cur *block // where the next Run goes on: before its precise uop ku
	ku  int

	phys    *mem.Phys
	env     Env
	ordered Ordered // env, or nil
	hooks   Hooks   // env, or nil
	gater   Gater   // env, or nil
	hookAt  hookAt
	cache   *cache
	archState
	win  window
	kept kept // see deadstack.go

	stop   bool
	irq    bool
	noTrap bool // the instruction just done takes no single-step trap
	rep1   bool // rep string operations do one iteration only: TF is set
	pendDB bool // a single-step trap is due before the next instruction

	host      hostState
	jcLocal   places // entries of jc whose target is in a page that is not global
	itlbLocal places // entries of itlb that are not global
	jc        [jcSize]jcEntry
	itlb      [itlbSize]itlbEntry
	tlb       [2]mem.TLB // of CPL 0 to 2, and of CPL 3

	ID    int
	Insns uint64    // counted instructions executed; exact whenever Go code runs
	Exc   Exception // of the last ExitException

	StaleInsns uint64 // instructions executed from a held fetch window whose bytes had changed
	Int3Hits   uint64 // int3 instructions executed
}

// archState is the architectural state but for registers, flags and RIP.
type archState struct {
	sys      uint64 // RFLAGS without the arithmetic flags
	cr0, cr2 uint64
	cr3, cr4 uint64
	cr8      uint64
	dr       [8]uint64
	efer     uint64
	star     uint64
	lstar    uint64
	cstar    uint64
	fmask    uint64
	kgsBase  uint64
	tscAux   uint64
	pat      uint64
	gdt, idt table
	ldtr, tr uint16
	tss      table
	seg      [6]uint16
	cpl      uint8
	shadow   bool // the instruction behind sti or mov ss: no interrupt before it is done
	nmiBlock bool // until iret
}

type table struct {
	base  uint64
	limit uint32
}

// Segment numbers of Seg.
const (
	ES = iota
	CS
	SS
	DS
	FS
	GS
)

// Control register bits that matter here.
const (
	cr0PE, cr0WP, cr0PG = 1 << 0, 1 << 16, 1 << 31
	cr0NE, cr0ET        = 1 << 5, 1 << 4
	cr4PSE, cr4PAE      = 1 << 4, 1 << 5
	cr4PGE, cr4FSGSBASE = 1 << 7, 1 << 16
	cr4SMEP, cr4SMAP    = 1 << 20, 1 << 21
	eferSCE, eferLME    = 1 << 0, 1 << 8
	eferLMA, eferNXE    = 1 << 10, 1 << 11
)

// New makes a CPU in long mode at CPL 0 with paging on, interrupts off and everything else zero.
func New(id int, phys *mem.Phys, env Env) *CPU {
	c := &CPU{ID: id, phys: phys, env: env}
	c.cr0 = cr0PE | cr0WP | cr0PG | cr0NE | cr0ET
	c.cr4 = cr4PSE | cr4PAE | cr4PGE
	c.efer = eferSCE | eferLME | eferLMA | eferNXE
	c.pat = 0x0007040600070406
	c.dr[6], c.dr[7] = 0xffff0ff0, 0x400
	c.seg = [6]uint16{CS: 0x10, SS: 0x18}
	c.setArith(0)
	c.attach()
	return c
}

// attach joins the CPU to the code cache of its memory and empties its own caches.
func (c *CPU) attach() {
	c.cache = cacheOf(c.phys)
	if k, ok := c.env.(StackKeeper); ok && k.KeepDeadStack() {
		c.cache.low.shadow = c.env.Shadow
	}
	warm := 0
	if h, ok := c.env.(HostCoder); ok {
		warm = h.HostCode()
	}
	c.cache.useHost(warm)
	c.ordered, c.cache.low.ordered = c.env.(Ordered)
	if c.ordered != nil {
		c.order, c.ahead = c.ordered.Order()
	}
	c.hooks, _ = c.env.(Hooks)
	c.gater, _ = c.env.(Gater)
	c.cache.cpus = append(c.cache.cpus, c)
	c.flushTLB()
	c.setCPL(c.cpl)
}

// setCPL switches the privilege level and what depends on it.
func (c *CPU) setCPL(cpl uint8) {
	if cpl != c.cpl {
		c.host.sp = 0 // calls and returns pair within one level
	}
	c.cpl = cpl
	c.tl, c.jkey = &c.tlb[0], 0
	if cpl == 3 {
		c.tl, c.jkey = &c.tlb[1], userKey
	}
	c.tl.Sync(c.phys)
}

func (c *CPU) user() bool { return c.cpl == 3 }

// mode returns the bits that Walk's rights depend on.
func (c *CPU) mode() mem.Mode {
	var m mem.Mode
	if c.cr0&cr0WP != 0 {
		m |= mem.WP
	}
	if c.efer&eferNXE != 0 {
		m |= mem.NXE
	}
	if c.cr4&cr4SMEP != 0 {
		m |= mem.SMEP
	}
	if c.cr4&cr4SMAP != 0 && c.sys&FlagAC == 0 {
		m |= mem.SMAP
	}
	return m
}

// flushTLB drops every translation, and what was found through them.
func (c *CPU) flushTLB() {
	c.tlb[0].Flush()
	c.tlb[1].Flush()
	for i := range c.itlb {
		c.itlb[i] = itlbEntry{tag: itlbEmpty}
	}
	c.flushJumps()
	c.tlb[0].Sync(c.phys)
	c.tlb[1].Sync(c.phys)
}

// flushAll is a write to cr0, cr4 or EFER: links between pages, which are by virtual address, go too.
func (c *CPU) flushAll() {
	c.flushTLB()
	c.cache.unlink()
}

// switchSpace is a write to cr3: global pages stay.
func (c *CPU) switchSpace(cr3 uint64) {
	c.cr3 = cr3
	if c.cr4&cr4PGE == 0 {
		c.flushAll()
		return
	}
	if c.cache.localKernel {
		c.cache.unlink()
	}
	c.tlb[0].FlushLocal()
	c.tlb[1].FlushLocal()
	for i := range c.itlbLocal.over(itlbSize) {
		if e := &c.itlb[i]; e.local {
			e.tag, e.local = itlbEmpty, false // the pointer stays: storing one would cost a write barrier
		}
	}
	if c.jcLocal.n > placesMax {
		c.flushJumps()
	}
	for i := range c.jcLocal.over(0) {
		c.jc[i].tag = jcEmpty
	}
	c.jcLocal.n = 0
	c.itlbLocal.n = 0
}

// jcEmpty is no address: bits 62 and 61 differ from bit 63.
const jcEmpty = 1<<61 | 1

// places are entries of a table that are to be dropped at the next write to cr3; a process rarely has more between two.
type places struct {
	n  int // more than placesMax: there were more than at holds
	at [placesMax]uint16
}

const placesMax = 64

func (p *places) add(i uint64) {
	if p.n < placesMax {
		p.at[p.n] = uint16(i)
	}
	p.n = min(p.n+1, placesMax+1)
}

// has reports whether place i is among them, as far as they are known.
func (p *places) has(i uint64) bool { return slices.Contains(p.at[:min(p.n, placesMax)], uint16(i)) }

// over yields the places, or all of a table of size entries when they are too many to be known.
func (p *places) over(size int) func(yield func(i uint16) bool) {
	return func(yield func(i uint16) bool) {
		if p.n > placesMax {
			for i := range size {
				if !yield(uint16(i)) {
					return
				}
			}
			return
		}
		for _, i := range p.at[:p.n] {
			if !yield(i) {
				return
			}
		}
	}
}

func (c *CPU) flushJumps() {
	c.jcLocal.n = 0
	for i := range c.jc {
		c.jc[i].tag = jcEmpty
	}
}

// flushPage drops the translations of one page.
func (c *CPU) flushPage(va uint64) {
	c.tlb[0].FlushPage(va)
	c.tlb[1].FlushPage(va)
	hadCode := false
	for _, key := range [...]uint64{0, userKey} {
		e := &c.itlb[itlbIndex(va)]
		if e.tag == va>>12^key {
			*e = itlbEntry{tag: itlbEmpty}
			hadCode = true
		}
	}
	if hadCode || c.cache.mapped(va>>12) {
		c.flushJumps()
		c.cache.unlink()
	}
}

// FlushTLB drops every translation, as after the host changed page tables.
func (c *CPU) FlushTLB() {
	c.flushTLB()
	c.cache.unlink()
	c.cur = nil
}

// Reg and SetReg access the general registers.
func (c *CPU) Reg(r int) uint64       { return c.r[r&15] }
func (c *CPU) SetReg(r int, v uint64) { c.r[r&15] = v }

// RIP is the address of the next instruction.
func (c *CPU) RIP() uint64 { return c.rip }

// SetRIP transfers control, so that the fetch window is dropped.
func (c *CPU) SetRIP(v uint64) { c.transfer(v) }

// CPL and the registers below read as the guest would see them.
func (c *CPU) CPL() int             { return int(c.cpl) }
func (c *CPU) CR0() uint64          { return c.cr0 }
func (c *CPU) CR2() uint64          { return c.cr2 }
func (c *CPU) CR3() uint64          { return c.cr3 }
func (c *CPU) CR4() uint64          { return c.cr4 }
func (c *CPU) EFER() uint64         { return c.efer }
func (c *CPU) DR(i int) uint64      { return c.dr[i&7] }
func (c *CPU) Seg(s int) uint16     { return c.seg[s] }
func (c *CPU) FSBase() uint64       { return c.r[slotFS/8] }
func (c *CPU) GSBase() uint64       { return c.r[slotGS/8] }
func (c *CPU) KernelGSBase() uint64 { return c.kgsBase }

func (c *CPU) SetCR2(v uint64)          { c.cr2 = v }
func (c *CPU) SetFSBase(v uint64)       { c.r[slotFS/8] = v }
func (c *CPU) SetGSBase(v uint64)       { c.r[slotGS/8] = v }
func (c *CPU) SetKernelGSBase(v uint64) { c.kgsBase = v }
func (c *CPU) SetDR(i int, v uint64)    { c.dr[i&7] = v }

// SetCR3 switches the address space and flushes the TLB.
func (c *CPU) SetCR3(v uint64) {
	c.switchSpace(v)
	c.cur = nil
}
