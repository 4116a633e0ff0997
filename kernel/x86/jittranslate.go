//go:build linux && amd64 && !race

package x86

// translator turns the fast uops of a block into host code: the way without misses in one piece, the ways out apart.
type translator struct {
	hot, cold            hostText
	shared               shared
	sites                []site
	firstSite            int // the number of the first of them
	siteNow, sitesBefore int // the first of the uop at hand, and of the one before
	out                  [2]jump
	b                    *block
	number               int  // of the code
	behind               int  // the side whose block comes behind it; -1: none does
	k                    int  // number of the uop at hand
	bare                 bool // it has no template
	last                 bool // it is the block's last
	ended                bool
	count                uint8 // instructions of the block
	counted              bool  // they count
	inKernel             bool  // it is in the kernel's half
	toGate               bool  // it calls a gate
	fop                  int   // what CPU.fop is here; -1: not known

	grouped bool   // the uop at hand is in a group: see jitgroup.go
	low     uint64 // its least displacement
	at      int32  // of the uop at hand from rax

	done          uint64 // uops that are written already
	flags, before uint8  // which of the host's are the guest's behind the uop at hand, and before it
}

const (
	flagsNone = iota
	flagsAll
	flagsNoCarry
)

// site is where host code leaves for the slow function of uop k. Places are offsets in memory.
type site struct {
	pc   uint32 // behind the call of a shared piece that may leave in its stead; 0: it leaves by its number
	next uint32 // where host code goes on behind the uop; 0: nowhere
	code int32
	k    uint8
}

// missIf jumps to the uop's slow function on a host condition. Nothing of the uop has been done yet.
func (t *translator) missIf(cc uint8) {
	t.hot.put(0x0f, 0x80|cc)
	t.miss()
}

// miss writes the distance to a way out to the uop's slow function.
func (t *translator) miss() {
	t.hot.rel(t.cold.here())
	t.cold.put(0xb8)
	t.cold.u32(uint32(t.firstSite + len(t.sites)))
	t.cold.put(0xe9)
	t.cold.rel(t.shared.bare)
	t.site(0)
}

// slow executes the uop by its slow function, always. Nothing has been written for it but a condition.
func (t *translator) slow() { t.bare = true }

// call calls a shared piece.
func (t *translator) call(piece int) {
	t.hot.put(0xe8)
	t.hot.rel(piece)
}

// callSite calls one that may miss.
func (t *translator) callSite(piece int) {
	t.call(piece)
	t.site(t.hot.here())
}

func (t *translator) site(pc int) {
	t.sites = append(t.sites, site{pc: uint32(pc), code: int32(t.number), k: uint8(t.k)})
}

func (t *translator) block(b *block, number int, all *[numOps]template) {
	co := b.code
	t.hot.b, t.cold.b, t.sites, t.out = t.hot.b[:0], t.cold.b[:0], t.sites[:0], [2]jump{}
	t.b, t.number, t.fop, t.ended, t.done, t.flags = b, number, -1, false, 0, flagsNone
	t.siteNow, t.at = 0, 0
	t.count, t.counted, t.inKernel, t.toGate = co.count, !co.shadow && co.count != 0, int64(co.va) < 0, co.toGate
	t.enter()
	us := co.fast
	for t.k = 0; t.k < len(us); {
		u := &us[t.k]
		t.bare, t.last = false, t.k == len(us)-1
		t.before, t.flags = t.flags, flagsNone
		if n := t.row(us, all); n > 0 {
			t.k += n
			continue
		}
		op := plainOp(u)
		first := len(t.sites)
		t.sitesBefore, t.siteNow = t.siteNow, first
		if p := &all[op]; p.emit != nil {
			p.emit(t, u, p)
		} else {
			t.bare = true
		}
		if t.bare {
			t.fop = -1
			t.hot.put(0xe9)
			t.miss()
		}
		for i := range t.sites[first:] {
			t.sites[first+i].next = uint32(t.hot.here())
		}
		t.k++
	}
	if !t.ended {
		t.hot.put(0x0f, 0x0b)
	}
}

// row writes a row of uops at once, and returns how many; 0: there is none.
func (t *translator) row(us []uop, all *[numOps]template) int {
	u := &us[t.k]
	switch {
	case t.k < 64 && t.done>>t.k&1 != 0:
		return 1
	case plainOp(u) == o_push_r && t.k < 64 && t.pushes(us, all):
		return 1
	case plainOp(u) == o_pop_r:
		if n := t.pops(us[t.k:]); n > 0 {
			return n
		}
	}
	switch u.op {
	case o_push_run, o_pop_run, o_pop_run_ret, o_st_run, o_ld_run:
		if n := t.group(us, all); n > 0 {
			return n
		}
		return t.run(us[t.k:])
	}
	return t.group(us, all)
}

// enter is the head of a block: the budget is taken.
func (t *translator) enter() {
	if !t.counted {
		return
	}
	t.hot.group1(3, 5, hBP, int32(t.count))
	t.hot.put(0x0f, 0x80|ccS)
	t.hot.rel(t.cold.here())
	t.cold.put(0xb8)
	t.cold.u32(uint32(t.number))
	t.cold.put(0xe9)
	t.cold.rel(t.shared.budget)
}
