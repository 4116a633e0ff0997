package x86

import (
	"math"
	"sync/atomic"

	"kscope/kernel/mem"
)

// cache holds the decoded blocks of one machine's memory.
//
// Sharing: a fork starts with its parent's codes (snapshot), which are immutable, and makes blocks of its own from them, so
// that nothing is decoded twice while the text is the same.
type cache struct {
	phys   *mem.Phys
	cpus   []*CPU
	pages  map[uint64]*codePage // by frame
	vpns   map[uint64]struct{}  // virtual pages that blocks have bytes in
	free   []block              // blocks are carved from slabs
	found  [foundSize]*block    // what lookup answered last, by a hash of the address
	low    lowering             // the decoder's buffers
	frozen atomic.Pointer[snapshot]
	hosts  *hostMemory // for host code, once a block is warm
	warm   int         // entries of a block before it is translated; 0: never

	localKernel bool // code of the kernel's half may have run from a page that is not global, as no kernel's is
}

// blockSlab is the number of blocks made at once: more than 32 KiB, so that the allocator aligns them to cache lines.
const blockSlab = 300

// foundSize is the number of answers of lookup that are remembered; the working set of a kernel at work is some 5,000 blocks.
const foundSize = 1 << 13

func foundIndex(va uint64) uint64 { return (va ^ va>>13) % foundSize }

// codePage holds the blocks with bytes in one frame, by virtual start address. A block whose last instruction
// crosses into the next page is in both pages.
type codePage struct {
	pfn    uint64
	blocks map[uint64]*block
	shared map[uint64]*code // not made into blocks yet; never written: see own
	own    bool             // shared is this machine's copy
}

// snapshot is what forks of a machine share: codes by frame and address.
type snapshot struct {
	pages map[uint64]map[uint64]*code
	vpns  map[uint64]struct{}
}

// cacheOf returns the code cache of a memory, which all CPUs on it share.
func cacheOf(p *mem.Phys) *cache {
	if k, ok := p.CodeCache.(*cache); ok {
		return k
	}
	k := &cache{phys: p, pages: map[uint64]*codePage{}, vpns: map[uint64]struct{}{}}
	p.CodeCache = k
	return k
}

// fork returns the cache for a fork p of k's memory.
func (k *cache) fork(p *mem.Phys) *cache {
	if n, ok := p.CodeCache.(*cache); ok {
		return n
	}
	s := k.freeze()
	n := &cache{phys: p, pages: make(map[uint64]*codePage, len(s.pages)), vpns: make(map[uint64]struct{}, len(s.vpns))}
	for v := range s.vpns {
		n.vpns[v] = struct{}{}
	}
	for pfn, codes := range s.pages {
		n.pages[pfn] = &codePage{pfn: pfn, blocks: map[uint64]*block{}, shared: codes}
		p.MarkCode(pfn)
	}
	p.CodeCache = n
	return n
}

// freeze makes the snapshot that forks share, once until the cache changes. Several goroutines may fork a stopped machine.
func (k *cache) freeze() *snapshot {
	if s := k.frozen.Load(); s != nil {
		return s
	}
	s := &snapshot{pages: map[uint64]map[uint64]*code{}, vpns: map[uint64]struct{}{}}
	for pfn, pg := range k.pages {
		m := make(map[uint64]*code, len(pg.blocks)+len(pg.shared))
		for va, co := range pg.shared {
			m[va] = co
		}
		for va, b := range pg.blocks {
			m[va] = b.code
		}
		if len(m) > 0 {
			s.pages[pfn] = m
		}
	}
	for v := range k.vpns {
		s.vpns[v] = struct{}{}
	}
	k.frozen.Store(s)
	return s
}

func (k *cache) mapped(vpn uint64) bool {
	_, ok := k.vpns[vpn]
	return ok
}

// page returns the code page of a frame, marking the frame so that stores to it are reported.
func (k *cache) page(pfn uint64) *codePage {
	pg := k.pages[pfn]
	if pg == nil {
		pg = &codePage{pfn: pfn, blocks: map[uint64]*block{}}
		k.pages[pfn] = pg
	}
	if !k.phys.Code(pfn) {
		k.phys.MarkCode(pfn)
		for _, c := range k.cpus {
			for i := range c.tlb {
				c.tlb[i].Sync(k.phys)
				c.tlb[i].DropW(k.phys, pfn)
			}
		}
	}
	return pg
}

