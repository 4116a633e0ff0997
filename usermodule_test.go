package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
	"kscope/kernel/user/sh"
)

// userModuleScript uses what testdata/module's two modules bring, and takes them away while it is in use.
const userModuleScript = `
cd /sys/kernel/tracing
insmod /sample.ko period=5
echo 1 > events/sample/enable
insmod /sample_user.ko
cat /proc/sample /dev/sample
ls -l /dev/sample | cut -c 1-30
echo 99 > /dev/sample; echo x > /dev/sample
cat /proc/sample
cut -d' ' -f1,3,4 /proc/modules
sleep 0.05
grep -o 'sample_tick: n=[56] who=timer\|sample_show\|thread at 1' trace | sort -u
tail -n 1 events/sample/sample_tick/format
exec 5< /proc/sample; exec 6< /dev/sample
rmmod sample; rmmod sample_user; rmmod sample
exec 6<&-
rmmod sample && cat <&5
cat /proc/sample /dev/sample
grep -c sample_tick trace
ls events | grep sample
cat /proc/modules
dmesg | grep -o 'sample: .*'
`

const userModuleOut = `ticks 1
note 42
note 7
misc
crw------- 1 root root 10, 127
/m.sh: line 8: echo: write error: Invalid argument
ticks 1
note 42
note 7
note 99
sample_user 0 -
sample 1 sample_user,
sample_tick: n=5 who=timer
sample_tick: n=6 who=timer
thread at 1
print fmt: "n=%d who=%s", REC->n, __get_str(who)
rmmod: ERROR: Module sample is in use by: sample_user
rmmod: ERROR: Module sample is in use
cat: -: Input/output error
cat: /proc/sample: No such file or directory
cat: /dev/sample: No such file or directory
0
sample: loading out-of-tree module taints kernel.
sample: loaded, period 5
sample: bye
`

// TestUserModule: a module as strangers write it for Linux, with the headers of modules/include: thread, timer, /proc, /dev, parameter,
// export, trace_printk, TRACE_EVENT. It cannot go while it is in use, and what is open in /proc does not hinder it.
func TestUserModule(t *testing.T) {
	for _, tool := range []string{"gcc", "ld", "objcopy", "nm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs ", tool)
		}
	}
	dir := t.TempDir()
	files := append(sh.Files(), user.File{Path: "m.sh", Mode: 0o100755, Data: []byte(userModuleScript)})
	for _, name := range []string{"sample_trace.h", "sample.c", "sample_user.c"} {
		src, err := os.ReadFile(filepath.Join("testdata/module", name))
		if err != nil {
			t.Fatal(err)
		}
		c := filepath.Join(dir, name)
		if err := os.WriteFile(c, src, 0o644); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".h" {
			continue
		}
		if out, err := exec.Command("go", "run", "./kernel/guest/gen", "-root", "kernel/guest", "-m", c).CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		ko, err := os.ReadFile(c[:len(c)-1] + "ko")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, user.File{Path: name[:len(name)-1] + "ko", Mode: 0o100644, Data: ko})
	}
	m, err := new(kernel.Snapshots).Machine(kernel.Config{MaxInsns: 1e9, Initrd: user.Initrd(files...)}, parts)
	if err != nil {
		t.Fatal(err)
	}
	host, _ := kernel.PartOf[*user.Host](m)
	defer host.Close()
	var out bytes.Buffer
	pid, err := host.Exec("sh", []string{"/m.sh"}, kernel.Streams{Out: &out, Err: &out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Wait(pid); err != nil {
		t.Error(err)
	}
	if out.String() != userModuleOut {
		t.Errorf("%s\nwant\n%s", out.String(), userModuleOut)
	}
}
