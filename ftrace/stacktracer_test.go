package ftrace

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"kscope/kernel"
)

// TestStackTracer: the deepest stack of vfs_open, in the form of oracle g-buffer; depths and sizes add up, a lesser maximum is
// beaten and a greater one is not; what function_graph has hijacked is left out, as on Linux.
func TestStackTracer(t *testing.T) {
	tr := boot(t, kernel.Config{})
	enable := func(on bool) {
		t.Helper()
		must(t, tr.m.Do("stack tracer", func(*kernel.VCPU) error { return tr.stack.set(on) }))
	}
	if got := mustRead(t, tr, "stack_trace"); !strings.Contains(got, "(0 entries)\n") || !strings.HasSuffix(got, stackTracerOff) {
		t.Errorf("before:\n%s", got)
	}
	must(t, tr.WriteFile("stack_trace_filter", "vfs_open\n", false))
	enable(true)
	if got := mustRead(t, tr, "enabled_functions"); !strings.HasPrefix(got, "vfs_open (1)      \ttramp: 0x") || !strings.Contains(got, "->stack_trace_call+0x0/") {
		t.Errorf("enabled_functions: %s", got)
	}
	work(t, tr)
	text := mustRead(t, tr, "stack_trace")
	rows := regexp.MustCompile(`(?m)^ *(\d+)\) +(\d+) +(\d+)   (\w+)\+0x[0-9a-f]+/0x[0-9a-f]+$`).FindAllStringSubmatch(text, -1)
	if len(rows) < 4 || rows[0][4] != "vfs_open" || rows[1][4] != "path_openat" || strings.Contains(text, "disabled") {
		t.Fatalf("stack_trace:\n%s", text)
	}
	num := func(s string) int { n, _ := strconv.Atoi(s); return n }
	for i, r := range rows {
		next := 0
		if i+1 < len(rows) {
			next = num(rows[i+1][2])
		}
		if num(r[1]) != i || num(r[2])-num(r[3]) != next {
			t.Errorf("row %d: %s", i, r[0])
		}
	}
	most := mustRead(t, tr, "stack_max_size")
	if most != rows[0][2]+"\n" {
		t.Errorf("stack_max_size %s of %s", most, rows[0][2])
	}
	must(t, tr.WriteFile("stack_max_size", "100000\n", false))
	work(t, tr)
	if got := mustRead(t, tr, "stack_trace"); got != text || mustRead(t, tr, "stack_max_size") != "100000\n" {
		t.Errorf("a stack that is not deeper counted:\n%s", got)
	}
	must(t, tr.WriteFile("stack_max_size", "0\n", false))
	must(t, tr.Set("function_graph"))
	work(t, tr)
	if got := mustRead(t, tr, "stack_trace"); !strings.Contains(got, "vfs_open+") || strings.Contains(got, "do_filp_open+") || strings.Contains(got, "return_to_handler") {
		t.Errorf("with function_graph:\n%s", got)
	}
	must(t, tr.Set("nop"))
	enable(false)
	if got := mustRead(t, tr, "enabled_functions"); got != "" {
		t.Errorf("enabled_functions: %s", got)
	}
	for word, want := range map[string]error{"nosuch\n": kernel.EINVAL, "vfs_read:traceoff\n": kernel.ENODEV, "vfs_read:nosuch\n": kernel.EINVAL} {
		if err := tr.WriteFile("stack_trace_filter", word, true); err != want {
			t.Errorf("%q: %v, want %v", word, err, want)
		}
	}
	if err := tr.WriteFile("stack_max_size", "x\n", false); err != kernel.EINVAL {
		t.Errorf("stack_max_size: %v", err)
	}
}
