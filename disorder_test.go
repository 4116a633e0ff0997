package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	disorderSeeds = flag.Uint64("disorder-seeds", 1, "seeds of TestAnyBytes")
	disorderFrom  = flag.Uint64("disorder-from", 0, "the first of them")
)

// disorderScript writes to files in the order that the test gives, works in between, resets, and compares every file with what it
// was. Files whose reading consumes, waits, or shows times are only written.
const disorderScript = `
kernel.boot(cpus = 2)
DIRS = "/sys/kernel/tracing /sys/kernel/debug/kprobes /proc/sys/kernel/ftrace_enabled /proc/sys/kernel/stack_tracer_enabled /proc/sys/debug/kprobes-optimization"
def files():
    return sh("find " + DIRS + " -type f", capture = True).out.splitlines()
def texts():
    out = {}
    for f in files():
        name = f.split("/")[-1]
        if not ("trace_pipe" in name or name.endswith("_raw") or name in ("stats", "format", "hist_debug")):
            r = attempt(fs.read, f)
            out[f] = r.value if r.ok else str(r.error)
    return out
ERRNOS = ["No such file or directory", "Invalid argument", "Value too large for defined data type", "Operation not permitted", "Device or resource busy",
    "File exists", "Bad file descriptor", "Numerical result out of range", "Cannot allocate memory", "Invalid or incomplete multibyte or wide character",
    "Cannot assign requested address", "No such device", "Argument list too long", "Permission denied", "No such process", "Bad address", "No space left on device"]
before = texts()
mkdirs = [attempt(fs.mkdir, "/sys/kernel/tracing/instances/" + n) for n in ("i", "j")]
EVENTS = [f for f in files() if "/events/" in f and f.count("/") > 5 and "/kprobes/" not in f]
ALL = [f for f in files() if f not in EVENTS] + EVENTS[SEED % 29::29]    # of the single events' files, others with each seed
counts = {}
errors = {}
def count(k):
    counts[k] = counts.get(k, 0) + 1
def write(f, text, append):
    r = attempt(fs.write, f, text, append = append)
    count("taken" if r.ok else "refused")
    if not r.ok:
        errors[str(r.error).split("\n")[0].split(": ")[-1]] = True
    if not r.ok and "BUG" in str(r.error):
        fail(f, text, r.error)
def work():
    attempt(fs.write, "/sys/kernel/tracing/tracing_on", "1")
    sh("cat /etc/passwd > /tmp/x; sleep 0.0002; modprobe kscope_test; rmmod kscope_test", capture = True)
for step, (i, text, octal, append, known) in enumerate(STEPS):
    f = "/sys/kernel/tracing/" + known if known else ALL[i % len(ALL)]
    if octal:
        sh("printf '%s' %s '%s'" % (text, ">>" if append else ">", f), capture = True)
        count("bytes")
    else:
        write(f, text, append)
    if step % 40 == 39:
        work()
    if step % 60 == 59:
        attempt(fs.rmdir, "/sys/kernel/tracing/instances/j")
        attempt(fs.mkdir, "/sys/kernel/tracing/instances/j")
    if step % 97 == 96:
        reset()
for f in DIRS.split(" ")[2:]:
    write(f, "1", False)
write("/sys/kernel/debug/kprobes/enabled", "1", False)
reset()
after = texts()
write("/proc/sys/kernel/stack_tracer_enabled", "0", False)
for f in before:
    if f not in after:
        print(f, "is gone")
    elif after[f] != before[f] and not f.startswith("/proc/") :
        print(f, repr(after[f][:200]), "was", repr(before[f][:200]))
for f in after:
    if f not in before:
        print(f, "is left")
print("done" if len(ALL) > 500 and counts["taken"] > 30 and counts["refused"] > 50 and counts["bytes"] > 10 else counts)
strange = [e for e in errors if e not in ERRNOS]
if strange:
    print("no errnos:", strange)
`

