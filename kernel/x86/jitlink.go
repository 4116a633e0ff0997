//go:build linux && amd64 && !race

package x86

// Ways out of a block: a jump to each of its two successors. It leads to Go code until the two are joined; a block that is killed
// is cut off from all that lead to it.

// hostCode is a block's translation.
type hostCode struct {
	b   *block
	out [2]jump // to t and f
	in  int32   // the first jump that leads here; 0: none

	falls int32 // the jump that is left out before it; 0: none
}

// jump is a jump between blocks. Jumps have numbers: 2*code+side+1.
type jump struct {
	at   int32 // of its distance in memory; 0: the block has none, or it is left out
	stub int32 // the way to Go code
	to   int32 // code+1 that it leads to; 0: the stub
	next int32 // the next jump that leads there
}

func (m *hostMemory) jump(n int32) *jump { return &m.codes[(n-1)/2].out[(n-1)&1] }

// join has the jump of a code on one side lead to a block that has host code too.
func (m *hostMemory) join(from, side int, to *block) {
	n := int32(2*from + side + 1)
	j := m.jump(n)
	if j.at == 0 || j.to != 0 {
		return
	}
	h := &m.codes[to.hosted-1]
	j.to, j.next, h.in = to.hosted, h.in, n
	m.put32(j.at, uint32(int(to.host-m.pc(0))-int(j.at)-4))
}

// part has a jump lead to its stub again.
func (m *hostMemory) part(j *jump) {
	j.to, j.next = 0, 0
	m.put32(j.at, uint32(j.stub-j.at-4))
}

// cut has nothing lead to b any more.
func (k *cache) cut(b *block) {
	if b.hosted == 0 {
		return
	}
	m := k.hosts
	h := &m.codes[b.hosted-1]
	for n := h.in; n != 0; {
		j := m.jump(n)
		n = j.next
		m.part(j)
	}
	h.in = 0
	if h.falls != 0 { // in place of its head, where nobody else comes, the jump that was left out
		at := int32(b.host - m.pc(0))
		j := m.jump(h.falls)
		m.w[at], j.at, h.falls = 0xe9, at+1, 0
		m.part(j)
	}
}

// cutAll parts all blocks. What others fall into loses its code.
func (k *cache) cutAll() {
	if k.hosts == nil {
		return
	}
	for i := range k.hosts.codes {
		h := &k.hosts.codes[i]
		h.in = 0
		if h.falls != 0 {
			k.cut(h.b)
			h.b.host, h.b.hosted, h.b.heat = noHost, 0, uint8(k.warm-1)
		}
		for side := range h.out {
			if j := &h.out[side]; j.to != 0 {
				k.hosts.part(j)
			}
		}
	}
}
