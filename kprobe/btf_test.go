package kprobe

import (
	"regexp"
	"strings"
	"testing"

	"kscope/kernel"
)

// TestByName: arguments by name with their types, fields through pointers, $arg*; all of it errors of 6.1 without the feature.
func TestByName(t *testing.T) {
	k := boot(t, kernel.Config{Features: featureProbeArgs})
	k.add2(t, "p:a do_filp_open dfd name=pathname->name:string op->open_flag flags=op->open_flag:x32", "p:all do_filp_open $arg*",
		"p:deep vfs_read file->f_path.dentry count pos=+0(pos):u64")
	if got, want := k.EventsText(), `p:kprobes/a do_filp_open dfd=dfd name=pathname->name:string arg3=op->open_flag flags=op->open_flag:x32
p:kprobes/all do_filp_open dfd=dfd pathname=pathname op=op
p:kprobes/deep vfs_read arg1=file->f_path.dentry count=count pos=+0(pos):u64
`; got != want {
		t.Errorf("%s", got)
	}
	k.write(t, "events/kprobes/enable", "1")
	cats(t, k, 1)
	text := k.read(t, "trace")
	for _, re := range []string{
		`a: \(do_filp_open\+0x0/0x\w+\) dfd=-100 name="/etc/passwd" arg3=\d+ flags=0x\w+`,
		`all: \(do_filp_open\+0x0/0x\w+\) dfd=-100 pathname=0xffff\w+ op=0xffff\w+`,
		`deep: \(vfs_read\+0x0/0x\w+\) arg1=0xffff888\w+ count=\d+ pos=\d+`,
	} {
		if !regexp.MustCompile(re).MatchString(text) {
			t.Errorf("no %s in\n%s", re, text)
		}
	}
	for _, c := range []struct {
		line string
		pos  int
		msg  message
	}{
		{"p do_filp_open nosuch", 15, msgNoBTFArg},
		{"p do_filp_open a=op->nosuch", 21, msgNoBTFField},
		{"p do_filp_open a=dfd->x", 22, msgNoPtrStrct},
		{"p do_filp_open a=op.x", 20, msgNoSupDat},
		{"p do_filp_open a=op-x", 19, msgBadHyphen},
		{"r do_filp_open $arg*", 15, msgNoFentry},
		{"p do_filp_open $arg*:u8", 15, msgBadVarArgs},
		{"p do_filp_open+5 dfd", 17, msgNoSupBTF},
	} {
		_, err := k.parseLine(fields(c.line))
		if err == nil || err.Pos != c.pos || err.Msg != string(c.msg) {
			t.Errorf("%s: %v", c.line, err)
		}
	}
	k = boot(t, kernel.Config{})
	for _, line := range []string{"p do_filp_open dfd", "p do_filp_open $arg*", "p do_filp_open a=op->open_flag"} {
		if err := k.t.WriteFile("kprobe_events", line+"\n", true); err == nil || !strings.Contains(err.Error(), "Invalid argument") {
			t.Errorf("6.1 takes %s: %v", line, err)
		}
	}
}
