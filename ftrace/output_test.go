package ftrace

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"kscope/ftrace/event"
	"kscope/internal/cputime"
	"kscope/kernel"
)

// put writes a record into a CPU's ring.
func (t *Tracer) put(cpu int, ts uint64, n int, fill func(d []byte)) {
	d, ok := t.cpu[cpu].ring.Reserve(ts, n)
	if !ok {
		panic("full")
	}
	fill(d)
	t.cpu[cpu].ring.Commit()
}

func (t *Tracer) putFunction(cpu int, ts uint64, pid int32, flags, preempt uint8) {
	t.put(cpu, ts, event.FunctionSize, func(d []byte) {
		event.PutFunction(d, event.Header{Type: event.IDFunction, PID: pid, Flags: flags, Preempt: preempt}, 0xffffffff8134cc50, 0xffffffff8134d82b)
	})
}

func (t *Tracer) putMark(cpu int, ts uint64, pid int32, text string) {
	t.put(cpu, ts, event.PrintSize(len(text)), func(d []byte) {
		event.PutPrint(d, event.Header{Type: event.IDPrint, PID: pid}, 0x51, []byte(text))
	})
}

func commOf(s string) (c [16]byte) {
	copy(c[:], s)
	return c
}

// set writes a file; the tracer has no machine under it.
func (t *Tracer) set(tb testing.TB, path, text string) {
	tb.Helper()
	must(tb, t.fs.WriteFile(nil, path, []byte(text), false))
}

// TestLinuxText prints the two events of oracle a-function ("display options of the function tracer, on one and the same
// buffer") and holds every line against the transcript.
func TestLinuxText(t *testing.T) {
	raw, err := os.ReadFile("../../shared/oracle/truth/a-function.out")
	if err != nil {
		t.Skip("needs the oracle's transcripts beside the repository: ", err)
	}
	truth := string(raw)
	tr := someTracer(2)
	tr.current = &tracers[functionTracer]
	tr.cmdline.save(savedTask{135, commOf("dd")})
	tr.putFunction(0, 6056794647, 135, 0, 0)
	tr.putFunction(0, 6057042611, 135, 0, 0)
	for _, c := range []struct{ after, set, back string }{
		{"status=none; echo 0 > tracing_on\n$ tail -2 trace\n", "", ""},
		{"$ echo noprint-parent > trace_options; tail -2 trace; echo print-parent > trace_options\n", "noprint-parent", "print-parent"},
		{"$ echo sym-offset > trace_options; tail -2 trace; echo nosym-offset > trace_options\n", "sym-offset", "nosym-offset"},
		{"$ echo sym-addr > trace_options; tail -2 trace; echo nosym-addr > trace_options\n", "sym-addr", "nosym-addr"},
		{"$ echo nocontext-info > trace_options; tail -2 trace; echo context-info > trace_options\n", "nocontext-info", "context-info"},
		{"$ echo verbose > trace_options; tail -2 trace; echo noverbose > trace_options\n", "verbose", "noverbose"},
		{"$ echo raw > trace_options; tail -2 trace; echo noraw > trace_options\n", "raw", "noraw"},
		{"$ echo hex > trace_options; tail -2 trace; echo nohex > trace_options\n", "hex", "nohex"},
	} {
		_, want, ok := strings.Cut(truth, c.after)
		if !ok {
			t.Fatalf("no %q in the transcript", c.after)
		}
		want = want[:strings.Index(want, "\n$ ")+1]
		if c.set != "" {
			tr.set(t, "trace_options", c.set)
		}
		lines := strings.SplitAfter(tr.Text(-1), "\n")
		if got := strings.Join(lines[len(lines)-3:], ""); got != want {
			t.Errorf("%s:\n%q, Linux\n%q", c.set, got, want)
		}
		if c.back != "" {
			tr.set(t, "trace_options", c.back)
		}
	}
	head := func(after string, skip int) string {
		_, s, ok := strings.Cut(truth, after)
		if !ok {
			t.Fatalf("no %q in the transcript", after)
		}
		lines := strings.SplitAfter(s, "\n")
		return strings.Join(lines[:skip], "")
	}
	fix := func(s string) string { return strings.Replace(s, "2/2 ", "5/5 ", 1) } // the transcript's buffer held five events
	tr.set(t, "trace_options", "noirq-info")
	if want := head("$ echo noirq-info > trace_options; cat trace | head -12; echo irq-info > trace_options\n", 6); !strings.HasPrefix(fix(tr.Text(-1)), want) {
		t.Errorf("noirq-info:\n%s", tr.Text(-1))
	}
	tr.set(t, "trace_options", "irq-info")
	tr.set(t, "options/record-tgid", "1")
	want := head("$ echo 1 > options/record-tgid; head -14 trace; echo 0 > options/record-tgid\n", 12)
	if got := fix(tr.Text(-1)); !strings.HasPrefix(got, want) || !strings.Contains(got, "\n              dd-135     (-------) [000] .....     6.056795: vfs_read <-ksys_read\n") {
		t.Errorf("record-tgid:\n%s\nLinux\n%s", got, want)
	}
	tr.set(t, "options/record-tgid", "0")
	if got, want := mustReadNil(t, tr, "trace_options"), strings.ReplaceAll(strings.TrimSuffix(head("cat trace_options | tr '\\n' ' '; echo\n", 1), " \n"), " ", "\n")+"\n"; got != want {
		t.Errorf("trace_options:\n%s\nLinux\n%s", got, want)
	}
}

