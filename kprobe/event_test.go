package kprobe

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"kscope/kernel"
)

// write writes a file of tracefs.
func (k *Kprobes) write(tb testing.TB, file, text string) {
	tb.Helper()
	must(tb, k.t.WriteFile(file, text, false))
}

func (k *Kprobes) add2(tb testing.TB, lines ...string) {
	tb.Helper()
	for _, l := range lines {
		if err := k.t.WriteFile("kprobe_events", l+"\n", true); err != nil {
			log, _ := k.t.ReadFile("error_log")
			tb.Fatalf("%s: %v\n%s", l, err, log)
		}
	}
}

func (k *Kprobes) read(tb testing.TB, file string) string {
	tb.Helper()
	s, err := k.t.ReadFile(file)
	must(tb, err)
	return s
}

// TestEvents: the seed's two events, with what the trace shows.
func TestEvents(t *testing.T) {
	k := boot(t, kernel.Config{})
	k.add2(t, "p:myprobe do_filp_open dfd=%di:s32 comm=$comm name=+0(+0(%si)):string", "r:myret do_filp_open ret=$retval", "p:mid do_filp_open+5 a=%si:x32 s=$stack0:symbol i=%ip:symbol")
	k.write(t, "events/kprobes/enable", "1")
	work(t, k)
	text := k.read(t, "trace")
	for _, re := range []string{
		`kscoped-\d+ +\[00\d\] \.{5} +\d+\.\d{6}: myprobe: \(do_filp_open\+0x0/0x[0-9a-f]+\) dfd=-100 comm="kscoped" name="/file"\n`,
		`myret: \([\w.]+\+0x[0-9a-f]+/0x[0-9a-f]+ <- do_filp_open\) ret=0xffff888[0-9a-f]+\n`,
		`\.\.Zff +\d+\.\d{6}: mid: \(do_filp_open\+0x5/0x[0-9a-f]+\) a=0x[0-9a-f]+ s=arch_rethook_trampoline\+0x0/0x5 i=do_filp_open\+0x6/0x`,
	} {
		if !regexp.MustCompile(re).MatchString(text) {
			t.Errorf("no %s in\n%s", re, text)
		}
	}
	if err := k.t.WriteFile("kprobe_events", "-:myprobe\n", true); err == nil {
		t.Error("an enabled event was removed")
	}
	if err := k.t.WriteFile("kprobe_events", "\n", false); err == nil {
		t.Error("enabled events were removed")
	}
	k.write(t, "events/kprobes/enable", "0")
	t.Log(k.read(t, "kprobe_profile"), k.List(), k.read(t, "enabled_functions"), text)
	k.write(t, "kprobe_events", "\n")
	if _, err := k.t.FS().List("events/kprobes"); err == nil {
		t.Error("events/kprobes is still there")
	}
	if strings.Contains(k.read(t, "trace"), "my") {
		t.Error("the ring holds events that are gone")
	}
}

// TestSymAddr: option sym-addr adds addresses to the places, but not to arguments (oracle).
func TestSymAddr(t *testing.T) {
	k := boot(t, kernel.Config{})
	k.add2(t, "p:a do_filp_open s=%ip:symbol", "r:b do_filp_open")
	k.write(t, "events/kprobes/enable", "1")
	k.write(t, "options/sym-addr", "1")
	work(t, k)
	text := k.read(t, "trace")
	for _, re := range []string{
		`a: \(do_filp_open\+0x0/0x\w+ <ffffffff8\w{7}>\) s=do_filp_open\+0x1/0x\w+\n`,
		`b: \(\w+\+0x\w+/0x\w+ <ffffffff8\w{7}> <- do_filp_open <ffffffff8\w{7}>\)\n`,
	} {
		if !regexp.MustCompile(re).MatchString(text) {
			t.Errorf("no %s in\n%s", re, text)
		}
	}
}

