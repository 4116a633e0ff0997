package ftrace

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kscope/kernel"
)

// fileTexts is all of tracefs that can be read, but for pages and pipes (they are consumed), formats (they never change) and
// times.
func fileTexts(tb testing.TB, tr *Tracer) map[string]string {
	tb.Helper()
	texts := map[string]string{}
	var walk func(dir string)
	walk = func(dir string) {
		list, err := tr.fs.List(dir)
		must(tb, err)
		for _, e := range list {
			path := strings.TrimPrefix(dir+"/"+e.Name, "/")
			switch {
			case e.Dir:
				texts[path] = "a directory"
				walk(path)
			case e.Mode&0o444 == 0 || e.Name == "format" || strings.HasSuffix(e.Name, "_raw") || e.Name == "trace_pipe":
			default:
				data, err := tr.fs.ReadFile(tr.m.VCPU(0), path)
				if err != nil {
					tb.Fatalf("reading %s: %v", path, err)
				}
				if e.Name == "stats" {
					before, after, _ := bytes.Cut(data, []byte("now ts: "))
					_, after, _ = bytes.Cut(after, []byte("\n"))
					data = append(before, after...)
				}
				texts[path] = string(data)
			}
		}
	}
	walk("")
	return texts
}

// randomWrites are texts that some file knows.
var randomWrites = []string{"0\n", "1\n", "2\n", "", "100\n", "-1\n", "x\n", "function\n", "function_graph\n", "nop\n", "vfs_*\n", "vfs_read vfs_open\n",
	"!vfs_read\n", "*\n", ":mod:nosuch\n", "vfs_write:traceoff:3\n", "do_sys_openat2:stacktrace\n", "vfs_open:snapshot:1\n",
	"vfs_open:enable_event:sched:sched_switch\n", "vfs_read:disable_event:sched:sched_waking:2\n", "!*:traceoff:0\n", "do_exit:dump\n",
	"global\n", "counter\n", "x86-tsc\n", "raw\n", "noraw\n", "hex\n", "nooverwrite\n", "latency-format\n", "func_stack_trace\n", "record-tgid\n",
	"sched:sched_switch\n", "!sched:*\n", "raw_syscalls\n", "prev_pid == 0\n", "id & 1 ||\n", "f\n", "1,2\n", "100 7 3\n", "7\n", "5000\n", "999999999\n", "\x01\x00\x00\x00abcdefgh"}

// knownWrites are of those that change something.
var knownWrites = [][2]string{{"current_tracer", "function"}, {"current_tracer", "function_graph"}, {"set_ftrace_filter", "vfs_*"}, {"set_ftrace_notrace", "vfs_read"},
	{"set_ftrace_filter", "vfs_open:stacktrace:5"}, {"set_ftrace_filter", "*:mod:later"}, {"events/sched/sched_switch/filter", "prev_pid == 0"},
	{"events/sched/sched_switch/trigger", "stacktrace:3 if prev_pid > 0"}, {"events/sched/sched_switch/trigger", "traceoff:1"},
	{"events/sched/sched_switch/trigger", "!traceoff"}, {"events/sched/sched_switch/trigger", "enable_event:sched:sched_waking:2"},
	{"events/sched/sched_waking/trigger", "disable_event:sched:sched_switch"}, {"events/sched/sched_waking/trigger", "snapshot"},
	{"events/sched/sched_waking/trigger", "hist:keys=pid:ts0=common_timestamp.usecs"}, {"synthetic_events", "lat u64 delta; pid_t pid"},
	{"events/sched/sched_switch/trigger", "hist:keys=next_pid:d=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).lat($d,next_pid)"},
	{"events/sched/sched_switch/trigger", "hist:keys=prev_comm,stacktrace:onmax($p).save(prev_pid):p=prev_pid"},
	{"events/sched/sched_switch/trigger", "hist:keys=prev_prio:p=prev_prio:onchange($p).snapshot()"}, {"events/synthetic/lat/enable", "1"},
	{"events/sched/sched_waking/trigger", "hist:name=n:keys=common_pid"}, {"events/sched/sched_switch/trigger", "hist:name=n:keys=common_pid"},
	{"events/sched/sched_waking/trigger", "!hist:name=n:keys=common_pid"}, {"events/sched/sched_waking/trigger", "disable_hist:sched:sched_switch:3"},
	{"events/synthetic/lat/trigger", "hist:keys=pid.buckets=10:vals=delta.percent:size=128"}, {"synthetic_events", "s char[] t; s32 u; char c[16]"},
	{"events/sched/filter", "nosuch"}, {"events/enable", "1"}, {"set_event", "sched:sched_waking"}, {"set_event_pid", "1 100"}, {"set_ftrace_pid", "1"},
	{"set_graph_function", "vfs_read"}, {"set_graph_notrace", "vfs_open"}, {"max_graph_depth", "3"}, {"tracing_thresh", "5"}, {"buffer_size_kb", "50"},
	{"per_cpu/cpu1/buffer_size_kb", "40"}, {"trace_clock", "global"}, {"tracing_cpumask", "1"}, {"saved_cmdlines_size", "9"}, {"buffer_percent", "7"},
	{"tracing_max_latency", "9"}, {"snapshot", "1"}, {"function_profile_enabled", "1"}, {"stack_trace_filter", "vfs_*"}, {"stack_max_size", "5"},
	{"trace_options", "func_stack_trace"}, {"trace_marker", "mark"}, {"tracing_on", "0"}, {"free_buffer", "x"}, {"current_tracer", "nop"}}

