package x86_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"kscope/kernel/x86"
)

var flagEdges = flag.Int("flagedges", 15000, "random programs of TestFlagEdges; 0: all")

// TestFlagEdges: every producer of flags, something behind it, and every consumer, in host code and interpreted: all registers, flags,
// and counts are equal. What is behind it is nothing, the edge of a block, a uop that is always slow, an access that misses, or an
// instruction that keeps some of the flags only.
func TestFlagEdges(t *testing.T) {
	phys := newPhys()
	host, plain := (&rig{}).init(phys, 0), (&rig{interpret: true}).init(phys, 0)
	rnd := rand.New(rand.NewPCG(71, 0))
	g := &generator{rnd: rnd}
	producers, between, consumers := flagProducers(), flagBetween(), flagConsumers()
	all := len(producers) * len(between) * len(consumers)
	count := *flagEdges
	if count == 0 {
		count = all
	}
	if raceEnabled {
		count /= 10
	}
	data := make([]byte, 64)
	for n := range count {
		i := n
		if count < all {
			i = rnd.IntN(all)
		}
		p, b, c := producers[i%len(producers)], between[i/len(producers)%len(between)], consumers[i/len(producers)/len(between)]
		code := slices.Concat(p, b, c, []byte{0xcc})
		var regs [16]uint64
		for r := range regs {
			regs[r] = g.interesting()
		}
		if rnd.IntN(3) == 0 {
			regs[x86.RBX] = regs[x86.RAX]
		}
		if rnd.IntN(2) == 0 {
			regs[x86.RCX] &= 0x3f
		}
		regs[x86.RSP], regs[x86.RDI], regs[x86.RSI] = stack0, dataVA+0x100, dataVA+0xffd
		for k := range data {
			data[k] = byte(rnd.Uint32())
		}
		flags := rnd.Uint64()&arith | 2
		var got [2][18]uint64
		for k, r := range []*rig{host, plain} {
			r.poke(codeVA, code)
			r.poke(dataVA+0x100, data)
			for i, v := range regs {
				r.c.SetReg(i, v)
			}
			r.c.SetRIP(codeVA)
			r.c.SetFlags(flags)
			before := r.c.Insns
			if e := r.c.Run(50); e != x86.ExitException {
				t.Fatalf("%v; code % x", e, code)
			}
			for i := range regs {
				got[k][i] = r.c.Reg(i)
			}
			m, _ := r.c.U64(dataVA + 0x100)
			got[k][16], got[k][17] = r.c.Flags()|r.c.RIP()<<32^m, r.c.Insns-before
		}
		if got[0] != got[1] {
			t.Fatalf("program %d: % x, % x, % x: registers %x and flags %x give\n%x\ninterpreted\n%x", i, p, b, c, regs, flags, got[0], got[1])
		}
	}
	t.Logf("%d of %d programs", count, all)
}