// TestFormat: oracle c-kprobe's print fmt and packed fields, with every type.
func TestFormat(t *testing.T) {
	k := boot(t, kernel.Config{})
	k.add2(t, `p:t do_filp_open a=%ax:u8 b=%ax:s8 c=%ax:x8 d=%dx:u16 e=%dx:s32 f=%dx:x64 g=%dx h=$stack0 i=$stack j=$comm k=@jiffies:u64 l=$arg1 m=$arg3:u64 n=+0($stack1):x32 o=\5 p=%dx:b4@4/32 q=+0(%di):x32[2] r=%si:symbol s=%ip:symbol t=\"str":string`)
	const fields = `	field:unsigned long __probe_ip;	offset:8;	size:8;	signed:0;
	field:u8 a;	offset:16;	size:1;	signed:0;
	field:s8 b;	offset:17;	size:1;	signed:1;
	field:u8 c;	offset:18;	size:1;	signed:0;
	field:u16 d;	offset:19;	size:2;	signed:0;
	field:s32 e;	offset:21;	size:4;	signed:1;
	field:u64 f;	offset:25;	size:8;	signed:0;
	field:u64 g;	offset:33;	size:8;	signed:0;
	field:u64 h;	offset:41;	size:8;	signed:0;
	field:u64 i;	offset:49;	size:8;	signed:0;
	field:__data_loc char[] j;	offset:57;	size:4;	signed:1;
	field:u64 k;	offset:61;	size:8;	signed:0;
	field:u64 l;	offset:69;	size:8;	signed:0;
	field:u64 m;	offset:77;	size:8;	signed:0;
	field:u32 n;	offset:85;	size:4;	signed:0;
	field:u64 o;	offset:89;	size:8;	signed:0;
	field:u32 p;	offset:97;	size:4;	signed:0;
	field:u32 q[];	offset:101;	size:8;	signed:0;
	field:u64 r;	offset:109;	size:8;	signed:0;
	field:u64 s;	offset:117;	size:8;	signed:0;
	field:__data_loc char[] t;	offset:125;	size:4;	signed:1;

print fmt: "(%lx) a=%u b=%d c=0x%x d=%u e=%d f=0x%Lx g=0x%Lx h=0x%Lx i=0x%Lx j=\"%s\" k=%Lu l=0x%Lx m=%Lu n=0x%x o=0x%Lx p=%u q={0x%x,0x%x} r=%pS s=%pS t=\"%s\"", REC->__probe_ip, REC->a, REC->b, REC->c, REC->d, REC->e, REC->f, REC->g, REC->h, REC->i, __get_str(j), REC->k, REC->l, REC->m, REC->n, REC->o, REC->p, REC->q[0], REC->q[1], REC->r, REC->s, __get_str(t)
`
	if got := k.read(t, "events/kprobes/t/format"); !strings.HasSuffix(got, fields) {
		t.Errorf("format:\n%s", got)
	}
	k.write(t, "events/kprobes/t/enable", "1")
	work(t, k)
	re := ` t: \(do_filp_open\+0x0/0x[0-9a-f]+\) a=\d+ b=-?\d+ c=0x[0-9a-f]+ d=\d+ e=-?\d+ f=0x[0-9a-f]+ g=0x[0-9a-f]+ h=0xffffffff81[0-9a-f]+ i=0xffff[0-9a-f]+ j="kscoped" k=\d+ l=0xffff[0-9a-f]+ m=\d+ n=0x[0-9a-f]+ o=0x5 p=\d+ q=\{0x[0-9a-f]+,0x[0-9a-f]+\} r=0x[0-9a-f]+ s=do_filp_open\+0x1/0x[0-9a-f]+ t="str"\n`
	if text := k.read(t, "trace"); !regexp.MustCompile(re).MatchString(text) {
		t.Errorf("trace:\n%s", text)
	}
}

