//go:build linux && amd64 && !race

package x86

import (
	"encoding/binary"
	"math"
	"runtime"
	"syscall"
	"unsafe"
)

// Host code.
//
// On amd64 hosts the fast uops of a block that runs often are translated to the host's code, uop by uop, so that whatever the
// interpreter knows (lazy flags, slow functions, exact budgets, links) holds between any two uops, and each side can take over
// from the other there. A uop without a template, and one that misses, leaves to Go code (jitrun.go); the slow function runs, and
// host code goes on behind it. Blocks are joined by jumps that are patched (jitlink.go), so each machine has host code of its own.
//
// Generated code holds no pointers but those to counters and runs on a stack of its own; the Go code that it leaves to, hostAsk, runs
// on Go's, called by hostCall as far as Go can see. The budget bounds it, so that a stop of the world waits no longer than for the
// interpreter. Signals find no Go function there, which the runtime takes as it takes C code: no preemption, no traceback.

// hostCall runs host code at an address; c.host says how it ended.
//
//go:noescape
func hostCall(c *CPU, host uintptr)

func hostPCs() (enter, exit uintptr)

// noHost is where a block begins that has no host code.
var noHost, hostExitPC = hostPCs()

// How host code ends.
const (
	whyFind   = iota // the block at guest address at is next
	whyLink          // jump code of the block behind it is not joined to any
	whyBudget        // the block of code is next, and the budget is too small for it
	whyBare          // the uop's slow function is asked for, by the number code of the site
	whySite          // and by the host address at of the site
	whyGate          // the gate of code is next
)

// hostState is a CPU's part in host code.
type hostState struct {
	why, code uint32
	at        uintptr
	goSP      uintptr // Go's stack while host code runs
	sp        uintptr // the host's stack; 0: empty
	over      int64   // of the budget, that host code has not got
	b         *block  // what runHost goes on with; nil: it returns answer
	u         *uop
	answer    int
	returns   [returnsSize]uintptr
}

const (
	// hostBudget is the most that host code gets at once, so that its stack, where only calls that count push, is bounded.
	hostBudget  = 2048
	returnsSize = 2 * hostBudget
	returnsFree = hostBudget + 16
)

const (
	sysMemfdCreate = 319

	hotSize  = 1 << 20   // bytes for the code of blocks
	coldSize = 512 << 10 // and for their ways out
	maxSize  = 8 << 20   // of both: memory that is full is replaced by more
)

// hostMemory holds the host code of one machine: memory that is mapped twice, to write to and to execute.
type hostMemory struct {
	w, x      []byte
	size      [2]int // for blocks, and behind it for their ways out
	used      [2]int
	t         translator
	templates *[numOps]template
	codes     []hostCode // by number
	sites     []site
	find      uintptr  // shared.find
	lines     []uint32 // the first site in each 128 bytes of memory, less one
}

// newHostMemory returns nil where the host forbids it.
func newHostMemory(hot, cold int) *hostMemory {
	size := hot + cold
	name := [...]byte{'k', 's', 'c', 'o', 'p', 'e', 0}
	n, _, errno := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(&name)), 1, 0) // 1: close on exec
	if errno != 0 {
		return nil
	}
	fd := int(n)
	defer syscall.Close(fd)
	if syscall.Ftruncate(fd, int64(size)) != nil {
		return nil
	}
	w, err := syscall.Mmap(fd, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	x, err := syscall.Mmap(fd, 0, size, syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_SHARED)
	if err != nil {
		syscall.Munmap(w)
		return nil
	}
	m := &hostMemory{w: w, x: x, size: [2]int{hot, cold}, templates: parsedTemplates(), lines: make([]uint32, size>>lineShift)}
	m.t.shared = m.t.makeShared()
	m.used[0] = copy(w, m.t.hot.b)
	m.find = m.pc(m.t.shared.find)
	runtime.AddCleanup(m, func(maps [2][]byte) {
		syscall.Munmap(maps[0])
		syscall.Munmap(maps[1])
	}, [2][]byte{w, x})
	return m
}

// pc is the address of an offset of the memory.
func (m *hostMemory) pc(offset int) uintptr { return uintptr(unsafe.Pointer(&m.x[offset])) }

// translate gives block b host code, with no jump on a side whose block comes behind it; falls is the number of the jump that is
// left out before b. false: there is no room.
func (m *hostMemory) translate(b *block, behind int, falls int32) bool {
	hot, cold := m.used[0], m.size[0]+m.used[1]
	t := &m.t
	t.hot.at, t.cold.at, t.behind, t.firstSite = hot, cold, behind, len(m.sites)
	t.block(b, len(m.codes), m.templates)
	if hot+len(t.hot.b) > m.size[0] || cold+len(t.cold.b) > len(m.w) {
		return false
	}
	copy(m.w[hot:], t.hot.b)
	copy(m.w[cold:], t.cold.b)
	m.used[0] += len(t.hot.b)
	m.used[1] += len(t.cold.b)
	for _, s := range t.sites {
		m.sites = append(m.sites, s)
		if l := &m.lines[s.pc>>lineShift]; *l == 0 && s.pc != 0 {
			*l = uint32(len(m.sites))
		}
	}
	m.codes = append(m.codes, hostCode{b: b, out: t.out, falls: falls})
	b.hosted, b.host = int32(len(m.codes)), m.pc(hot)
	return true
}

