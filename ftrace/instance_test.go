package ftrace

import (
	"fmt"
	"strings"
	"testing"

	"kscope/kernel"
)

// TestInstances replays oracle j-instances: directories made and removed through the guest's VFS, with Linux's errors, and
// rings, filters and tracers that do not see each other.
func TestInstances(t *testing.T) {
	tr := boot(t, kernel.Config{})
	m := tr.m
	const dir = "/sys/kernel/tracing/"
	want := func(what string, got, want error) {
		t.Helper()
		if got != want && !strings.HasSuffix(fmt.Sprint(got), fmt.Sprint(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	want("mkdir foo", m.Mkdir(dir+"instances/foo"), nil)
	want("again", m.Mkdir(dir+"instances/foo"), kernel.EEXIST)
	want("mkdir a/b", m.Mkdir(dir+"instances/a/b"), kernel.ENOENT)
	want("mkdir bar", m.Mkdir(dir+"instances/bar"), nil)
	want("mkdir bar/baz", m.Mkdir(dir+"instances/bar/baz"), kernel.EPERM)
	want("mkdir xyz", m.Mkdir(dir+"xyz"), kernel.EPERM)
	want("rmdir events", m.Rmdir(dir+"events"), kernel.EPERM)
	want("rmdir nosuch", m.Rmdir(dir+"instances/nosuch"), kernel.ENOENT)
	foo, ok := tr.Instance("foo")
	if !ok || len(tr.Instances()) != 2 {
		t.Fatal("no instance foo")
	}
	for file, text := range map[string]string{"current_tracer": "nop\n", "available_tracers": "function nop\n",
		"buffer_size_kb": "1410 (expanded: 1408)\n", "tracing_on": "1\n", "trace": fmt.Sprintf(emptyTrace, "nop", "0/0"),
		"set_ftrace_filter": "#### all functions enabled ####\n"} {
		if got, err := m.ReadFile(dir + "instances/foo/" + file); err != nil || string(got) != text {
			t.Errorf("%s: %q %v", file, got, err)
		}
	}
	want("function_graph", foo.Set("function_graph"), kernel.EINVAL)
	for _, name := range []string{"saved_cmdlines", "set_graph_function", "options/trace_printk", "options/funcgraph-cpu"} {
		if _, err := foo.ReadFile(name); err != kernel.ENOENT {
			t.Errorf("%s: %v", name, err)
		}
	}
	h, err := tr.fs.Open(m.VCPU(0), "instances/foo/tracing_on", 0)
	must(t, err)
	want("busy", m.Rmdir(dir+"instances/foo"), kernel.EBUSY)
	must(t, h.Close())

	must(t, foo.Filter("vfs_open"))
	must(t, foo.Set("function"))
	must(t, tr.Filter("do_exit"))
	must(t, tr.Set("function"))
	work(t, tr)
	if a, b := foo.Text(-1), tr.Text(-1); !strings.Contains(a, ": vfs_open <-path_openat\n") || strings.Contains(b, "vfs_open") {
		t.Errorf("foo:\n%s\ntop:\n%s", a, b)
	}
	if got := mustRead(t, tr, "enabled_functions"); strings.Count(got, " (1)      \ttramp: ") != 2 {
		t.Errorf("enabled_functions:\n%s", got)
	}
	must(t, tr.Filter("vfs_open"))
	if got := mustRead(t, tr, "enabled_functions"); !strings.HasPrefix(got, "vfs_open (2)       ->arch_ftrace_ops_list_func+") {
		t.Errorf("enabled_functions:\n%s", got)
	}
	must(t, tr.Clear())
	must(t, foo.Clear())
	work(t, tr)
	if a, b := len(foo.Records(-1)), len(tr.Records(-1)); a == 0 || a != b {
		t.Errorf("%d and %d events of one function", a, b)
	}
	must(t, tr.Set("nop"))
	must(t, foo.Off())
	bar, _ := tr.Instance("bar")
	want("marker", foo.WriteFile("trace_marker", "x\n", false), kernel.EBADF)
	must(t, bar.WriteFile("trace_marker", "hello\n", false))
	if strings.Contains(tr.Text(-1), "hello") || !strings.Contains(bar.Text(-1), "hello") {
		t.Error("the mark is not in bar alone")
	}
	must(t, bar.WriteFile("buffer_size_kb", "50", false))
	if a, b := mustRead(t, bar, "buffer_size_kb"), mustRead(t, tr, "buffer_size_kb"); a != "51\n" || b == a {
		t.Errorf("sizes %q %q", a, b)
	}

	f := m.Fork(4)
	n, _ := Of(f)
	nfoo, _ := n.Instance("foo")
	must(t, nfoo.On())
	before := foo.Text(-1)
	work(t, n)
	if nfoo.Text(-1) == before || foo.Text(-1) != before {
		t.Error("the fork's instance is not its own")
	}
	for _, tr := range []*Tracer{n, tr} {
		want("rmdir", tr.m.Rmdir(dir+"instances/foo"), nil)
		if got := mustRead(t, tr, "enabled_functions"); got != "" {
			t.Errorf("enabled_functions: %s", got)
		}
		if _, ok := tr.Instance("foo"); ok {
			t.Error("foo is still there")
		}
		work(t, tr)
	}
}