// TestSymstr: oracle 6.1.0-57: what symstr takes, and the NUL that it forgets: a string behind it runs on in it. An event's arguments
// take 3072 bytes at most.
func TestSymstr(t *testing.T) {
	k := boot(t, kernel.Config{})
	big := "p:big vfs_read"
	for i := range 10 {
		big += fmt.Sprintf(" a%d=+0(%%di):x64[64]", i+1)
	}
	for _, c := range []struct {
		line string
		pos  int
		msg  message
		err  kernel.Errno
	}{
		{`p:a vfs_read s=\5:symstr`, 18, msgBadSymstr, kernel.EINVAL},
		{"p:a vfs_read s=$stack0:symstr[2]", 23, msgBadString, kernel.EINVAL},
		{"p:a vfs_read s=+0($stack):symstr[2]", 26, msgBadString, kernel.EINVAL},
		{"p:a vfs_read s=$comm:symstr", 0, "", kernel.EINVAL},
		{big, 132, msgTooBig, kernel.E2BIG},
	} {
		_, err := k.parseLine(fields(c.line))
		if err == nil || err.Msg != string(c.msg) || err.Err != c.err || c.msg != "" && err.Pos != c.pos {
			t.Errorf("%s: %v", c.line, err)
		}
	}
	k.add2(t, "p:s do_filp_open a=@vfs_read:symstr b=%ip:symstr", "p:t do_filp_open s=+0($stack):symstr t=$stack0:symstr n=+0(+0($arg2)):string u=$arg1:symstr", "r:r do_filp_open s=$retval:symstr")
	k.write(t, "events/kprobes/enable", "1")
	work(t, k)
	text := k.read(t, "trace")
	const sym = `[a-z_.]+\+0x\w+/0x\w+`
	for _, re := range []string{
		` s: \(do_filp_open\+0x0/0x\w+\) a="0x\w+do_filp_open\+0x1/0x\w+" b="do_filp_open\+0x1/0x\w+"\n`,
		` t: \(do_filp_open\+0x0/0x\w+\) s="` + sym + sym + `/file" t="` + sym + `/file" n="/file" u="0x\w+"\n`,
		` r: \(` + sym + ` <- do_filp_open\) s="0xffff\w+"\n`,
	} {
		if !regexp.MustCompile(re).MatchString(text) {
			t.Errorf("no %s in\n%s", re, text)
		}
	}
}

// TestStackOption: option stacktrace, as the oracle's 6.1 has it: an entry's stack begins with the function, a return's with the caller; at
// a push of one byte, where regs->ip is behind it already, the unwinder loses its way, by int3 and by jump.
func TestStackOption(t *testing.T) {
	for _, jump := range []bool{false, true} {
		k := boot(t, kernel.Config{})
		fn := k.pushesFirst(t, "do_filp_open", "file_open_name", "path_openat", "vfs_open", "do_dentry_open", "vfs_read", "vfs_write")
		k.SetOptimization(jump)
		k.add2(t, "p:e "+fn, "p:m "+fn+"+5", "r:r "+fn)
		k.write(t, "events/kprobes/enable", "1")
		k.pass(t, optimised)
		k.write(t, "options/stacktrace", "1")
		work(t, k)
		text := k.read(t, "trace")
		flags := map[bool]string{false: `\.\.Zff`, true: `\.{5}`}[jump]
		for _, re := range []string{
			` e: \(.*\n.*<stack trace>\n => ` + fn + `\n => \w+\n => \w+\n`,
			flags + ` +\S+: m: \(.*\n.*<stack trace>\n => ` + fn + `\n(?: => .*\n)? +\S+-`,
		} {
			if !regexp.MustCompile(re).MatchString(text) {
				t.Errorf("jump %v: no %s in\n%s", jump, re, text)
			}
		}
		m := regexp.MustCompile(` r: \((\w+)\+\S+ <- ` + fn + `\)\n.*<stack trace>\n => (\w+)\n => \w+\n`).FindStringSubmatch(text)
		if m == nil || m[1] != m[2] {
			t.Errorf("jump %v: %q in\n%s", jump, m, text)
		}
	}
}

// pushesFirst is a function whose first instruction is a push of one byte, where a jump fits.
func (k *Kprobes) pushesFirst(t *testing.T, names ...string) string {
	for _, name := range names {
		at := k.addr(t, name) + 5
		in, err := k.decode(at)
		if _, why := k.optimizable(at); err == nil && why == "" && in.size == 1 && in.bytes[0]&0xf8 == 0x50 {
			return name
		}
	}
	t.Fatal("no function begins with a push of one byte")
	return ""
}
