package x86_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"kscope/kernel/guest"
	"kscope/kernel/x86"
)

// TestGuestBlocks runs the straight pieces of the guest kernel's own code, as gcc made them, with random registers and
// memory on the emulated CPU and on the host's. Registers and words of memory mostly point into the data area, so that
// pointers can be followed; a piece that faults must fault alike.
func TestGuestBlocks(t *testing.T) {
	pieces := guestPieces(t)
	rnd := rand.New(rand.NewPCG(31, 0))
	r := newRig(newPhys(), 3)
	r.seen = map[string]bool{}
	var h runner
	t.Run("host", func(t *testing.T) { // a subtest, so that its lack skips only the comparison
		h = newHost(t)
		failures, ends := 0, map[string]int{}
		for i, code := range pieces {
			if raceEnabled && i%10 != 0 {
				continue
			}
			b := &block{in: pieceState(rnd, code), undef: map[int]uint64{}}
			b.scan()
			want := h.run(b.in)
			ends[want.stop]++
			r.chop = int64(i % 3)
			got := r.run(b.in)
			if inData(want) || inData(got) {
				continue
			}
			if diff := b.compare(got, want); diff != "" {
				t.Errorf("piece %d, slices of %d: %s", i, r.chop, b.explain(h, r))
				if failures++; failures >= 10 {
					t.Fatal("enough")
				}
			}
		}
		t.Logf("%d pieces of the guest, ended so: %v", len(pieces), ends)
	})
	if h == nil {
		for _, code := range pieces {
			r.run(pieceState(rnd, code))
		}
	}
	fused, used := 0, 0
	for _, op := range x86.OpNames() {
		if strings.Contains(op, fusedMark) {
			fused++
			if r.seen[op] {
				used++
			}
		}
	}
	t.Logf("%d of %d fused uops are in these pieces", used, fused)
}

// inData says that a piece jumped into the data and ran into something else there than the int3 that pointers point at: no
// test of anything.
func inData(s *state) bool {
	const afterInt3 = 0xcd // the low byte of rip; see pieceState
	return s.rip >= dataVA-16 && s.rip < dataVA+dataSize && (s.stop != "" || s.rip&0xff != afterInt3)
}

// guestPieces cuts the functions of the guest at branches and leaves out what cannot run in a traced process, and repeats.
func guestPieces(t *testing.T) [][]byte {
	f, err := elf.NewFile(bytes.NewReader(guest.Kernel()))
	if err != nil {
		t.Skip(err)
	}
	syms, err := f.Symbols()
	if err != nil {
		t.Skip(err)
	}
	sort.Slice(syms, func(i, j int) bool { return syms[i].Value < syms[j].Value })
	seen := map[string]bool{}
	var pieces [][]byte
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || int(s.Section) >= len(f.Sections) {
			continue
		}
		sec := f.Sections[s.Section]
		code := make([]byte, s.Size)
		if _, err := sec.ReadAt(code, int64(s.Value-sec.Addr)); err != nil {
			continue
		}
		for len(code) > 0 {
			n, ok := piece(code)
			if n == 0 {
				break
			}
			if ok && n < 400 && !seen[string(code[:n])] {
				seen[string(code[:n])] = true
				pieces = append(pieces, code[:n])
			}
			code = code[n:]
		}
	}
	return pieces
}

// piece returns the length of the code up to a branch, and whether it may run on the host.
func piece(code []byte) (n int, ok bool) {
	ok = true
	for n < len(code) {
		l, known, ends := x86.DecodeLen(code[n:])
		if l <= 0 || n+l > len(code) {
			return 0, false
		}
		in, err := x86asm.Decode(code[n:], 64)
		ok = ok && known && err == nil && !offHost[in.Op]
		for _, a := range in.Args {
			if reg, isReg := a.(x86asm.Reg); isReg && reg > x86asm.R15 {
				ok = false // segment and control registers
			}
			if to, isRel := a.(x86asm.Rel); isRel && n+l+int(to) >= 0 && int(to) < 0 {
				ok = false // a loop may never end, and the host has no bound
			}
		}
		if n += l; ends {
			return n, ok
		}
	}
	return n, ok
}

// offHost are instructions that would do something to the traced process other than run, or that differ between CPUs.
var offHost = map[x86asm.Op]bool{x86asm.SYSCALL: true, x86asm.SYSENTER: true, x86asm.INT: true, x86asm.IRETQ: true, x86asm.IRET: true,
	x86asm.SYSRET: true, x86asm.LRET: true, x86asm.POPF: true, x86asm.POPFQ: true, x86asm.RDTSC: true, x86asm.RDTSCP: true, x86asm.CPUID: true,
	x86asm.PAUSE: true, x86asm.RDMSR: true, x86asm.ICEBP: true, x86asm.STR: true, x86asm.XGETBV: true, x86asm.SGDT: true, x86asm.SIDT: true,
	x86asm.RDFSBASE: true, x86asm.RDGSBASE: true, x86asm.WRFSBASE: true, x86asm.WRGSBASE: true, x86asm.CLI: true, x86asm.STI: true}

func pieceState(rnd *rand.Rand, code []byte) *state {
	s := newState()
	s.code = code
	value := func() uint64 {
		switch rnd.IntN(8) {
		case 0:
			return rnd.Uint64N(64)
		case 1:
			return rnd.Uint64()
		}
		// Such a pointer points at another one, whose first byte is int3.
		return dataVA + 0x8cc + rnd.Uint64N(0x28)*0x100
	}
	for i := range s.regs {
		s.regs[i] = value()
	}
	s.regs[x86.RSP] = dataVA + 0x2804 + rnd.Uint64N(0x80)*8
	s.gs = dataVA + rnd.Uint64N(0x100)*8
	for i := 4; i < dataSize-8; i += 8 {
		binary.LittleEndian.PutUint64(s.data[i:], value())
	}
	s.flags |= rnd.Uint64() & arith
	return s
}

// scan fills in the instructions' starts and the flags that are undefined before each: a piece of real code never uses
// them, but it may end while they are.
func (b *block) scan() {
	undef := uint64(0)
	for n := 0; n < len(b.in.code); {
		b.starts = append(b.starts, n)
		b.undef[n] = undef
		in, _ := x86asm.Decode(b.in.code[n:], 64)
		switch in.Op {
		case x86asm.ADD, x86asm.ADC, x86asm.SUB, x86asm.SBB, x86asm.CMP, x86asm.NEG, x86asm.XADD, x86asm.CMPXCHG, x86asm.POPCNT:
			undef = 0
		case x86asm.INC, x86asm.DEC:
			undef &= cf
		case x86asm.AND, x86asm.OR, x86asm.XOR, x86asm.TEST:
			undef = af
		case x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.SHLD, x86asm.SHRD:
			undef |= af | of // and the rest stays when the count is zero
		case x86asm.ROL, x86asm.ROR, x86asm.RCL, x86asm.RCR:
			undef |= of
		case x86asm.MUL, x86asm.IMUL:
			undef = pf | af | zf | sf
		case x86asm.DIV, x86asm.IDIV:
			undef = arith
		case x86asm.BSF, x86asm.BSR, x86asm.TZCNT, x86asm.LZCNT:
			undef = arith &^ zf
		case x86asm.BT, x86asm.BTS, x86asm.BTR, x86asm.BTC:
			undef = undef&zf | arith&^(cf|zf)
		}
		l, _, _ := x86.DecodeLen(b.in.code[n:])
		n += l
	}
	b.undef[len(b.in.code)] = undef
}
