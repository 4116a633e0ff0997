package ring

import "testing"

// TestInspect follows the roles of the pages through filling, overwriting and reading.
func TestInspect(t *testing.T) {
	b := New(3)
	roles := func() (out map[string]int) {
		out = map[string]int{}
		for _, p := range b.Inspect().Pages {
			for _, r := range p.Roles {
				out[r] = p.Slot
			}
		}
		return out
	}
	want := func(step string, head, commit, tail int) {
		t.Helper()
		if r := roles(); r["head"] != head || r["commit"] != commit || r["tail"] != tail || r["reader"] != -1 {
			t.Errorf("%s: %v", step, r)
		}
	}
	fill := func(n int) {
		for range n {
			b.Write(b.stamp+1, make([]byte, 1000))
		}
	}
	want("empty", 0, 0, 0)
	fill(4)
	want("one page", 0, 0, 0)
	fill(8)
	want("three pages", 0, 2, 2)
	fill(1)
	want("the first is overwritten", 1, 0, 0)
	s := b.Inspect()
	if p := s.Pages[1]; p.Events != 1 || p.First != 12 || p.Seq != 3 || s.Stats.Overrun != 4 || !s.Overwrite {
		t.Errorf("slot 0: page %d, %d events from %d on; overrun %d", p.Seq, p.Events, p.First, s.Stats.Overrun)
	}
	b.Consume(nil)
	want("the reader has taken the oldest", 2, 0, 0)
	s = b.Inspect()
	if s.Read != 1008 || s.Pages[0].Seq != 1 || s.Pages[0].Events != 4 || s.Pages[2].Used {
		t.Errorf("reader: %d bytes read, page %d with %d events; its slot is used: %v", s.Read, s.Pages[0].Seq, s.Pages[0].Events, s.Pages[2].Used)
	}
	n := 0
	if _, err := DecodePage(s.Pages[0].Data, func(e Entry) bool { n += map[bool]int{true: 1}[e.Kind == Data]; return true }); err != nil || n != 4 {
		t.Errorf("%d entries, %v", n, err)
	}
}
