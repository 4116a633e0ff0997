package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRelink: a function that nobody has named in Go shows in the trace as soon as the guest's image has it. The guest is
// built again with one more function between vfs_read and rw_verify_area.
func TestRelink(t *testing.T) {
	if os.Getenv("KSCOPE_HOST_TOOLS") == "" {
		t.Skip("builds the guest with gcc: KSCOPE_HOST_TOOLS=1")
	}
	for _, tool := range []string{"gcc", "ld", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s to build the guest with", tool)
		}
	}
	guest, out := filepath.Join(t.TempDir(), "guest"), t.TempDir()
	if err := os.CopyFS(guest, os.DirFS("kernel/guest")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(guest, "fs/read_write.c")
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const (
		fn     = "\nssize_t vfs_read(struct file *"
		verify = "ret = rw_verify_area(READ, file, pos, count);"
		added  = "\nstatic noinline int brand_new_step(struct file *file, const loff_t *pos, size_t count)\n{\n" +
			"\tint ret = rw_verify_area(READ, file, pos, count);\n\n\tbarrier();\n\treturn ret;\n}\n" // no tail call
	)
	head, tail, ok := strings.Cut(string(src), fn)
	if !ok || !strings.Contains(tail, verify) {
		t.Fatal("read_write.c has no vfs_read as this test knows it")
	}
	tail = strings.Replace(tail, verify, "ret = brand_new_step(file, pos, count);", 1)
	if err := os.WriteFile(file, []byte(head+added+fn+tail), 0o644); err != nil {
		t.Fatal(err)
	}
	image := filepath.Join(out, "vmlinux")
	gen := exec.Command("go", "run", "./kernel/guest/gen", "-root", guest, "-o", out, "-elf", image)
	if text, err := gen.CombinedOutput(); err != nil {
		t.Fatalf("building the guest: %v\n%s", err, text)
	}
	script := filepath.Join(out, "read.star")
	os.WriteFile(script, []byte(`tracer.filter("*_step", "rw_verify_area")
tracer.set("function")
kernel.exec("cat", ["/etc/hostname"])
tracer.show()
`), 0o644)
	var stdout, stderr bytes.Buffer
	if status := run([]string{"--image", image, "run", script}, os.Stdin, &stdout, &stderr); status != 0 {
		t.Fatalf("exit status %d: %s", status, stderr.String())
	}
	for _, want := range []string{": brand_new_step <-vfs_read\n", ": rw_verify_area <-brand_new_step\n"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the trace lacks %q:\n%s", want, stdout.String())
		}
	}
}
