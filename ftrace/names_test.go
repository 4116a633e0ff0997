package ftrace

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kscope/internal/cputime"
)

// manySites is a table like that of a large kernel.
func manySites(n int) *Sites {
	s := &Sites{enabled: true, byID: []*Ops{nil}}
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"vfs", "read", "write", "tcp", "ext4", "sched", "lock", "page", "alloc", "free", "inode", "irq", "timer", "map", "get", "put", "do", "sys", "x64"}
	var recs []Record
	for i := range n {
		name := fmt.Sprintf("%s_%s_%s_%d", words[r.IntN(len(words))], words[r.IntN(len(words))], words[r.IntN(len(words))], r.IntN(n))
		recs = append(recs, Record{IP: 0x1000 + 16*uint64(i), Name: name})
	}
	s.setRecs(recs)
	return s
}

func randomGlob(r *rand.Rand, s *Sites) string {
	name := s.recs[r.IntN(len(s.recs))].Name
	a := r.IntN(len(name))
	b := a + 1 + r.IntN(len(name)-a)
	switch r.IntN(8) {
	case 0:
		return name
	case 1:
		return name[:b] + "*"
	case 2:
		return "*" + name[a:]
	case 3:
		return "*" + name[a:b] + "*"
	case 4:
		return name[:a] + "*" + name[b:]
	case 5:
		return name[:a] + "?" + name[a+1:]
	case 6:
		return name[:a] + "[a-z]*" + name[b:]
	}
	return "nosuch" + name + "*"
}

// TestNameIndex: the index finds what asking each name finds.
func TestNameIndex(t *testing.T) {
	s := manySites(400)
	r := rand.New(rand.NewPCG(3, 4))
	for range 600 {
		glob := randomGlob(r, s)
		s.names = nil
		want, got := NewHash(), NewHash()
		found := s.enter(want, glob)
		s.names = newNameIndex(s.recs)
		if s.enter(got, glob) != found || got.Len() != want.Len() {
			t.Fatalf("%s: %d, with the index %d", glob, want.Len(), got.Len())
		}
		for ip := range want.ips {
			if !got.Has(ip) {
				t.Fatalf("%s: %#x is missing", glob, ip)
			}
		}
	}
	s.setRecs(s.recs[:10])
	if s.names != nil {
		t.Error("the index outlives its records")
	}
}

// BenchmarkGlobs enters 10,000 patterns into a filter over 50,000 functions, the making of the index with it.
func BenchmarkGlobs(b *testing.B) {
	s := manySites(50_000)
	r := rand.New(rand.NewPCG(5, 6))
	globs := make([]string, 10_000)
	for i := range globs {
		for globs[i] = ""; len(globs[i]) < 6; {
			globs[i] = randomGlob(r, s)
		}
	}
	defer cputime.Report(b)()
	for b.Loop() {
		s.setRecs(s.recs)
		h := NewHash()
		for _, g := range globs {
			s.enter(h, g)
		}
	}
}