func mustReadNil(tb testing.TB, t *Tracer, path string) string {
	tb.Helper()
	b, err := t.fs.ReadFile(nil, path)
	must(tb, err)
	return string(b)
}

// TestLines: names, flags, clocks, losses, order of CPUs.
func TestLines(t *testing.T) {
	tr := someTracer(4)
	tr.cmdline.save(savedTask{100, commOf("sixteen_chars_ok")})
	tr.putMark(1, 1_000_000_500, 100, "first\n")
	tr.putMark(0, 1_000_000_500, 0, "same time, lower CPU")
	tr.putMark(3, 1_000_000_499, 1234567, "a\nb\n")
	tr.putFunction(2, 99_999_000_002_000, 7, event.IRQsOff|event.HardIRQ|event.NeedResched|event.PreemptResched, 0x12)
	want := "" +
		"           <...>-1234567 [003] .....     1.000000: tracing_mark_write: a\nb\n" +
		"          <idle>-0       [000] .....     1.000001: tracing_mark_write: same time, lower CPU\n" +
		"sixteen_chars_ok-100     [001] .....     1.000001: tracing_mark_write: first\n" +
		"           <...>-7       [002] dNh21 99999.000002: vfs_read <-ksys_read\n"
	text := tr.Text(-1)
	if got := text[strings.LastIndex(text, "|         |\n")+12:]; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	tr.set(t, "options/printk-msg-only", "1")
	if got := tr.Text(3); !strings.HasSuffix(got, "|\na\nb\n") {
		t.Errorf("printk-msg-only: %q", got)
	}
	tr.set(t, "options/printk-msg-only", "0")
	tr.clock = 2
	if got := tr.Text(3); !strings.HasSuffix(got, "-1234567 [003] .....   1000000499: tracing_mark_write: a\nb\n") {
		t.Errorf("counter: %q", got)
	}
}

// TestOverruns: trace says where a CPU's buffer starts, trace_pipe how many were lost.
func TestOverruns(t *testing.T) {
	tr := someTracer(2)
	tr.putFunction(1, 5, 1, 0, 0)
	for i := range 1000 {
		tr.putFunction(0, uint64(10+i), 1, 0, 0)
	}
	text := tr.Text(-1)
	if !strings.Contains(text, "# entries-in-buffer/entries-written: 276/1001   #P:2\n") ||
		strings.Count(text, "##### CPU 0 buffer started ####\n           <...>-1       [000]") != 1 || strings.Contains(text, "CPU 1 buffer") {
		t.Errorf("trace:\n%.2000s", text)
	}
	pipe := mustReadNil(t, tr, "trace_pipe")
	if !strings.HasPrefix(pipe, "           <...>-1       [001] .....     0.000000: vfs_read <-ksys_read\nCPU:0 [LOST 725 EVENTS]\n") ||
		strings.Count(pipe, "\n") != 277 {
		t.Errorf("trace_pipe:\n%.300s", pipe)
	}
	if got := mustReadNil(t, tr, "trace_pipe"); got != "" {
		t.Errorf("again: %.100s", got)
	}
	stats := tr.Stats(0)
	if stats.Entries != 0 || stats.Read != 275 || stats.Bytes != 0 {
		t.Errorf("%+v", stats)
	}
}

