package builtins

import (
	"io"
	"regexp"
	"sort"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/lang"
)

// foreign is a value that no function wants.
type foreign struct{}

func (foreign) String() string        { return "<foreign>" }
func (foreign) Type() string          { return "Foreign" }
func (foreign) Freeze()               {}
func (foreign) Truth() starlark.Bool  { return true }
func (foreign) Hash() (uint32, error) { return 0, nil }

// plausible are values for parameters by their names, as "name" or, where functions differ, "function name".
var plausible = map[string]string{
	"addr": `kernel.addr("jiffies")`, "args": "[]", "argv": "[]", "begin": "None", "bits": "0", "by": `"cpu"`, "cap": "0", "cols": "None", "command": `"traceoff"`,
	"cond": "True", "cpu": "0", "cpus": "[0]", "data": `b"x"`, "default": "None", "dirfd": "-100", "doc": `""`, "div": "2", "event": "None", "fd": "0", "fd_in": "0", "fd_out": "1", "fields": "{}", "file": `"trace"`, "fmt": `""`,
	"fn": "lambda *a: None", "format": `"%d"`, "glob": `"vfs_*"`, "got": "1", "hi": "10", "keys": "[]", "line": `"p:x vfs_read"`, "lo": "0", "machine": "kernel.snapshot()",
	"name": `"x"`, "n": "1", "new": "5", "ns": "1", "offset": "0", "old": "0", "on": "True", "other": `agg.hist("o")`, "path": `"/tmp/x"`, "pattern": `"x"`, "pid": "1", "prog": `"true"`, "reg": `"di"`,
	"repl": `"x"`, "rows": "[]", "spec": `"interval:ms:1"`, "step": "1", "text": `"x"`, "to": "1", "unwanted": "2", "value": "1", "values": "[1]", "want": "1", "where": `"vfs_read"`,
	"why": `"x"`, "x": `"vfs_read"`, "extra": "1", "rule": "1", "records": "[]", "prompt": `""`, "mask": "1", "sig": "15", "ix": "0", "type": `"int"`, "retval": "0",

	"kernel.type name": `"task_struct"`, "kernel.var name": `"jiffies"`, "tracer.set name": `"nop"`, "tracer.read file": `"trace"`, "event.get name": `"sched:sched_switch"`, "event.format name": `"sched:sched_switch"`,
	"event.define name": `"my:ev"`, "event.synth name": `"synthy"`, "event.synth fields": `{"pid": "s32"}`, "export.csv data": `[[1]]`, "event.join start": `"sched:sched_waking"`, "event.join end": `"sched:sched_switch"`, "event.join on": `{"pid": "next_pid"}`, "kernel.write data": `b"\0"`, "Sys.call name": `"getpid"`, "flag.string default": "''", "flag.int default": "1", "flag.bool default": "True",
	"flag.duration default": "1", "kernel.poke data": `b""`, "kernel.rewind to": "kernel.now", "Event.hist keys": `["next_pid"]`, "Event.trigger text": `"traceoff"`, "Sys.munmap addr": "4096", "Event.untrigger text": `"traceoff"`,
}

// anyValue are the parameters that take every value.
var anyValue = map[string]bool{
	"help x": true, "dir x": true, "test.eq got": true, "test.eq want": true, "test.ne got": true, "test.ne unwanted": true, "test.true cond": true, "Agg.get default": true,
}

// also is what a call needs beside the argument that is tried.
var also = map[string]string{"kernel.inject": "nmi = True"}

// notCalled are functions that this test leaves alone, each with its reason.
var notCalled = map[string]string{
	"print": "Starlark's own", "fail": "Starlark's own", "attempt": "its arguments are another function's", "struct": "Starlark's own", "demo": "it takes nothing and prints much",
	"time": "a module", "kprobe.jprobe": "it always fails: there are none since 4.15", "Sys.exit": "it ends the task", "printf": "it takes no names", "sprintf": "it takes no names",
}

