package lang

import (
	"regexp"
	"slices"
	"strings"
)

// newcomerHint is what somebody who comes from Python, bpftrace, awk, C or a shell writes first, and what stands in its place here.
type newcomerHint struct {
	msg  *regexp.Regexp // that the message must match
	line *regexp.Regexp // that the line must match; nil: any
	hint string
}

// shellHint is for who types a command of the guest's shell.
const shellHint = "sh(\"ls /\") runs a line in the guest's shell; kscope sh is a session of that shell"

// blockHint is for who does not indent.
const blockHint = "indent the lines of a block by blanks"

// newcomerHints are the hints by the form of what was written; the first that fits counts. What the parser says begins with "got".
func newcomerHints() []newcomerHint {
	re := regexp.MustCompile
	syntax := re(`^(got |unexpected input character|invalid int literal)`)
	return []newcomerHint{
		{syntax, re(`^\s*(try\s*:|except\b|raise\b|finally\s*:)`), "Starlark has no exceptions: attempt(fn, args...) gives .ok, .value and .error, and fail(text) raises"},
		{syntax, re(`^\s*(import|from)\b`), "json, math, time and re are there without; load(\"file.star\", \"name\") takes names from another file"},
		{syntax, re(`^\s*class\b`), "Starlark has no classes: struct(name = value) makes an object"},
		{syntax, re(`\b[frb]?f["']`), "Starlark has no f-strings: sprintf(\"%d of %s\", n, name)"},
		{syntax, re(`^\s*(kprobe|kretprobe|tracepoint|interval|profile|uprobe|fentry|fexit|kfunc|k|kr|t|function)\s*:\s*\w`), "on(\"kprobe:vfs_read\", lambda ctx: calls.inc(ctx.comm)) is bpftrace's kprobe:vfs_read { @calls[comm] = count() }"},
		{syntax, re(`^\s*(BEGIN|END)\s*\{`), "on(\"BEGIN\", fn) and on(\"END\", fn); of text and records, awk.run(begin = fn, rules = [(re(\"x\"), fn)], end = fn)"},
		{syntax, re(`^\s*/.*/\s*\{|^\s*\{\s*print`), "awk.run(rules = [(re(\"vfs_\"), lambda r: print(r.f[1]))], source = tracer.records()); sh(\"awk '...' file\") is the guest's awk"},
		{syntax, re(`@\w*(\[[^]]*\])?\s*(=|\+|$)`), "agg.count(\"x\").inc(key) is bpftrace's @x[key] = count(); agg has sum, avg, min, max, stats, hist, lhist too"},
		{syntax, re(`\bon\(\s*\w+\s*:`), "a spec is a string: on(\"kprobe:vfs_read\", fn)"},
		{syntax, re(`\b\d+(\.\d+)?(ns|us|ms|s|sec|m)\b`), "times are ints in ns: 10 * ms, 5 * us, 1 * s"},
		{syntax, re(`^\s*printf?\s+["'\w]`), "print and printf are functions: print(\"hello\", x), printf(\"%d\\n\", n)"},
		{syntax, re(`^\s*assert\b`), "test.true(cond, \"why\") and test.eq(got, want) assert; fail(text) ends the script"},
		{syntax, re(`^\s*del\b`), "d.pop(key) takes a key out of a dict, l.pop(i) an element out of a list"},
		{syntax, re(`^\s*(global|nonlocal)\b`), "a function cannot assign to the script's variables: let it change an aggregation, a dict or a list of the script's"},
		{syntax, re(`^\s*with\b`), "Starlark has no with: what a script arms vanishes at its end, or by .close()"},
		{syntax, re(`\b(yield|async|await)\b`), "Starlark has no generators: return a list"},
		{syntax, re(`^\s*help\s+\w`), "help(\"kernel\"), or kernel?"},
		{syntax, re(`^\s*(switch|match|case)\b`), "write if x == 1: ... elif x == 2: ... else: ..."},
		{syntax, re(`\belse\s+if\b|\belseif\b|\belsif\b`), "write elif"},
		{syntax, re(`\blambda\b[^:]*:\s*(return|if|for|while|\w+\s*=[^=])`), "a lambda is one expression: lambda ctx: n.inc(ctx.comm); def has statements"},
		{syntax, re(`^\s*for\s*\(`), "write for i in range(10): ..."},
		{syntax, re(`^\s*(if|while)\b.*\)\s*\{|^\s*\}`), "a block begins with a colon, and its lines are indented"},
		{syntax, re(`^\s*def\b.*\(.*(:\s*\w+.*\)|\)\s*->)`), "Starlark has no type annotations: def f(ctx): ..."},
		{syntax, re(`^\s*(function|func|fn|fun)\b`), "def f(x): ... defines a function"},
		{syntax, re(`\+\+|--\s*($|[;)])`), "write x += 1"},
		{syntax, re(`&&|\|\||^\s*!\s*\w+\s*$|[ (]!\w|[^!=<>]!\(`), "write and, or, not"},
		{syntax, re(`\S\s*\?.*:`), "write a if cond else b"},
		{syntax, re(`:=|^\s*(let|var|const|local|my)\s+\w+\s*=`), "x = 1 makes a variable"},
		{syntax, re(`\*\*`), "math.pow(x, 2), or 1 << n"},
		{syntax, re(`\$\w*`), "variables have no $: awk's $1 is r.f[1] in awk.run; $retval and $arg1 stand in lines of kprobe.event"},
		{syntax, re(`\b(is|is not)\b`), "write == None for is None"},
		{re(`^got '='`), re(`\w\s*=\s*\w+\s*=[^=]`), "one assignment in a statement: x = 1; y = 1, or x, y = 1, 1"},
		{syntax, re(`^\s*!|^\s*(ls|cat|cd|ps|echo|mount|grep|head|tail|dmesg|uname)\s+[-/\w.]`), shellHint},
		{re(`^got (newline|end of file|identifier|.*, want indent)`), re(`:\s*(#.*)?$`), blockHint},
		{re(`, want indent`), nil, blockHint},
		{re(`^got (identifier|string literal)`), re(`["']\s+["']`), "texts are joined by +"},
		{re(`^invalid int literal`), nil, "octal numbers begin with 0o: 0o755"},

		{re(`^unknown conversion %`), nil, "% has no widths or flags: sprintf(\"%5d %08x\", a, b) and printf have"},
		{re(`^format spec features not supported`), nil, "format has no widths or flags: sprintf(\"%5d %08x\", a, b) has"},
		{re(`^unhandled index operation builtin_function`), nil, "this is a function: call it, as in kernel.tasks()[0]"},
		{re(`^builtin_function_or_method value is not iterable|^builtin_function_or_method has no `), nil, "this is a function: call it, as in kernel.tasks()"},
		{re(`^invalid call of non-function \(`), nil, "this is a value and no function: write it without ()"},
		{re(`^int has no \.(ns|us|ms|s|seconds|nanoseconds|microseconds|milliseconds) `), nil, "times are ints in ns: t // us, t // ms"},
		{re(`^key .* not in dict`), nil, "d.get(key, 0) gives 0 then; agg.count(name).inc(key) counts without a first value"},
		{re(`^dict has no \.(has_key|contains)`), nil, "write key in d"},
		{re(`^dict has no \.`), nil, "d[\"name\"] is a dict's value; struct(name = value) has attributes"},
		{re(`^list has no \.(add|push)`), nil, "l.append(x)"},
		{re(`has no \.(length|size) `), nil, "len(x)"},
		{re(`^unknown (binary op: (Obj|\w+ \S+ Obj)|unary op: \S+ Obj)|cannot convert Obj to |^(Obj \S+|\w+ [<>]=?) (int|Obj) not implemented`), nil, "o.value() is an object's number or text; fields that are numbers are so by themselves"},
		{re(`^unknown binary op: string \+ `), nil, "str(n) makes a text of it; print(a, b) and sprintf(\"%s %d\", a, b) take both"},
		{re(`^unknown binary op: \w+ \+ string`), nil, "str(n) makes a text of it, int(s) a number"},
		{re(`^local variable .* referenced before assignment`), nil, "a function cannot assign to the script's variables: let it change an aggregation (agg.count), a dict or a list of the script's"},
		{re(`^can't assign to \.current field of module`), nil, "tracer.set(\"function\") sets it"},
		{re(`^can't assign to \.(\w+) field of module`), nil, "a module's values are read; its functions change things: help(\"tracer\")"},
	}
}

