package event

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// TestHistOrder: rows that sort equal come as on real Linux (oracle f2-triggers and f5-hist: the tables of .log2, .buckets and
// common_timestamp).
func TestHistOrder(t *testing.T) {
	for _, c := range []struct{ in, want string }{ // value*hits, in any order: the order out
		{"0*2 1*2 2*4 3*2 7*2 10*10 13*4 17*2", "1 17 3 7 0 13 2 10"},
		{"0*4 64*4 832*8 4992*2 5568*1 8192*1 98304*1 131072*1", "5568 8192 98304 131072 4992 0 64 832"},
		{"15587588 15588228 15588291 15643720 15644220 15691492 15691977 15692029 15692056 15692081 17482883 17485525 17485597 18399185 18399679 18399747 " +
			"18909916 18910435 18910501 19385626 19894612 20554375 20559900 23491865 23493280 24815921 24816539 24816666 24854269 24855048 25342644 25343309 25343456 " +
			"25387149 25387811 26718027 26718624 26718751 26755574 26756218 27160479 27161477 27161630 43481512 43483323 43483494 43838148 43838742 43838870 " +
			"44142633 44143318 44143473 44734373 44734964 52588285 53561524 53562176",
			"15587588 24855048 43838742 15692056 23491865 24816666 19385626 20559900 17485597 27161630 26718751 25387811 18910501 44142633 15692081 24815921 15644220 " +
				"53562176 15643720 26718027 25343309 19894612 43483494 44143473 26756218 17482883 15588228 27161477 20554375 25387149 43838870 24816539 27160479 23493280 " +
				"26718624 44734373 43481512 53561524 25342644 43483323 18399679 15588291 43838148 15691977 18399185 17485525 44143318 18909916 25343456 18910435 15691492 " +
				"44734964 26755574 24854269 52588285 15692029 18399747"},
	} {
		m := &HistMap{Bits: 11, KeySize: 8, Sums: 1, Keys: []HistKey{{Size: 8}}}
		m.Init()
		for _, w := range strings.Fields(c.in) {
			var v, n uint64 = 0, 1
			fmt.Sscanf(strings.Replace(w, "*", " ", 1), "%d %d", &v, &n)
			e, _ := m.Insert(binary.LittleEndian.AppendUint64(nil, v))
			e.Sums[0] += n
		}
		var got []string
		for _, e := range m.Sorted([]HistSort{{}}) {
			got = append(got, fmt.Sprint(u64(e.Key)))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("order\n%s, Linux's\n%s", s, c.want)
		}
	}
}

// TestHistFull: a full table drops new keys and keeps counting those it has.
func TestHistFull(t *testing.T) {
	m := &HistMap{Bits: 7, KeySize: 8, Sums: 1, Keys: []HistKey{{Size: 8}}}
	m.Init()
	for i := range uint64(150) {
		m.Insert(binary.LittleEndian.AppendUint64(nil, i*7))
	}
	if e, fresh := m.Insert(make([]byte, 8)); e == nil || fresh || m.Len() != 128 || m.Drops != 22 || m.Hits != 129 {
		t.Errorf("%d rows, %d hits, %d drops", m.Len(), m.Hits, m.Drops)
	}
	c := m.Clone()
	if c.Lookup(make([]byte, 8)).Sums[0]++; m.Lookup(make([]byte, 8)).Sums[0] != 0 {
		t.Error("a clone shares its rows")
	}
	if m.Clear(); m.Len() != 0 || m.Lookup(make([]byte, 8)) != nil || c.Len() != 128 {
		t.Error("not clear")
	}
}

func BenchmarkHistInsert(b *testing.B) {
	m := &HistMap{Bits: 11, KeySize: 8, Sums: 1, Keys: []HistKey{{Size: 8}}}
	m.Init()
	key := make([]byte, 8)
	b.ReportAllocs()
	for i := range b.N {
		key[0] = byte(i)
		e, _ := m.Insert(key)
		e.Sums[0]++
	}
}