// exprOf is how a script calls a row's function; methods need an object.
func exprOf(name string) (expr string, sys bool) {
	typ, method, dotted := strings.Cut(name, ".")
	if !dotted || typ[0] >= 'a' {
		return name, false
	}
	obj := map[string]string{"Task": "kernel.task(1)", "Obj": `kernel.var("init_task").tasks`, "Machine": "kernel.fork()", "Regexp": `re("x")`, "Agg": `agg.hist("h")`,
		"On": `on("interval:ms:1", print)`, "Event": `event.get("sched:sched_switch")`, "Probe": `kprobe.attach("vfs_read")`, "Hist": `event.get("sched:sched_switch").hist(["next_pid"])`,
		"ProbeEvent": `kprobe.event("p:x vfs_read")`, "Ctx": "ctx", "Sys": "sys"}[typ]
	if method == "inc" {
		obj = `agg.count("c")`
	}
	return obj + "." + method, typ == "Ctx" || typ == "Sys"
}

// wrongCall evaluates a call; the error is as a user sees it.
func wrongCall(t *testing.T, snaps *kernel.Snapshots, call string) string {
	t.Helper()
	e := New(Config{Boot: bootForTest(snaps), Defaults: kernel.Config{CPUs: 2}, Stdout: io.Discard})
	h := lang.New(lang.Config{Tables: e.Tables(), MaxSteps: 50_000_000, Stdout: io.Discard})
	e.Attach(h)
	defer h.Close()
	_, err := h.ValueWith(call, starlark.StringDict{"FOREIGN": foreign{}})
	if err == nil {
		return ""
	}
	var out strings.Builder
	h.Report(&out, err)
	return out.String()
}

// inPlace puts a call where its object is: in a handler or in a program.
func inPlace(expr, call string) string {
	switch {
	case strings.HasPrefix(expr, "ctx."):
		return "on(\"function:vfs_read\", lambda ctx: " + call + ", limit = 1); kernel.exec(\"cat\", [\"/etc/hostname\"])"
	case strings.HasPrefix(expr, "sys."):
		return "kernel.spawn(lambda sys: " + call + ").wait(10 * ms)"
	}
	return call
}

// TestWrongArguments: whatever function is given an argument that it does not know, none where it needs one, or a value of a type that it
// cannot use, the error names the parameter and what may stand there, and points at the argument.
func TestWrongArguments(t *testing.T) {
	t.Chdir(t.TempDir())
	var snaps kernel.Snapshots
	functions, values := 0, 0
	for _, r := range lang.New(lang.Config{Tables: New(Config{}).Tables()}).Rows() {
		params, ok := lang.Params(r.Sig)
		if !ok || notCalled[r.Name] != "" {
			continue
		}
		functions++
		expr, _ := exprOf(r.Name)
		var required []string
		kwargs := false
		for _, p := range params {
			kwargs = kwargs || p.Stars == 2
			if p.Stars == 0 && !p.Optional {
				v := plausible[r.Name+" "+p.Name]
				if v == "" {
					v = plausible[p.Name]
				}
				if v == "" {
					t.Fatalf("%s: no plausible %s: add one to the table", r.Name, p.Name)
				}
				required = append(required, v)
			}
		}
		if !kwargs {
			list := strings.Join(append(required[:len(required):len(required)], "zzz = 1"), ", ")
			wantCaret(t, &snaps, expr, list, "zzz", `unexpected keyword argument "zzz"`)
		}
		if len(required) > 0 {
			if text := wrongCall(t, &snaps, inPlace(expr, expr+"()")); !strings.Contains(text, "hint: "+strings.Replace(r.Name, "Sys.", "sys.", 1)+"(") {
				t.Errorf("%s(): the hint has no signature:\n%s", expr, text)
			}
		}
		at := 0
		for _, p := range params {
			if p.Stars == 2 || anyValue[r.Name+" "+p.Name] || p.Stars == 1 && strings.HasPrefix(r.Name, "Agg.") {
				continue
			}
			values++
			args := append([]string(nil), required...)
			if more := also[r.Name]; more != "" && !strings.HasPrefix(more, p.Name+" ") && p.Name != "irq" {
				args = append(args, more)
			}
			switch {
			case p.Stars == 1:
				args = append(args, "FOREIGN")
			case p.Optional:
				args = append(args, p.Name+" = FOREIGN")
			default:
				args[at] = "FOREIGN"
				at++
			}
			wantCaret(t, &snaps, expr, strings.Join(args, ", "), "FOREIGN", "Foreign|<foreign>")
		}
	}
	if functions < 150 || values < 250 {
		t.Errorf("only %d functions and %d values were tried", functions, values)
	}
}

