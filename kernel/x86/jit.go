//go:build linux && amd64 && !race

package x86

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"unsafe"
)

// Host code.
//
// On amd64 hosts the fast uops of a block that runs often are translated to the host's code, uop by uop, so that whatever the
// interpreter knows (lazy flags, slow functions, exact budgets, links) holds between any two uops, and each side can take over
// from the other there. A uop without a template, and one that misses, returns from hostCall with its number; the slow function
// runs, and the block goes on behind it. Nothing is patched: blocks are left through their links (jitflow.go).
//
// Generated code holds no pointers, uses none of the goroutine's stack but a return address and calls nothing. The budget
// bounds it, so that a stop of the world waits no longer than for the interpreter. Signals find no Go function there, which
// the runtime takes as it takes C code: no preemption, no traceback.

// hostCall runs host code with block to in rax and block from in rbp.
//
//go:noescape
func hostCall(c *CPU, host uintptr, from, to *block) (why int64, resume uintptr, at, next *block)

func hostEnter()
func hostEnterPC() uintptr

// noHost is where a block begins that has no host code.
var noHost = hostEnterPC()

// What hostCall returns beside the number of a uop.
const (
	whyEnter  = -1     // next is to be entered from block at, and has no host code
	whyBudget = -2     // block at is next, and the budget is too small for it
	whyProbe  = -3     // a probe missed: the uop is found by the address
	whyLast   = -4     // the last uop of the block missed
	whyResume = 1 << 8 // beside the number: host code goes on behind the uop, at resume
)

const (
	sysMemfdCreate = 319

	hotSize  = 12 << 20 // bytes for the code of blocks
	coldSize = 12 << 20 // and for their ways out to slow functions
)

// hostMemory holds host code of any number of machines: memory that is mapped twice, to write to and to execute.
type hostMemory struct {
	mu        sync.Mutex
	w, x      []byte
	size      [2]int // for blocks, and behind it for their ways out to slow functions
	used      [2]int
	t         translator
	templates *[numOps]template
}

// hostCode is a code's translation.
type hostCode struct {
	in    *hostMemory
	at    uintptr
	sites []site
}

// uopAt returns the number of the uop whose probe returns to host address pc.
func (h *hostCode) uopAt(pc uintptr) int {
	for _, s := range h.sites {
		if h.at+uintptr(s.off) == pc {
			return int(s.k)
		}
	}
	panic("BUG: no probe of the block returns there")
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
	m := &hostMemory{w: w, x: x, size: [2]int{hot, cold}, templates: templates()}
	m.t.shared = m.t.makeShared()
	m.used[0] = copy(w, m.t.hot.b)
	if d := int(uint32(noHost) - uint32(uintptr(unsafe.Pointer(&x[0])))); d < hot {
		m.used[0] = max(m.used[0], d+16) // jumps compare the low half of addresses only
	}
	runtime.AddCleanup(m, func(maps [2][]byte) {
		syscall.Munmap(maps[0])
		syscall.Munmap(maps[1])
	}, [2][]byte{w, x})
	return m
}

// translate returns the host code of co; nil: there is no room. succ are the host addresses that blocks behind t and f have, as far
// as they are known; own stands for co's own.
func (m *hostMemory) translate(co *code, succ [2]uintptr) *hostCode {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := co.host.Load(); h != nil && h.in == m {
		return h
	}
	hot, cold := m.used[0], m.size[0]+m.used[1]
	t := &m.t
	t.base, t.succ = uintptr(unsafe.Pointer(&m.x[0])), [2]int{}
	for i, at := range succ {
		switch at {
		case 0:
		case own:
			t.succ[i] = hot
		default:
			t.succ[i] = int(at - t.base)
		}
	}
	t.block(co, m.templates)
	if hot+len(t.hot.b) > m.size[0] || cold+len(t.cold.b) > len(m.w) || len(t.hot.b) > math.MaxUint16 {
		return nil
	}
	t.place(hot, cold)
	copy(m.w[hot:], t.hot.b)
	copy(m.w[cold:], t.cold.b)
	m.used[0] += (len(t.hot.b) + 15) &^ 15
	m.used[1] += len(t.cold.b)
	h := &hostCode{m, uintptr(unsafe.Pointer(&m.x[hot])), slices.Clone(t.sites)}
	co.host.Store(h)
	return h
}

// own is in place of the host address of the block that is being translated.
const own = 1