// add makes a block of co and files it.
func (k *cache) add(co *code, env Env) *block {
	if len(k.free) == 0 {
		k.free = make([]block, blockSlab)
	}
	b := &k.free[0]
	k.free = k.free[1:]
	b.init(co)
	b.initHost(k)
	if len(co.fast) > 0 && co.fast[0].op == o_entry {
		b.entry = env.EntryCounter(co.va)
		if b.entry == nil {
			b.entry = new(uint64)
		}
	}
	k.page(co.pfn).blocks[co.va] = b
	if co.pfn2 != co.pfn {
		k.page(co.pfn2).blocks[co.va] = b
	}
	k.vpns[co.va>>12] = struct{}{}
	k.vpns[(co.va+uint64(co.size)-1)>>12] = struct{}{}
	if k.frozen.Load() != nil {
		k.frozen.Store(nil)
	}
	return b
}

func (b *block) init(co *code) {
	*b = block{t: unlinkedT, f: unlinkedF, host: noHost, u0: &co.fast[0], p0: &co.precise[0], tva: co.tva, fva: co.fva, start: co.va, code: co, pfn: co.pfn,
		crosses: co.pfn2 != co.pfn}
	if !co.shadow {
		b.n, b.cost = int64(co.count), int64(co.count)
	}
}

// InvalidateCode drops decoded code that n bytes at pa are part of: the host wrote there.
func (c *CPU) InvalidateCode(pa uint64, n int) { c.cache.invalidate(pa, uint64(n)) }

// invalidate kills the blocks with bytes in [pa, pa+n).
func (k *cache) invalidate(pa, n uint64) {
	for n > 0 {
		pfn, off := pa/mem.PageSize, pa%mem.PageSize
		m := min(n, mem.PageSize-off)
		if pg := k.pages[pfn]; pg != nil {
			k.invalidatePage(pg, off, off+m)
		}
		pa, n = pa+m, n-m
	}
}

// hit reports whether the code has bytes in [lo, hi) of frame pfn.
func (co *code) hit(pfn, lo, hi uint64) bool {
	s := co.va % mem.PageSize
	e := s + uint64(co.size)
	if co.pfn2 == co.pfn {
		return s < hi && e > lo
	}
	if pfn == co.pfn2 && lo < e-mem.PageSize {
		return true
	}
	return pfn == co.pfn && hi > s
}

func (k *cache) invalidatePage(pg *codePage, lo, hi uint64) {
	for _, b := range pg.blocks {
		if b.code.hit(pg.pfn, lo, hi) {
			k.drop(b)
		}
	}
	for va, co := range pg.shared {
		if co.hit(pg.pfn, lo, hi) {
			k.pages[co.pfn].forget(va)
			k.pages[co.pfn2].forget(va)
		}
	}
	if k.frozen.Load() != nil {
		k.frozen.Store(nil)
	}
	if len(pg.blocks) == 0 && len(pg.shared) == 0 {
		k.phys.Bump(pg.pfn) // plain data again until something runs there
	}
}

// forget drops a shared code; the map belongs to all forks, so the first time it is copied.
func (pg *codePage) forget(va uint64) {
	if !pg.own {
		m := make(map[uint64]*code, len(pg.shared))
		for v, co := range pg.shared {
			m[v] = co
		}
		pg.shared, pg.own = m, true
	}
	delete(pg.shared, va)
}

// drop kills b and forgets it.
func (k *cache) drop(b *block) {
	k.kill(b)
	delete(k.pages[b.code.pfn].blocks, b.start)
	delete(k.pages[b.code.pfn2].blocks, b.start)
}

func (k *cache) kill(b *block) {
	k.cut(b)
	b.dead, b.n, b.host = true, math.MaxInt64, noHost
}

// unlink cuts all links between blocks: a mapping that has code changed.
func (k *cache) unlink() {
	k.cutAll()
	for _, pg := range k.pages {
		for _, b := range pg.blocks {
			b.t, b.f = unlinkedT, unlinkedF
		}
	}
}

func itlbIndex(va uint64) uint64 { return va >> 12 % itlbSize }

// codePage translates va for a fetch.
func (c *CPU) codePage(va uint64) (*codePage, bool) {
	tag := va>>12 ^ c.jkey
	e := &c.itlb[itlbIndex(va)]
	if e.tag == tag && c.phys.Code(e.page.pfn) {
		return e.page, true
	}
	pfn, flags, ok := c.walkFetch(va)
	if !ok {
		return nil, false
	}
	*e = itlbEntry{tag, c.cache.page(pfn), flags&mem.G == 0}
	if e.local {
		c.itlbLocal.add(itlbIndex(va))
	}
	return e.page, true
}