// TestChunks: small reads are filled, those of the buffer's size and more give whole lines; a reader goes on with what comes later.
func TestChunks(t *testing.T) {
	tr := someTracer(2)
	for i := range 120 {
		tr.putFunction(i%2, uint64(1000*i), int32(i), 0, 0)
	}
	want := tr.Text(-1)
	for _, size := range []int{10, 100, 1000, 4096, 100000} {
		h, err := tr.fs.Open(nil, "trace", 0)
		must(t, err)
		var got []byte
		for buf := make([]byte, size); ; {
			n, err := h.Read(buf, uint64(len(got)))
			must(t, err)
			if n == 0 {
				break
			}
			if n > seqSize || size >= seqSize && buf[n-1] != '\n' || size < 4000 && n != size && len(got)+n != len(want) {
				t.Fatalf("read of %d gives %d bytes, the last %q", size, n, buf[n-1])
			}
			got = append(got, buf[:n]...)
		}
		if string(got) != want {
			t.Errorf("reads of %d differ", size)
		}
		if size == 4096 {
			tr.putFunction(0, 1<<40, 5, 0, 0)
			buf := make([]byte, size)
			if n, _ := h.Read(buf, uint64(len(got))); !strings.Contains(string(buf[:n]), "  1099.511628: vfs_read") {
				t.Errorf("what came later: %q", buf[:n])
			}
			want = tr.Text(-1)
		}
		must(t, h.Close())
	}
}

// TestPipe: an open pipe holds the tracer, ends when tracing is off and something was read, and else waits.
func TestPipe(t *testing.T) {
	tr := someTracer(1)
	h, err := tr.fs.Open(nil, "per_cpu/cpu0/trace_pipe", 0)
	must(t, err)
	buf := make([]byte, 4096)
	if _, err := h.Read(buf, 0); err != kernel.EAGAIN || !tr.wait.pending {
		t.Errorf("empty: %v, a waiter: %v", err, tr.wait.pending)
	}
	if err := tr.fs.WriteFile(nil, "current_tracer", []byte("function"), false); err != kernel.EBUSY {
		t.Errorf("switching under a pipe: %v", err)
	}
	tr.on = false
	if _, err := h.Read(buf, 0); err != kernel.EAGAIN {
		t.Errorf("off, nothing read yet: %v", err)
	}
	tr.putMark(0, 1, 1, "x")
	if n, err := h.Read(buf, 0); n == 0 || err != nil {
		t.Errorf("an event: %d %v", n, err)
	}
	if n, err := h.Read(buf, 0); n != 0 || err != nil || !pipeReady(h) {
		t.Errorf("the end: %d %v", n, err)
	}
	must(t, h.Close())
	if tr.pipes != 0 {
		t.Error("closed, and still held")
	}
}

// TestErrorLog: the last eight, with a caret under the place.
func TestErrorLog(t *testing.T) {
	tr := someTracer(1)
	for i := range 9 {
		tr.LogError(5317262999+uint64(i), "trace_kprobe", "Invalid maxactive number", "r0 vfs_read", 1)
	}
	got := mustReadNil(t, tr, "error_log")
	const one = "[    5.317263] trace_kprobe: error: Invalid maxactive number\n  Command: r0 vfs_read\n            ^\n"
	if got != strings.Repeat(one, 8) {
		t.Errorf("%s", got)
	}
	tr.set(t, "error_log", "")
	if got := mustReadNil(t, tr, "error_log"); got != "" {
		t.Errorf("cleared: %q", got)
	}
}

// BenchmarkLines reads the file trace with a million events, as a cat does: what is read is not held.
func BenchmarkLines(b *testing.B) {
	const events = 1_000_000
	tr := someTracer(4)
	must(b, tr.resize(12<<10, -1))
	for i := range events {
		tr.putFunction(i%4, uint64(1000*i), int32(i%50), 0, 0)
	}
	buf, lines := make([]byte, 64<<10), 0
	b.ReportAllocs()
	done := cputime.Report(b)
	for b.Loop() {
		h, err := tr.fs.Open(nil, "trace", 0)
		must(b, err)
		lines = 0
		for {
			n, err := h.Read(buf, 1)
			must(b, err)
			if n == 0 {
				break
			}
			lines += bytes.Count(buf[:n], []byte("\n"))
		}
		must(b, h.Close())
	}
	done()
	if lines < events {
		b.Fatalf("%d lines", lines)
	}
	b.ReportMetric(float64(b.N*lines)/b.Elapsed().Seconds()/1e6, "Mlines/s")
}