// warm counts an entry to a block without host code, and reports whether it has it now.
func (c *CPU) warm(b *block) bool {
	if b.host != noHost {
		return true
	}
	k := c.cache
	if h := b.code.host.Load(); h == nil || h.in != k.hosts {
		if b.heat++; int(b.heat) < k.warm {
			return false
		}
	}
	if k.translate(b, 0) {
		return true
	}
	k.renew()
	return false
}

// ahead is how far translation runs ahead of execution.
const ahead = 12

// translate gives block b host code, and first the blocks that it was left to and that are half as warm, so that it can jump to
// theirs without a look at their address: the host guesses where an indirect jump goes, and for a kernel's varied code mostly
// wrong.
func (k *cache) translate(b *block, depth int) bool {
	h := b.code.host.Load()
	if h == nil || h.in != k.hosts {
		b.heat = 0 // and is not looked at again
		var succ [2]uintptr
		for i, nb := range [2]*block{b.t, b.f} {
			if nb.host == noHost && 2*int(nb.heat) >= k.warm && !nb.dead && depth < ahead {
				k.translate(nb, depth+1)
			}
			switch {
			case nb == b:
				succ[i] = own
			case nb.host != noHost:
				succ[i] = nb.host
			}
		}
		if h = k.hosts.translate(b.code, succ); h == nil {
			return false
		}
	}
	b.hosted, b.host = h, h.at
	return true
}

// renew begins anew with empty memory: the old one is full, and lives as long as a fork uses it.
func (k *cache) renew() {
	k.setHosts(newHostMemory(k.hosts.size[0], k.hosts.size[1]))
}

// useHost turns host code on, for blocks with so many entries, or with 0 off.
func (k *cache) useHost(warm int) {
	k.warm = min(warm, math.MaxUint8)
	switch {
	case warm == 0:
		k.setHosts(nil)
	case k.hosts == nil:
		k.setHosts(newHostMemory(hotSize, coldSize))
	}
}

func (k *cache) setHosts(m *hostMemory) {
	if k.hosts == m {
		return
	}
	k.hosts = m
	for _, pg := range k.pages {
		for _, b := range pg.blocks {
			if !b.dead {
				b.initHost(k)
			}
		}
	}
}

// chain runs block b, whose budget has not been taken, and what follows it.
func (c *CPU) chain(b *block) int {
	for {
		r := 0
		if c.cache.hosts != nil && c.warm(b) {
			r = c.runHost(b)
		} else {
			c.budget -= b.cost
			r = c.exec(b, b.u0)
		}
		if r != xHost {
			return r
		}
		b = c.cur
		c.cur = nil
	}
}

// runHost is exec in host code, from the start of b, which has some.
func (c *CPU) runHost(b *block) int {
	from, host, hosts := b, b.host, c.cache.hosts
	for {
		why, resume, at, to := hostCall(c, host, from, b)
		k := int(why)
		switch why {
		case whyEnter:
			if b = c.slowEnter(at, to); b != nil {
				c.budget -= b.cost
				return c.exec(b, b.u0)
			}
			if c.why != xHost {
				return c.why
			}
			from, b = at, c.cur
			c.cur = nil
			host = b.host
			continue
		case whyBudget:
			c.budget += at.cost
			c.cur, c.ku, c.rip = at, 0, at.start
			return xBudget
		case whyProbe:
			k = at.hosted.uopAt(resume)
		case whyLast:
			k = len(at.code.fast) - 1
		}
		u := uopAt(at.u0, k&(whyResume-1))
		c.b, c.idx = at, u.idx
		switch r := slowOps[u.op](c, u); {
		case r == stNext && c.smc:
			return c.afterStore(at, u)
		case r == stNext && k&whyResume != 0 && c.cache.hosts == hosts:
			from, b, host = at, at, resume
		case r == stNext:
			return c.exec(at, uopAt(u, 1))
		case r == stJump:
			target := c.rip
			if e := &c.jc[(target^target>>12)&jcMask]; e.tag == target^c.jkey {
				b = e.b
			} else if b = c.find(at, target); b == nil {
				return xFault
			}
			from, host = at, b.host
		default:
			return c.leave(at, u, r)
		}
	}
}

// initHost gives a block its budget check and its place to begin: every entry from the interpreter comes to slowEnter when there
// is host code.
func (b *block) initHost(k *cache) {
	b.host, b.hosted, b.heat, b.n = noHost, nil, 0, b.cost
	if k.hosts == nil {
		return
	}
	b.n = math.MaxInt64
	if h := b.code.host.Load(); h != nil && h.in == k.hosts {
		b.hosted, b.host = h, h.at
	}
}