// disorder does n random things to tracefs, one after the other, with work between them. The answers are errnos or nothing.
func disorder(tb testing.TB, tr *Tracer, r *rand.Rand, n int) {
	var files []string
	var walk func(dir string)
	walk = func(dir string) {
		list, _ := tr.fs.List(dir)
		for _, e := range list {
			path := strings.TrimPrefix(dir+"/"+e.Name, "/")
			switch {
			case strings.HasSuffix(dir, "events") && e.Name != "sched" || strings.HasSuffix(dir, "sched") && e.Name > "sched_wait": // not all of the same rows
			case e.Dir:
				walk(path)
			default:
				files = append(files, path)
			}
		}
	}
	walk("")
	for range n {
		path := files[r.IntN(len(files))]
		var err error
		switch r.IntN(12) {
		case 0:
			name := fmt.Sprint("i", r.IntN(3))
			if _, err = tr.MakeInstance(name); err == nil {
				files = append(files, "instances/"+name+"/current_tracer", "instances/"+name+"/set_ftrace_filter", "instances/"+name+"/events/sched/enable",
					"instances/"+name+"/trace_marker", "instances/"+name+"/snapshot")
			}
		case 1:
			err = tr.RemoveInstance(fmt.Sprint("i", r.IntN(3)))
		case 2:
			work(tb, tr)
		case 3, 4:
			_, err = tr.ReadFile(path)
		case 5, 6, 7:
			w := knownWrites[r.IntN(len(knownWrites))]
			err = tr.WriteFile(w[0], w[1]+"\n", r.IntN(2) == 0)
		default:
			text := randomWrites[r.IntN(len(randomWrites))]
			if r.IntN(4) == 0 {
				b := make([]byte, r.IntN(12))
				for i := range b {
					b[i] = byte(r.Uint32())
				}
				text = string(b)
			}
			if strings.HasSuffix(path, "_kb") && len(text) > 5 {
				text = text[:5] // not the host's memory
			}
			err = tr.WriteFile(path, text, r.IntN(2) == 0)
		}
		if err != nil {
			errnoOf(err)
		}
	}
}

// TestReset: whatever has been written in whatever order, Reset brings every file back to what it was at boot, and the text too.
func TestReset(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			tr := boot(t, kernel.Config{CPUs: 2})
			want := fileTexts(t, tr)
			sites := siteBytes(t, tr)
			disorder(t, tr, rand.New(rand.NewPCG(seed, 1)), 150)
			must(t, tr.Reset())
			got := fileTexts(t, tr)
			for path, text := range want {
				if got[path] != text {
					t.Errorf("%s: %q, at boot %q", path, cut(got[path]), cut(text))
				}
			}
			for path := range got {
				if _, ok := want[path]; !ok {
					t.Errorf("%s is left", path)
				}
			}
			if now := siteBytes(t, tr); !bytes.Equal(now, sites) {
				t.Error("the text is not that of boot")
			}
		})
	}
}

func cut(s string) string { return s[:min(len(s), 200)] }

// siteBytes are the bytes of all call sites and jump labels.
func siteBytes(tb testing.TB, tr *Tracer) (out []byte) {
	tb.Helper()
	for _, r := range tr.sites.recs {
		b := tr.bytesAt(tb, r.IP)
		out = append(out, b[:]...)
	}
	for _, p := range tr.points.list {
		for _, s := range p.sites {
			b := tr.bytesAt(tb, s.code)
			out = append(out, b[:]...)
		}
	}
	return out
}