// disorderTexts are texts that some file knows, and those of kprobe_events, triggers and synthetic events; disorderKnown say where.
var disorderTexts = []string{"0\n", "1\n", "2\n", "", "100\n", "-1\n", "x\n", "function\n", "function_graph\n", "nop\n", "vfs_*\n", "vfs_read vfs_open\n",
	"!vfs_read\n", "*\n", ":mod:kscope_test\n", "vfs_write:traceoff:3\n", "vfs_read:stacktrace\n", "vfs_open:snapshot:1\n", "vfs_read:dump\n",
	"vfs_open:enable_event:sched:sched_switch\n", "!*:traceoff:0\n", "global\n", "counter\n", "raw\n", "nohash-ptr\n", "block\n", "sym-userobj\n",
	"nooverwrite\n", "latency-format\n", "func_stack_trace\n", "record-tgid\n", "sched:sched_switch\n", "!sched:*\n", "raw_syscalls\n",
	"prev_pid == 0\n", "id & 1 ||\n", "f\n", "1,2\n", "100 7 3\n", "7\n", "5000\n", "\x01\x00\x00\x00abcdefgh", "p:a vfs_read\n", "r:b vfs_open ret=$retval\n",
	"-:a\n", "p vfs_read+5 x=%di\n", "stacktrace:3\n", "!stacktrace\n", "hist:keys=common_pid\n", "s u64 x; char y[8]\n", "!s\n", "p:g/e $nosuch\n"}

var disorderKnown = [][2]string{{"kprobe_events", "p:a vfs_read\nr:b vfs_open\n"}, {"events/kprobes/a/enable", "1"}, {"events/kprobes/b/trigger", "stacktrace:2"},
	{"kprobe_events", ""}, {"dynamic_events", "-:a"}, {"dynamic_events", "p:c/d vfs_write n=%dx"}, {"events/c/d/filter", "n > 3"}, {"events/c/d/enable", "1"},
	{"dynamic_events", ""}, {"synthetic_events", "s u64 x; pid_t p"}, {"events/synthetic/s/enable", "1"}, {"events/enable", "1"}, {"events/enable", "0"},
	{"events/sched/sched_switch/trigger", "hist:keys=next_comm:vals=hitcount"}, {"events/sched/sched_waking/trigger", "traceoff:1 if prio < 5"},
	{"events/sched/sched_switch/trigger", "!hist:keys=next_comm:vals=hitcount"}, {"current_tracer", "function"}, {"current_tracer", "function_graph"},
	{"function_profile_enabled", "1"}, {"instances/i/current_tracer", "function"}, {"instances/i/set_ftrace_filter", "vfs_*"}, {"instances/j/events/sched/enable", "1"},
	{"instances/i/events/sched/sched_switch/trigger", "snapshot"}, {"instances/j/trace_marker", "x"}, {"instances/i/buffer_size_kb", "9"}, {"current_tracer", "nop"}}

// TestAnyBytes writes any bytes to any file of tracefs and of debugfs's kprobes, in any order, instances, triggers, dynamic events and
// sysctls among them: each write is taken or is an errno, and reset() then brings back what was there at boot, to the byte.
func TestAnyBytes(t *testing.T) {
	snaps := testMachines
	for seed := *disorderFrom; seed < *disorderFrom+*disorderSeeds; seed++ {
		r := rand.New(rand.NewPCG(seed, 9))
		var steps strings.Builder
		fmt.Fprintf(&steps, "SEED = %d\nSTEPS = [\n", seed)
		for i := range 300 {
			text, known := disorderTexts[r.IntN(len(disorderTexts))], ""
			switch r.IntN(6) {
			case 0:
				k := disorderKnown[r.IntN(len(disorderKnown))]
				known, text = k[0], k[1]+"\n"
			case 1:
				b := make([]byte, r.IntN(12))
				for i := range b {
					b[i] = byte(r.Uint32())
				}
				text = string(b)
			}
			lit, oct := fmt.Sprintf("%q", text), ""
			if strings.ContainsFunc(text, func(c rune) bool { return c >= 0x80 || c < ' ' && c != '\n' }) {
				for _, c := range []byte(text) { // no Starlark string: printf of the guest's shell writes it
					oct += fmt.Sprintf("\\%03o", c)
				}
				lit = fmt.Sprintf("%q", oct)
			}
			fmt.Fprintf(&steps, "    (%d, %s, %v, %v, %q),\n", i+r.IntN(4096), lit, starlarkBool(oct != ""), starlarkBool(r.IntN(2) == 0), known)
		}
		steps.WriteString("]\n")
		file := filepath.Join(t.TempDir(), "disorder.star")
		if err := os.WriteFile(file, []byte(steps.String()+disorderScript), 0o644); err != nil {
			t.Fatal(err)
		}
		opts, err := parseArgs([]string{"run", "--max-memory=16G", file})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		p := &program{opts: opts, stdout: &out, stderr: &out, snaps: snaps}
		if status := p.dispatch(); status != 0 || out.String() != "done\n" {
			t.Errorf("seed %d: status %d\n%.3000s", seed, status, out.String())
		}
	}
}

func starlarkBool(b bool) string { return map[bool]string{true: "True", false: "False"}[b] }
