package ftrace

import (
	"encoding/binary"
	"fmt"
	"testing"

	"kscope/kernel"
)

// truth reads the guest's own counters: per-CPU incq at the start of some functions.
func truth(tb testing.TB, t *Tracer) map[string]uint64 {
	st := t.m.Types().Struct("kscope_truth")
	if st == nil {
		tb.Skip("the image keeps no ground truth")
	}
	n := map[string]uint64{}
	for cpu := range t.m.NumCPU() {
		base := t.m.PerCPU("kscope_truth", cpu)
		for _, f := range st.Fields {
			x, err := t.m.U64(base + uint64(f.Offset))
			must(tb, err)
			n[f.Name] += x
		}
	}
	return n
}

// truthSite is one incq of a counter: in the function itself, or in a copy of it that the compiler put into another.
type truthSite struct {
	name    string // of the counter
	addr    uint64
	inlined bool
}

// truthSites finds every instruction of the kernel's text that increments a counter: incq %gs:counter(%rip).
func truthSites(t *testing.T, tr *Tracer) (sites []truthSite) {
	st := tr.m.Types().Struct("kscope_truth")
	if st == nil {
		t.Skip("the image keeps no ground truth")
	}
	base, byAddr := tr.m.Symbols().MustLookup("kscope_truth"), map[uint64]string{}
	for _, f := range st.Fields {
		byAddr[base+uint64(f.Offset)] = f.Name
	}
	start, end := tr.m.Symbols().MustLookup("_stext"), tr.m.Symbols().MustLookup("_etext")
	text := make([]byte, end-start)
	must(t, tr.m.Read(start, text))
	for i := 0; i+8 <= len(text); i++ {
		if string(text[i:i+4]) != "\x65\x48\xff\x05" {
			continue
		}
		addr := start + uint64(i)
		name, ok := byAddr[addr+8+uint64(int64(int32(binary.LittleEndian.Uint32(text[i+4:]))))]
		if !ok {
			continue
		}
		in, _ := tr.m.Symbols().At(addr)
		s := truthSite{name, addr, in.Name != name}
		if s.inlined && !inlinedIn(tr, name, in) {
			t.Errorf("%s counts calls of %s, of which DWARF knows no inlined copy there", in.Name, name)
		}
		sites = append(sites, s)
	}
	return sites
}

// inlinedIn tells whether DWARF has a copy of the function in the symbol.
func inlinedIn(tr *Tracer, name string, in kernel.Sym) bool {
	for _, site := range tr.m.Types().Inlined(name) {
		if site.Addr >= in.Addr && site.Addr < in.Addr+in.Size {
			return true
		}
	}
	return false
}

// quiesce runs the machine until every CPU is halted: no task stands between a function's first instruction and its incq, since
// one that was interrupted there is still to run.
func quiesce(t *testing.T, tr *Tracer) {
	t.Helper()
	limit := tr.m.Insns() + 50e6
	tr.m.Run(kernel.Until{Cond: func() bool { return tr.m.Idle() || tr.m.Insns() > limit }})
	if !tr.m.Idle() {
		t.Fatal("the machine does not come to rest")
	}
}

// TestGroundTruth: over a run with thousands of context switches on 4 CPUs, with a ring that overflows, three numbers are equal,
// function by function: the calls that the guest counts itself, less those of inlined copies, which are no calls; the entries
// that the emulator counts; and ring entries + losses.
func TestGroundTruth(t *testing.T) {
	for _, overhead := range []kernel.Overhead{kernel.OverheadModel, kernel.OverheadNone} {
		for _, overwrite := range []string{"1", "0"} {
			t.Run(fmt.Sprint(overhead, overwrite), func(t *testing.T) { groundTruth(t, overhead, overwrite) })
		}
	}
}

func groundTruth(t *testing.T, overhead kernel.Overhead, overwrite string) {
	tr := boot(t, kernel.Config{Overhead: overhead, Seed: 3})
	must(t, tr.Off())
	must(t, tr.Set("function"))
	must(t, tr.WriteFile("buffer_size_kb", "64", false))
	must(t, tr.WriteFile("options/overwrite", overwrite, false))
	lost := map[uint64]uint64{}
	tr.OnLost(func(l Loss) { lost[l.IP]++ })
	sites := truthSites(t, tr)
	var counted []uint64
	for _, r := range tr.Sites().Records() {
		counted = append(counted, r.IP)
	}
	for _, s := range sites {
		counted = append(counted, s.addr)
	}
	for _, va := range counted {
		tr.m.CountEntries(va)
	}
	quiesce(t, tr)
	start, entries := truth(t, tr), map[uint64]uint64{}
	for _, va := range counted {
		entries[va] = tr.m.Entries(va)
	}
	tr.on = true
	for n := 0; n < 2000 && truth(t, tr)["schedule"]-start["schedule"] < 3000; n++ {
		must(t, tr.m.Hot(0b1111, 20)) // four kthreads are made, run and exit
		work(t, tr)
	}
	quiesce(t, tr)
	tr.on = false
	for _, va := range counted {
		entries[va] = tr.m.Entries(va) - entries[va]
	}
	ring := tr.FunctionCounts()
	written, over, dropped := uint64(0), uint64(0), uint64(0)
	for i := range tr.cpu {
		s := tr.Stats(i)
		written, over, dropped = written+s.Written, over+s.Overrun, dropped+s.Dropped
	}
	total := uint64(0)
	for _, r := range tr.Sites().Records() {
		total += entries[r.IP]
		if ring[r.IP]+lost[r.IP] != entries[r.IP] {
			t.Errorf("%s: entered %d times; ring %d + lost %d", r.Name, entries[r.IP], ring[r.IP], lost[r.IP])
		}
	}
	if written+dropped != total {
		t.Errorf("%d written + %d dropped, %d calls", written, dropped, total)
	}
	end, checked, inlined := truth(t, tr), 0, uint64(0)
	for name, n := range end {
		r, ok := tr.sites.At(tr.m.Symbols().MustLookup(name))
		if !ok {
			t.Errorf("%s counts its calls and cannot be traced", name)
			continue
		}
		guest, calls, copies, own := n-start[name], ring[r.IP]+lost[r.IP], uint64(0), uint64(0)
		for _, s := range sites {
			switch {
			case s.name != name:
			case s.inlined:
				copies += entries[s.addr]
			default:
				own += entries[s.addr]
			}
		}
		if guest != calls+copies || own != calls {
			t.Errorf("%s: the guest counts %d; tracing has %d calls and the emulator %d, and %d passes through inlined copies", name, guest, calls, own, copies)
		}
		if calls > 0 {
			checked++
		}
		inlined += copies
	}
	switches := end["schedule"] - start["schedule"]
	t.Logf("%d calls, %d overwritten, %d dropped, %d calls of schedule, %d passes through inlined copies; %d functions agree",
		total, over, dropped, switches, inlined, checked)
	if checked < 8 || switches < 2000 || (overwrite == "1") != (over > 0) || (overwrite == "0") != (dropped > 0) {
		t.Errorf("the run proves little: %d switches, %d overwritten, %d dropped", switches, over, dropped)
	}
}
