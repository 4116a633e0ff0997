package ftrace

import (
	"fmt"
	"strings"
	"testing"

	"kscope/kernel"
)

// TestProfile: the profiler's hits are the emulator's count of entries, function by function; its text is Linux's; it and
// function_graph exclude each other; a start begins with zeroes, and what was found can be read after the end.
func TestProfile(t *testing.T) {
	tr := boot(t, kernel.Config{})
	if got := mustRead(t, tr, "trace_stat/function0"); got != profileHeader {
		t.Errorf("before: %q", got)
	}
	must(t, tr.Filter("vfs_*", "path_openat"))
	for _, r := range tr.Sites().Records() {
		tr.m.CountEntries(r.IP)
	}
	must(t, tr.WriteFile("function_profile_enabled", "1\n", false))
	before := map[uint64]uint64{}
	for _, r := range tr.Sites().Records() {
		before[r.IP] = tr.m.Entries(r.IP)
	}
	for range 3 {
		work(t, tr)
	}
	hits := map[string]uint64{}
	for i := range tr.cpu {
		for _, q := range tr.prof.cpu[i].recs {
			r, _ := tr.sites.At(q.ip)
			hits[r.Name] += q.hits
		}
	}
	for _, r := range tr.Sites().Records() {
		if want := tr.m.Entries(r.IP) - before[r.IP]; tr.prof.user.ops.Wants(r.IP) && hits[r.Name] != want {
			t.Errorf("%s: %d hits of %d calls", r.Name, hits[r.Name], want)
		}
	}
	if err := tr.Set("function_graph"); err == nil || !strings.HasSuffix(err.Error(), kernel.EBUSY.Error()) {
		t.Errorf("function_graph beside the profiler: %v", err)
	}
	if got := mustRead(t, tr, "current_tracer"); got != "nop\n" {
		t.Errorf("current_tracer: %s", got)
	}
	must(t, tr.WriteFile("function_profile_enabled", "0\n", false))
	if got := mustRead(t, tr, "enabled_functions"); got != "" {
		t.Errorf("enabled_functions: %s", got)
	}
	var text string
	for i := range tr.cpu {
		text += mustRead(t, tr, fmt.Sprintf("trace_stat/function%d", i))
	}
	if !strings.Contains(text, "  vfs_open  ") || !strings.Contains(text, " us  ") {
		t.Errorf("trace_stat:\n%s", text)
	}
	must(t, tr.Set("function_graph"))
	if err := tr.WriteFile("function_profile_enabled", "1\n", false); err != kernel.EBUSY {
		t.Errorf("the profiler beside function_graph: %v", err)
	}
}

// TestProfileText: the lines of function_stat_show, by time, and of equal times the later first.
func TestProfileText(t *testing.T) {
	tr := someTracer(1)
	q := &tr.prof.cpu[0]
	q.at = map[uint64]int{}
	for i, r := range []profileRec{{ip: 0x1, hits: 2, time: 3000, time2: 1000*1000 + 2000*2000}, {ip: 0x2, hits: 1, time: 12345678, time2: 1}, {ip: 0x3, hits: 2, time: 3000, time2: 2 * 1500 * 1500}} {
		q.at[r.ip] = i
		q.recs = append(q.recs, r)
	}
	got := mustReadNil(t, tr, "trace_stat/function0")
	want := profileHeader +
		"  0x00000002                               1    12345.67 us     12345.67 us     0.000 us    \n" +
		"  0x00000003                               2    3.000 us        1.500 us        0.000 us    \n" +
		"  0x00000001                               2    3.000 us        1.500 us        0.500 us    \n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestGraphTime: with nograph-time a function's time is without that of the functions it called.
func TestGraphTime(t *testing.T) {
	total := func(graphTime string) (times map[string]uint64) {
		tr := boot(t, kernel.Config{})
		must(t, tr.Filter("vfs_open", "path_openat", "do_filp_open"))
		must(t, tr.WriteFile("options/graph-time", graphTime, false))
		must(t, tr.WriteFile("function_profile_enabled", "1\n", false))
		work(t, tr)
		times = map[string]uint64{}
		for i := range tr.cpu {
			for _, q := range tr.prof.cpu[i].recs {
				r, _ := tr.sites.At(q.ip)
				times[r.Name] += q.time
			}
		}
		return times
	}
	with, without := total("1\n"), total("0\n")
	if with["vfs_open"] != without["vfs_open"] || with["path_openat"] != without["path_openat"]+without["vfs_open"] ||
		with["do_filp_open"] != without["do_filp_open"]+with["path_openat"] {
		t.Errorf("with graph-time %v, without %v", with, without)
	}
}