// flagProducers work on rax, rbx, cl and the memory at rdi, in all sizes.
func flagProducers() (all [][]byte) {
	add := func(b ...byte) { all = append(all, b) }
	for size := range 4 {
		pre := [][]byte{{}, {0x66}, {}, {0x48}}[size]
		w := byte(min(size, 1))
		put := func(b ...byte) { all = append(all, slices.Concat(pre, b)) }
		for op := range byte(8) {
			put(op*8|w, 0xd8)               // op rax, rbx
			put(op*8|w, 0x07)               // op [rdi], rax
			put(op*8|2|w, 0x07)             // op rax, [rdi]
			put(0x80|3*w, 0xc0|op<<3, 0x7f) // op rax, 0x7f
			if op != 6 {
				put(0xd0|w, 0xc0|op<<3)       // shift rax, 1
				put(0xc0|w, 0xc0|op<<3, 5)    // by 5
				put(0xc0|w, 0xc0|op<<3, 0)    // by 0
				put(0xc0|w, 0xc3|op<<3, 0x2f) // rbx by more than 32 bits have
				put(0xd2|w, 0xc0|op<<3)       // by cl
				put(0xd2|w, 0x07|op<<3)       // [rdi] by cl
			}
		}
		put(0x84|w, 0xc0) // test rax, rax
		put(0x84|w, 0x18|7)
		put(0xfe|w, 0xc0) // inc
		put(0xfe|w, 0xc8)
		put(0xfe|w, 0x07)
		put(0xfe|w, 0x0f)
		for op := byte(2); op < 6; op++ { // not, neg, mul, imul
			put(0xf6|w, 0xc3|op<<3)
			put(0xf6|w, 0x07|op<<3)
		}
		put(0x0f, 0xb0|w, 0x1f) // cmpxchg [rdi], rbx
		put(0x0f, 0xc0|w, 0xd8) // xadd rax, rbx
		put(0x0f, 0xc0|w, 0x1f)
		if size == 0 {
			continue
		}
		put(0x0f, 0xaf, 0xc3)     // imul rax, rbx
		put(0x6b, 0xc3, 0x85)     // imul rax, rbx, -123
		for op := range byte(4) { // bt, bts, btr, btc
			put(0x0f, 0xa3|op<<3, 0xd8)
			put(0x0f, 0xba, 0xe0|op<<3, 13)
		}
		put(0x0f, 0xa4, 0xd8, 7) // shld
		put(0x0f, 0xad, 0xd8)    // shrd by cl
		put(0x0f, 0xbc, 0xc3)    // bsf
		put(0x0f, 0xbd, 0xc3)
		all = append(all, slices.Concat([]byte{0xf3}, pre, []byte{0x0f, 0xbc, 0xc3}), slices.Concat([]byte{0xf3}, pre, []byte{0x0f, 0xb8, 0xc3})) // tzcnt, popcnt
	}
	add(0x28, 0xfc) // sub ah, bh
	add(0x9e)       // sahf
	add(0xf8)
	add(0xf9)
	add(0xf5)
	add(0x50, 0x81, 0x24, 0x24, 0xd5, 0x08, 0, 0, 0x9d) // push rax; and [rsp], arith; popf
	add(0xae)                                           // scasb
	add(0x90)
	return all
}

// flagBetween stands between a producer and a consumer.
func flagBetween() [][]byte {
	return [][]byte{{}, {}, {0xeb, 0}, {0x90}, {0x75, 0}, {0x4c, 0x8b, 0x3e} /* mov r15, [rsi]: over a page's end */, {0xfa}, {0x0f, 0x31}, {0x41, 0x57, 0x41, 0x5f},
		{0xff, 0xc5} /* inc ebp */, {0x66, 0xff, 0xcd}, {0x49, 0x89, 0xc2}, {0x45, 0x31, 0xd2}, {0x49, 0x0f, 0xc8}, {0x4c, 0x01, 0x3e} /* add [rsi], r15 */, {0xf5}}
}

// flagConsumers read flags, or show them in a fault.
func flagConsumers() (all [][]byte) {
	for cc := range byte(16) {
		all = append(all, []byte{0x0f, 0x90 | cc, 0xc2}, []byte{0x0f, 0x90 | cc, 0xc4}, []byte{0x48, 0x0f, 0x40 | cc, 0xd3}, []byte{0x70 | cc, 2, 0xff, 0xc2}, []byte{0x0f, 0x90 | cc, 0x07})
	}
	for _, b := range [][]byte{{0x48, 0x11, 0xd0}, {0x83, 0xd2, 0}, {0x19, 0xd2}, {0x66, 0x19, 0xd2}, {0x10, 0xd0}, {0xd1, 0xd2}, {0xd0, 0xda}, {0x9c, 0x58}, {0x66, 0x9c, 0x66, 0x58}, {0x9f},
		{0xff, 0xc2, 0x9c, 0x58}, {0xfe, 0xca}, {0x0f, 0x0b}, {0xf5}, {0x9e}, {0xd3, 0xe2}, {0x0f, 0xa3, 0xc2}, {0xe1, 0}, {0x48, 0x11, 0x07}, {0xf7, 0xf1}, {}} {
		all = append(all, b)
	}
	return all
}
