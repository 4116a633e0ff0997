package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An exported image is a machine of its own: kernel and modules, the same bytes each time; what is no image is refused.
func TestImageExport(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	script := file("m.star")
	os.WriteFile(script, []byte("kernel.load_module(\"kscope_test\")\nprint(kernel.modules[0].name)\n"), 0o644)
	os.WriteFile(file("text"), []byte("no image\n"), 0o644)
	os.WriteFile(file("zip"), []byte("PK\x03\x04 and no more"), 0o644)
	run := func(args ...string) (int, string) {
		opts, err := parseArgs(args)
		if err != nil {
			return 2, err.Error()
		}
		var out bytes.Buffer
		p := &program{opts: opts, stdout: &out, stderr: &out, snaps: newMachines()}
		return p.dispatch(), out.String()
	}
	for _, name := range []string{"k.image", "k2.image", "k.elf"} {
		if status, out := run("image", "export", file(name)); status != 0 || !strings.Contains(out, ": image ") {
			t.Errorf("%d %s", status, out)
		}
	}
	a, _ := os.ReadFile(file("k.image"))
	b, _ := os.ReadFile(file("k2.image"))
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Errorf("two exports differ: %d and %d bytes", len(a), len(b))
	}
	for _, c := range []struct {
		image  string
		status int
		out    string
	}{{"k.image", 0, "kscope_test\n"}, {"k.elf", 0, "kscope_test\n"}, {"text", 2, "it is no guest image"}, {"zip", 2, "zip: not a valid zip file"}, {"none", 2, "no such file"}} {
		if status, out := run("--image", file(c.image), "run", script); status != c.status || !strings.Contains(out, c.out) {
			t.Errorf("%s: %d %s", c.image, status, out)
		}
	}
}
