package ftrace

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/kernel/guest"
)

// TestImageFormats holds the format file of every event of the kernel's own, and of ext4's, against real Linux's: id, fields, print fmt.
func TestImageFormats(t *testing.T) {
	tr := withPoints(t, kernel.Config{})
	must(t, tr.m.WriteFile("/ext4.ko", guest.Module("ext4"), false))
	must(t, tr.m.LoadModule("/ext4.ko", ""))
	raw, err := os.ReadFile("testdata/event-formats-6.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, part := range strings.Split(string(raw), "### events/")[1:] {
		name, text, _ := strings.Cut(part, "/format\n")
		want[name] = text
	}
	seen := 0
	for _, ev := range tr.TraceEvents() {
		name := ev.System + "/" + ev.Name
		text, ok := want[name]
		if !ok {
			if ev.System != "ftrace" && ev.System != "syscalls" && ev.System != "raw_syscalls" {
				t.Errorf("%s is no event of Linux 6.1", name)
			}
			continue
		}
		seen++
		if got := mustRead(t, tr, "events/"+name+"/format"); got != text {
			t.Errorf("%s:\n%swant\n%s", name, got, text)
		}
	}
	if seen < 110 {
		t.Errorf("only %d events", seen)
	}
}

// TestImageEvents: the events of timers, memory, tasks, signals, modules, interrupts and faults happen where they must and
// read as Linux prints them; afterwards every jump label is a nop again.
func TestImageEvents(t *testing.T) {
	for _, overhead := range []kernel.Overhead{kernel.OverheadModel, kernel.OverheadNone} {
		tr := withPoints(t, kernel.Config{Overhead: overhead})
		must(t, tr.WriteFile("buffer_size_kb", "4096", false))
		for _, s := range []string{"timer", "kmem", "task", "signal", "irq_vectors", "exceptions", "power", "filemap", "printk", "sched"} {
			must(t, tr.WriteFile("events/"+s+"/enable", "1", false))
		}
		work(t, tr)
		must(t, tr.m.Remove("/file")) // its page is freed; the stack of a task that ends is kept for the next
		must(t, tr.m.Hot(0b1111, 5))
		tr.m.Run(kernel.Until{Time: tr.m.Now() + 20e6})
		must(t, tr.WriteFile("set_event", "", false))
		for _, tp := range tr.points.list {
			for _, s := range tp.sites {
				if b := tr.bytesAt(t, s.code); b != nop5 {
					t.Errorf("off: %s % x", tp.name, b)
				}
			}
		}
		text := tr.Text(-1)
		for _, re := range []string{
			`: hrtimer_start: hrtimer=\S+ function=tick_sched_timer expires=\d+ softexpires=\d+ mode=\S+ was_armed=[01]\n`,
			`: hrtimer_expire_entry: hrtimer=\S+ function=tick_sched_timer now=\d+\n`,
			`: hrtimer_cancel: hrtimer=\S+\n`,
			`: tick_stop: success=1 dependency=NONE\n`,
			`: kmem_cache_alloc: call_site=\w+\+0x\w+/0x\w+ ptr=\S+ bytes_req=\d+ bytes_alloc=\d+ gfp_flags=GFP_KERNEL\S* node=-1 accounted=false\n`,
			`: kmem_cache_free: call_site=\w+\+0x\w+/0x\w+ ptr=\S+ name=\w+\n`,
			`: kmalloc: call_site=\w+\+0x\w+/0x\w+ ptr=\S+ bytes_req=\d+ bytes_alloc=\d+ gfp_flags=\S+ node=-1 accounted=false\n`,
			`: kfree: call_site=\w+\+0x\w+/0x\w+ ptr=\S+\n`,
			`: mm_page_alloc: page=\S+ pfn=0x\w+ order=0 migratetype=\d gfp_flags=\S+\n`,
			`: mm_page_free: page=\S+ pfn=0x\w+ order=\d\n`,
			`: task_newtask: pid=\d+ comm=\S+ clone_flags=\w+ oom_score_adj=0\n`,
			`: task_rename: pid=\d+ oldcomm=\S+ newcomm=\S+ oom_score_adj=0\n`,
			`: local_timer_entry: vector=236\n`,
			`: local_timer_exit: vector=236\n`,
			`: cpu_idle: state=1 cpu_id=\d\n`,
			`: cpu_idle: state=4294967295 cpu_id=\d\n`,
			`: sched_stat_runtime: comm=\S+ pid=\d+ runtime=\d+ \[ns\] vruntime=\d+ \[ns\]\n`,
		} {
			if !regexp.MustCompile(re).MatchString(text) {
				t.Errorf("no %s", re)
			}
		}
		if t.Failed() {
			t.Logf("%.12000s", text)
			return
		}
	}
}