const lineShift = 7

// siteAt returns the site whose call returns to host address pc.
func (m *hostMemory) siteAt(pc uintptr) *site {
	off := uint32(pc - m.pc(0))
	for i := m.lines[off>>lineShift] - 1; ; i++ {
		if s := &m.sites[i]; s.pc == off {
			return s
		}
	}
}

// warm counts an entry to a block without host code, and reports whether it has it now.
func (c *CPU) warm(b *block) bool {
	if b.host != noHost {
		return true
	}
	k := c.cache
	if b.heat++; int(b.heat) < k.warm {
		return false
	}
	if k.hosts == nil {
		if k.hosts = newHostMemory(hotSize, coldSize); k.hosts == nil {
			k.useHost(0)
			return false
		}
	}
	if !k.translate(b, 0) {
		k.renew()
	}
	return b.host != noHost
}

// ahead is how far translation runs ahead of execution.
const ahead = 12

// translate gives block b host code, and the blocks that it is left to and that are half as warm, so that code lies in the order in
// which it runs: where one of them comes next, there is no jump.
func (k *cache) translate(b *block, depth int) bool {
	m, falls := k.hosts, int32(0)
	first := len(m.codes)
	for b != nil {
		nb, side := k.behind(b)
		b.heat = 0
		if !m.translate(b, side, falls) {
			return false
		}
		if nb != nil && (m.t.out[side].stub == 0 || m.t.out[side].at != 0) {
			nb = nil // it goes elsewhere, or by a jump
		}
		b, falls = nb, 2*b.hosted-1+int32(side)
	}
	for i, last := first, len(m.codes); i < last; i++ {
		b := m.codes[i].b
		for side, nb := range [2]*block{b.t, b.f} {
			if nb.host == noHost && k.near(nb) && depth < ahead && !k.translate(nb, depth+1) {
				return false
			}
			if nb.host != noHost {
				m.join(i, side, nb)
			}
		}
	}
	return true
}

// near reports whether b is to be translated with a block that is left to it.
func (k *cache) near(b *block) bool {
	return b.host == noHost && 2*int(b.heat) >= k.warm && !b.dead && b.cost != 0
}

// behind returns the block to place behind b and the side of b's way there; -1: none.
func (k *cache) behind(b *block) (*block, int) {
	f := b.f
	if f == unlinkedF && b.start>>12 == b.fva>>12 { // behind a call
		if nb := k.pages[b.pfn].blocks[b.fva]; nb != nil && nb.pfn == b.pfn && !nb.crosses {
			f = nb
		}
	}
	switch {
	case f != b && k.near(f) && (f.heat >= b.t.heat || !k.near(b.t)):
		return f, toF
	case b.t != b && k.near(b.t):
		return b.t, toT
	}
	return nil, -1
}

// renew begins anew with empty memory: the old one is full. Most machines need little, and what a dead one holds is address space
// that the garbage collector does not see.
func (k *cache) renew() {
	hot, cold := k.hosts.size[0], k.hosts.size[1]
	if hot+cold < maxSize {
		hot, cold = 4*hot, 4*cold
	}
	k.setHosts(newHostMemory(hot, cold))
	if k.hosts == nil {
		k.useHost(0)
	}
}

// useHost turns host code on, for blocks with so many entries, or with 0 off.
func (k *cache) useHost(warm int) {
	if warm = min(warm, math.MaxUint8); warm != k.warm {
		k.warm = warm
		k.setHosts(nil)
	}
}

// setHosts has all blocks begin without host code, and with m for it.
func (k *cache) setHosts(m *hostMemory) {
	k.hosts = m
	for _, c := range k.cpus {
		c.host.sp = 0
	}
	for _, pg := range k.pages {
		for _, b := range pg.blocks {
			if !b.dead {
				b.initHost(k)
			}
		}
	}
}

// initHost gives a block its budget check and its place to begin: every entry from the interpreter comes to slowEnter when there
// is host code.
func (b *block) initHost(k *cache) {
	b.host, b.hosted, b.heat, b.n = noHost, 0, 0, b.cost
	if k.warm != 0 {
		b.n = math.MaxInt64
	}
}

// put32 patches 4 bytes.
func (m *hostMemory) put32(at int32, v uint32) { binary.LittleEndian.PutUint32(m.w[at:], v) }