// fetchPFN returns the frame for a fetch at va.
func (c *CPU) fetchPFN(va uint64) (uint64, bool) {
	pfn, _, ok := c.walkFetch(va)
	return pfn, ok
}

// walkFetch walks the tables for a fetch at va.
func (c *CPU) walkFetch(va uint64) (pfn, flags uint64, ok bool) {
	pa, flags, f := mem.Walk(c.phys, c.cr3, va, mem.Exec, c.user(), c.mode())
	if f != nil {
		c.memFault(f)
		return 0, 0, false
	}
	c.tl.Sync(c.phys)
	if !c.phys.Contains(pa) {
		c.raiseGP(0) // a machine check on hardware
		return 0, 0, false
	}
	return pa / mem.PageSize, flags, true
}

// lookup returns the block at va, decoding it when needed. nil: c.Exc says why nothing can be fetched there.
func (c *CPU) lookup(va uint64) *block {
	pg, ok := c.codePage(va)
	if !ok {
		return nil
	}
	f := &c.cache.found[foundIndex(va)]
	if b := *f; b != nil && b.start == va && b.pfn == pg.pfn && !b.dead && !b.crosses {
		return b
	}
	if b := pg.blocks[va]; b != nil && b.pfn == pg.pfn {
		if b.crosses {
			p2, ok := c.fetchPFN(va + mem.PageSize)
			switch {
			case !ok:
				return nil
			case p2 != b.code.pfn2:
				c.cache.drop(b)
				return c.cache.add(c.decode(va, pg.pfn), c.env)
			}
		}
		*f = b
		return b
	}
	if co := pg.shared[va]; co != nil && co.pfn == pg.pfn {
		if co.pfn2 == co.pfn {
			return c.cache.add(co, c.env)
		}
		if p2, ok := c.fetchPFN(va + mem.PageSize); ok && p2 == co.pfn2 {
			return c.cache.add(co, c.env)
		}
	}
	co := c.decode(va, pg.pfn)
	if co == nil {
		return nil
	}
	return c.cache.add(co, c.env)
}

// find is lookup for a branch to target from block b; the jump cache learns it.
func (c *CPU) find(b *block, target uint64) *block {
	nb := c.lookup(target)
	if nb == nil {
		c.rip, c.cur = target, nil
		return nil
	}
	i := (target ^ target>>12) & jcMask
	if old := &c.jc[i]; old.tag != jcEmpty && old.tag != target^c.jkey && c.cache.warm != 0 {
		c.jc[i^1] = *old // where host code looks too
		if c.jcLocal.has(i) {
			c.jcLocal.add(i ^ 1)
		}
	}
	c.jc[i] = jcEntry{target ^ c.jkey, nb}
	if c.itlb[itlbIndex(target)].local {
		c.jcLocal.add(i)
		if target>>63 == 1 {
			c.cache.localKernel = true
		}
	}
	return nb
}

// slowEnter is for a block whose n is above the budget: a missing link, a dead block, the budget's end, or host code. It returns
// the block to execute, whose cost is to be taken, or nil with c.why.
func (c *CPU) slowEnter(from, nb *block) *block {
	switch {
	case nb == unlinkedT:
		nb = c.link(from, nb, from.tva)
	case nb == unlinkedF:
		nb = c.link(from, nb, from.fva)
	case nb.dead:
		nb = c.link(from, nb, nb.start)
	}
	switch {
	case nb == nil:
		c.why = xFault
	case nb.cost > c.budget:
		c.cur, c.ku, c.rip = nb, 0, nb.start
		c.why = xBudget
	case c.cache.warm != 0 && c.warm(nb):
		c.cur, c.ku, c.rip = nb, 0, nb.start
		c.why = xHost
	default:
		return nb
	}
	return nil
}

// link finds the block at target and makes it from's successor in place of nb.
func (c *CPU) link(from, nb *block, target uint64) *block {
	var b *block
	if e := &c.jc[(target^target>>12)&jcMask]; e.tag == target^c.jkey && !e.b.dead {
		b = e.b
	} else if b = c.find(from, target); b == nil {
		return nil
	}
	// Links are by virtual address: they are kept where the mapping cannot change behind them, which is within a page and
	// in the kernel's half, whose changes unlink everything.
	if from.start>>12 == target>>12 && !b.crosses || from.start>>63 == 1 && target>>63 == 1 {
		if from.t == nb {
			from.t = b
		}
		if from.f == nb {
			from.f = b
		}
	}
	return b
}