// newcomerNames are the names of other languages and tools, and what is here in their place.
func newcomerNames() map[string]string {
	const ctx = "a handler's ctx has it: on(\"kprobe:vfs_read\", lambda ctx: print(ctx.%))"
	names := map[string]string{
		"exit": "Ctrl-D leaves a session; a script ends at its last line, or by fail(text)",
		"open": "fs.read(path) and fs.write(path, text) are the guest's files; the host's cannot be reached", "input": "flag.string(name, default) takes what the command line says behind --",
		"isinstance": "write type(x) == \"string\"", "round": "math.round(x)", "sum": "agg.sum(name) adds up by key; a loop adds up a list",
		"pow": "math.pow(x, 2)", "map": "write [f(x) for x in l]", "filter": "write [x for x in l if cond(x)]; tracer.filter(\"vfs_*\") chooses functions",
		"globals": "dir() lists the names", "vars": "dir(x) lists the attributes", "null": "None", "nil": "None", "NULL": "None; an address that is null is 0", "true": "True", "false": "False",
		"random": "nothing is random here: kernel.boot(seed = n) chooses another interleaving", "os": "fs is the guest's files, sh() its shell", "subprocess": "kernel.exec(\"ls\", [\"/\"]) runs a program of the guest",
		"sys": "a program's function gets it: kernel.spawn(lambda sys: sys.write(1, \"hello\\n\")); a script's arguments are flag.args", "argparse": "flag.string(\"fn\", \"vfs_read\", \"function to trace\"), flag.int, flag.bool, flag.duration",
		"sleep": "kernel.run(time = 10 * ms) lets the machine run so long", "usleep": "kernel.run(time = 10 * us) lets the machine run so long", "exec": "kernel.exec(\"ls\", [\"/\"])", "spawn": "kernel.spawn(\"cat\", [\"/etc/hostname\"])",
		"run": "kernel.run(time = 10 * ms)", "boot": "kernel.boot(cpus = 2)", "system": "sh(\"ls /\") runs a line in the guest's shell", "function": "in quotes: tracer.set(\"function\"), on(\"function:vfs_*\", fn)",
		"function_graph": "in quotes: tracer.set(\"function_graph\")", "tracepoint": "on(\"tracepoint:sched:sched_switch\", fn)", "kretprobe": "on(\"kretprobe:vfs_read\", fn), kprobe.ret(\"vfs_read\", fn)", "interval": "on(\"interval:ms:10\", fn)",
		"profile": "on(\"profile:hz:99\", fn)", "uprobe": "there are no uprobes: user programs have no code of their own here", "trace": "tracer.show() prints the trace, tracer.text() gives it", "trace_pipe": "tracer.pipe()",
		"BEGIN": "on(\"BEGIN\", fn)", "END": "on(\"END\", fn)", "NR": "r.nr in awk.run's functions", "NF": "r.nf in awk.run's functions", "FS": "awk.run(fs = \":\")", "length": "len(x)", "substr": "s[2:5]", "split": "s.split(\",\")",
		"gsub": "re(\"a+\").sub(\"b\", s)", "toupper": "s.upper()", "tolower": "s.lower()", "strlen": "len(s)", "ksym": "kernel.sym(addr)", "kaddr": "kernel.addr(\"vfs_read\")", "clear": "agg.count(\"x\").clear()", "zero": "agg.count(\"x\").zero()",
		"join": "\",\".join(list); event.join pairs trace events", "sqrt": "math.sqrt(x)", "floor": "math.floor(x)", "quantize": "agg.hist(\"x\").add(value, key)", "quantiles": "agg.quantiles(\"x\").add(value, key)",
		"assert": "test.eq(got, want), test.true(cond, \"why\"), test.fails(fn, \"re\")",
		"count":  "agg.count(\"x\").inc(key)",
	}
	names["quit"] = names["exit"]
	for _, kind := range []string{"avg", "stats", "hist", "lhist"} {
		names[kind] = "agg." + kind + "(\"x\", ...).add(value, key)"
	}
	for name, is := range map[string]string{
		"comm": "comm", "pid": "pid", "tid": "pid", "cpu": "cpu", "args": "args", "retval": "retval", "kstack": "stack()", "curtask": "task", "func": "where", "probe": "where", "reg": "regs.di", "regs": "regs", "ctx": "comm",
		"nsecs": "now", "elapsed": "now", "arg0": "arg(0)", "arg1": "arg(1)", "arg2": "arg(2)", "arg3": "arg(3)", "arg4": "arg(4)", "arg5": "arg(5)", "duration": "duration",
	} {
		names[name] = strings.ReplaceAll(ctx, "%", is)
	}
	for _, name := range []string{"ls", "cat", "cd", "ps", "echo", "pwd", "grep", "awk_", "mount", "dmesg", "uname", "head", "tail", "wc", "top", "modprobe"} {
		names[name] = shellHint
	}
	return names
}

// hintFor finds the hint for a message about a line; "" when there is none.
func hintFor(msg, line string) string {
	if name, ok := strings.CutPrefix(msg, "undefined: "); ok {
		return newcomerNames()[name]
	}
	hints := newcomerHints()
	i := slices.IndexFunc(hints, func(h newcomerHint) bool {
		return h.msg.MatchString(msg) && (h.line == nil || h.line.MatchString(line))
	})
	if i < 0 {
		return ""
	}
	return hints[i].hint
}