// wantCaret calls expr(list): the error must match and point at the text at.
func wantCaret(t *testing.T, snaps *kernel.Snapshots, expr, list, at, pattern string) {
	t.Helper()
	call := inPlace(expr, expr+"("+list+")")
	text := wrongCall(t, snaps, call)
	lines := strings.Split(text, "\n")
	first := lines[0]
	if !regexp.MustCompile(pattern).MatchString(first) {
		t.Errorf("%s: %s", call, text)
		return
	}
	for i, line := range lines {
		if caret := strings.TrimLeft(line, " "); caret == "^" && i > 0 {
			if col := len(line) - 1; !strings.HasPrefix(lines[i-1][col:], at) {
				t.Errorf("%s: the caret is not at %s\n%s", call, at, text)
			}
			return
		}
	}
	t.Errorf("%s: no caret\n%s", call, text)
}

// laterCall is a call that keeps the function F, and what has it called.
type laterCall struct{ call, run string }

var laterCalls = []laterCall{
	{`on("kprobe:vfs_read", F)`, `kernel.exec("cat", ["/etc/hostname"])`},
	{`on("kretprobe:vfs_read", F)`, `kernel.exec("cat", ["/etc/hostname"])`},
	{`on("function:vfs_read", F)`, `kernel.exec("cat", ["/etc/hostname"])`},
	{`on("function:vfs_read", print, when = F)`, `kernel.exec("cat", ["/etc/hostname"])`},
	{`on("tracepoint:sched:sched_switch", F)`, `kernel.exec("true")`},
	{`on("interval:us:10", F)`, `kernel.run(time = 1 * ms)`},
	{`on("profile:hz:5000", F)`, `kernel.run(time = 1 * ms)`},
	{`on("insn:1000", F)`, `kernel.exec("true")`},
	{`on("watch:jiffies", F)`, `kernel.exec("sleep", ["0.02"])`},
	{`on("patch", F)`, `tracer.set("function")`},
	{`on("patch_seen", F)`, `tracer.set("function")`},
	{`on("lost", F)`, `(tracer.buffer(kb = 4), tracer.set("function"), kernel.exec("ls"))`},
	{`on("panic", F)`, `(kernel.write("default_idle", b"\x0f\x0b"), kernel.exec("sleep", ["1"]))`},
	{`on("BEGIN", F)`, `None`},
	{`kernel.fork().on("BEGIN", F)`, `None`},
	{`event.get("sched:sched_switch").on(F)`, `kernel.exec("true")`},
	{`kprobe.attach("vfs_read", F)`, `kernel.exec("cat", ["/etc/hostname"])`},
	{`kprobe.attach("vfs_read", post = F)`, `kernel.exec("cat", ["/etc/hostname"])`},
	{`kprobe.attach("vfs_read", pre = F, host = True)`, `kernel.exec("cat", ["/etc/hostname"])`},
	{`kprobe.attach("vfs_read", print, when = F)`, `kernel.exec("cat", ["/etc/hostname"])`},
	{`kprobe.ret("vfs_read", F)`, `kernel.exec("cat", ["/etc/hostname"])`},
	{`kprobe.ret("vfs_read", entry = F)`, `kernel.exec("cat", ["/etc/hostname"])`},
	{`kernel.log(F)`, `fs.write("/dev/kmsg", "x")`},
	{`kernel.run(until = F)`, `None`},
	{`kernel.spawn(F)`, `kernel.run(time = 1 * ms)`},
	{`kernel.spawn(lambda sys: sys.fork(F))`, `kernel.run(time = 1 * ms)`},
	{`awk.run(rules = [(None, F)], source = "a")`, `None`},
	{`awk.run(rules = [(F, None)], source = "a")`, `None`},
}

