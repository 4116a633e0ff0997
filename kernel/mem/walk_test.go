package mem

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestWalkVectors runs testdata/walk.txt: page-table entries, then accesses with their outcome. See the file's head.
func TestWalkVectors(t *testing.T) {
	file, err := os.Open("testdata/walk.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var p *Phys
	const mem = 64 * PageSize
	sc := bufio.NewScanner(file)
	for line := 1; sc.Scan(); line++ {
		f := strings.Fields(strings.SplitN(sc.Text(), "#", 2)[0])
		if len(f) == 0 {
			continue
		}
		switch f[0] {
		case "clear":
			p = NewPhys(mem)
		case "entry": // entry ADDR TARGET BIT...
			p.PutU64(num(t, f[1]), num(t, f[2])|entryBits(t, f[3:]))
		case "is":
			if got, want := p.U64(num(t, f[1])), num(t, f[2])|entryBits(t, f[3:]); got != want {
				t.Errorf("walk.txt:%d: entry is %#x, want %#x", line, got, want)
			}
		default: // ACCESS[,user][,MODE...] VA => OUTCOME
			what := strings.Split(f[0], ",")
			acc, ok := map[string]Access{"read": Read, "write": Write, "exec": Exec}[what[0]]
			if !ok || len(f) < 4 || f[2] != "=>" {
				t.Fatalf("walk.txt:%d: bad line", line)
			}
			var mode Mode
			user := false
			for _, w := range what[1:] {
				user = user || w == "user"
				mode |= map[string]Mode{"wp": WP, "nxe": NXE, "smep": SMEP, "smap": SMAP}[w]
			}
			pa, flags, fault := Walk(p, 0x1000, num(t, f[1]), acc, user, mode)
			got := fmt.Sprintf("%#x %s", pa, flagNames(flags))
			if fault != nil {
				got = fmt.Sprintf("fault %#x", fault.Code)
				if fault.NonCanonical {
					got = "non-canonical"
				}
			}
			if want := strings.Join(f[3:], " "); got != want {
				t.Errorf("walk.txt:%d: got %q, want %q", line, got, want)
			}
		}
	}
}

var bitNames = []struct {
	name string
	bit  uint64
}{{"P", P}, {"RW", RW}, {"US", US}, {"A", A}, {"D", D}, {"PS", PS}, {"G", G}, {"NX", NX}}

func flagNames(flags uint64) string {
	var s []string
	for _, b := range bitNames {
		if flags&b.bit != 0 {
			s = append(s, b.name)
		}
	}
	return strings.Join(s, ",")
}

func entryBits(t *testing.T, names []string) (v uint64) {
	for _, n := range names {
		for _, n := range strings.Split(n, ",") {
			found := false
			for _, b := range bitNames {
				if b.name == n {
					v, found = v|b.bit, true
				}
			}
			if !found {
				t.Fatalf("no bit %q", n)
			}
		}
	}
	return v
}

func num(t *testing.T, s string) uint64 {
	v, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// modelWalk is Walk written the other way round: it gathers the path as a list, then asks the manual's questions of the
// list as a whole, and changes nothing.
func modelWalk(p *Phys, cr3, va uint64, acc Access, user bool, mode Mode) (pa uint64, sets map[uint64]uint64, code int) {
	const gp = -2
	if top := va >> 47; top != 0 && top != 1<<17-1 {
		return 0, nil, gp
	}
	errc := 0
	if acc == Write {
		errc = CodeW
	}
	if acc == Exec && (mode&NXE != 0 || mode&SMEP != 0) {
		errc = CodeI
	}
	if user {
		errc |= CodeU
	}
	type step struct{ pos, e, size uint64 }
	var path []step
	table := cr3 >> 12 << 12 & (1<<46 - 1)
	for _, size := range []uint64{1 << 39, 1 << 30, 1 << 21, 1 << 12} {
		pos := table + (va/size)%512*8
		e := uint64(0)
		if pos < p.Size() {
			e = p.U64(pos)
		}
		path = append(path, step{pos, e, size})
		if e&1 == 0 {
			return 0, nil, errc
		}
		bad := e>>46&63 != 0 || e>>63 != 0 && mode&NXE == 0
		large := e>>7&1 != 0 && size != 1<<12
		bad = bad || large && size == 1<<39
		if large && size < 1<<39 {
			for bit := 13; 1<<bit < size; bit++ {
				bad = bad || e>>bit&1 != 0
			}
		}
		if bad {
			return 0, nil, errc | 1 | 8
		}
		if large {
			break
		}
		table = e >> 12 << 12 & (1<<46 - 1)
	}
	every := func(bit int) bool {
		for _, s := range path {
			if s.e>>bit&1 == 0 {
				return false
			}
		}
		return true
	}
	some := func(bit int) bool {
		for _, s := range path {
			if s.e>>bit&1 != 0 {
				return true
			}
		}
		return false
	}
	userPage, writable, noexec := every(2), every(1), some(63)
	denied := user && !userPage ||
		acc == Write && !writable && (user || mode&WP != 0) ||
		acc == Exec && noexec ||
		acc == Exec && !user && userPage && mode&SMEP != 0 ||
		acc != Exec && !user && userPage && mode&SMAP != 0
	if denied {
		return 0, nil, errc | 1
	}
	sets = map[uint64]uint64{}
	for _, s := range path {
		sets[s.pos] |= A
	}
	last := path[len(path)-1]
	if acc == Write {
		sets[last.pos] |= D
	}
	return last.e&(1<<46-1)/last.size*last.size + va%last.size, sets, -1
}

// randomTables fills a small memory with entries that mostly point at each other, so that walks go deep and loop.
func randomTables(rnd *rand.Rand) *Phys {
	p := NewPhys(8 * PageSize)
	for pa := uint64(0); pa < p.Size(); pa += 8 * uint64(1+rnd.IntN(3)) {
		e := rnd.Uint64N(9)<<12 | P | RW | US
		for _, rare := range []uint64{P, RW, US, A, D, PS, G, NX, 1 << 13, 1 << 20, 1 << 46, 1 << 51, 1 << 52, 1 << 45} {
			if rnd.IntN(12) == 0 {
				e ^= rare
			}
		}
		if e&PS != 0 && rnd.IntN(3) > 0 {
			e = e&0xfff | rnd.Uint64N(4)<<30 | e&NX
		}
		p.PutU64(pa, e)
	}
	return p
}

func compareWalk(t *testing.T, p *Phys, cr3, va uint64, acc Access, user bool, mode Mode) string {
	t.Helper()
	before := make([]byte, p.Size())
	p.ReadAt(0, before)
	wpa, sets, wcode := modelWalk(p, cr3, va, acc, user, mode)
	pa, flags, fault := Walk(p, cr3, va, acc, user, mode)
	code := -1
	if fault != nil {
		code = int(fault.Code)
		if fault.NonCanonical {
			code = -2
		}
	}
	if pa != wpa || code != wcode {
		t.Fatalf("cr3 %#x va %#x acc %d user %v mode %d: got %#x code %d, model %#x code %d", cr3, va, acc, user, mode, pa, code, wpa, wcode)
	}
	if fault == nil && (flags&(P|A) != P|A || acc == Write && flags&D == 0 || user && flags&US == 0) {
		t.Fatalf("flags %#x after a successful walk", flags)
	}
	for pos, set := range sets {
		p2 := NewPhys(PageSize)
		p2.WriteAt(0, before[pos:pos+8])
		p2.PutU64(0, p2.U64(0)|set)
		p2.ReadAt(0, before[pos:pos+8])
	}
	after := make([]byte, p.Size())
	p.ReadAt(0, after)
	if string(after) != string(before) {
		t.Fatalf("va %#x: A and D bits differ from the model's", va)
	}
	return fmt.Sprint(code >= 0 && code&1 == 0, code >= 0 && code&8 != 0, code >= 0 && code&1 != 0, code == -2, code == -1, flags&PS != 0)
}

func TestWalkModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	kinds := map[string]int{}
	for range 60 {
		p := randomTables(rnd)
		for range 300 {
			va := rnd.Uint64()
			if rnd.IntN(20) > 0 {
				va = uint64(int64(va) << 16 >> 16)
			}
			kinds[compareWalk(t, p, rnd.Uint64N(8)<<12, va, Access(rnd.IntN(3)), rnd.IntN(2) == 0, Mode(rnd.IntN(16)))]++
		}
	}
	if len(kinds) < 6 {
		t.Errorf("only these outcomes were met: %v", kinds)
	}
}

func FuzzWalk(f *testing.F) {
	f.Add(uint64(1), uint64(0x1000), uint64(0xffff888000000000), uint8(0x1f))
	f.Add(uint64(7), uint64(0), uint64(0x7fffffffffff), uint8(1))
	f.Fuzz(func(t *testing.T, seed, cr3, va uint64, how uint8) {
		p := randomTables(rand.New(rand.NewPCG(seed, 0)))
		compareWalk(t, p, cr3, va, Access(how%3), how&64 != 0, Mode(how>>2&15))
	})
}

func BenchmarkWalk(b *testing.B) {
	p := NewPhys(64 * PageSize)
	for i, e := range []uint64{0x2000, 0x3000, 0x4000, 0x5000} {
		p.PutU64(uint64(i+1)*0x1000, e|P|RW|US)
	}
	for b.Loop() {
		Walk(p, 0x1000, 0x123, Read, false, WP|NXE)
	}
}