// TestKeptFunctions: a function that is kept for later is refused at once when it cannot be called so; a built-in one that fails when it is
// called has no place of its own, and its error is shown where it was given away.
func TestKeptFunctions(t *testing.T) {
	var snaps kernel.Snapshots
	fail := starlark.NewBuiltin("breaks", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		return nil, lang.Errorf("breaks: it is broken")
	})
	for _, k := range laterCalls {
		e := New(Config{Boot: bootForTest(&snaps), Defaults: kernel.Config{CPUs: 2}, Stdout: io.Discard})
		h := lang.New(lang.Config{Tables: e.Tables(), MaxSteps: 50_000_000, Stdout: io.Discard})
		e.Attach(h)
		call := strings.Replace(k.call, "F", "breaks", 1)
		_, err := h.ValueWith(call+"; "+k.run, starlark.StringDict{"breaks": fail})
		var out strings.Builder
		h.Report(&out, err)
		line := call + "; " + k.run + "\n"
		want := line + "  " + strings.Repeat(" ", strings.Index(call, "breaks")) + "^\n"
		text := out.String()
		if strings.Contains(call, "sys.fork") { // its place is within the program's lambda
			text = strings.ReplaceAll(text, "\n    ", "\n  ")
		}
		if !strings.HasPrefix(text, "error: breaks: it is broken\n") || !strings.Contains(text, want) || strings.Contains(text, "builtin") {
			t.Errorf("%s; %s:\n%s", call, k.run, text)
		}
		h.Close()
		call = strings.Replace(k.call, "F", "lambda a, b, c, d: 0", 1)
		text = wrongCall(t, &snaps, call)
		if strings.Contains(k.call, "sys.fork") {
			continue // that is called when the program runs
		}
		want = "  " + call + "\n" + strings.Repeat(" ", 2+strings.Index(call, "lambda a")) + "^\n"
		if strings.Contains(call, "rules") { // the parameter is a list
			want = "  " + call + "\n" + strings.Repeat(" ", 2+strings.Index(call, "[(")) + "^\n"
		}
		if !strings.Contains(text, "lambda takes 4 arguments, but is called with ") || !strings.Contains(text, want) {
			t.Errorf("%s:\n%s", call, text)
		}
	}
}

// TestKindsTellWhatTheyHave: what on()'s documentation says that ctx has of its own in each kind of spec is what it has.
func TestKindsTellWhatTheyHave(t *testing.T) {
	var snaps kernel.Snapshots
	ctxNames := map[string]bool{}
	for _, r := range ctxRows() {
		ctxNames[r.name] = true
	}
	seen := 0
	for _, k := range append(laterCalls[:len(laterCalls):len(laterCalls)], laterCall{`on("END", F)`, "None"}) {
		spec, ok := strings.CutPrefix(k.call, `on("`)
		if !ok || strings.Contains(k.call, "when") {
			continue
		}
		kind, _, _ := strings.Cut(strings.TrimSuffix(spec, `", F)`), ":")
		var own []string
		note := starlark.NewBuiltin("note", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if own != nil {
				return starlark.None, nil
			}
			own = []string{}
			switch x := args[0].(type) {
			case *moment:
				for _, f := range x.fields {
					own = append(own, f.name)
				}
				if x.ctx == nil {
					own = append(own, "now", "insns")
				}
				if x.ctx != nil {
					if _, err := x.Attr("comm"); err != nil {
						t.Errorf("%s: %v", kind, err)
					}
				}
			case *probeCtx:
				for _, name := range x.has() {
					if name == "retval" || name == "duration" || name == "data" {
						own = append(own, name)
					}
				}
			}
			return starlark.None, nil
		})
		e := New(Config{Boot: bootForTest(&snaps), Defaults: kernel.Config{CPUs: 2}, Stdout: io.Discard})
		h := lang.New(lang.Config{Tables: e.Tables(), MaxSteps: 50_000_000, Stdout: io.Discard})
		e.Attach(h)
		_, _ = h.ValueWith(strings.Replace(k.call, "F", "note", 1)+"; "+k.run, starlark.StringDict{"note": note})
		h.Close()
		for _, row := range onKinds() {
			if row.name != kind {
				continue
			}
			want := strings.Fields(row.has)
			sort.Strings(want)
			sort.Strings(own)
			if seen++; own == nil || strings.Join(own, " ") != strings.Join(want, " ") {
				t.Errorf("%s: ctx has %q of its own, its row says %q", kind, own, want)
			}
		}
	}
	if seen < len(onKinds()) {
		t.Errorf("only %d kinds were seen", seen)
	}
}
