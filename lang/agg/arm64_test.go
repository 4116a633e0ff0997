package agg

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestARM64 runs the tables of testdata as arm64 code under qemu: the same bytes. It builds the standard library for arm64, so it
// runs only when asked: KSCOPE_ARM64=1 go test ./lang/agg.
func TestARM64(t *testing.T) {
	qemu, err := exec.LookPath("qemu-aarch64")
	if err != nil || os.Getenv("KSCOPE_ARM64") == "" || runtime.GOARCH == "arm64" {
		t.Skip("needs KSCOPE_ARM64=1 and qemu-aarch64")
	}
	exe := filepath.Join(t.TempDir(), "agg.test")
	build := exec.Command("go", "test", "-c", "-o", exe, ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	out, err := exec.Command(qemu, exe, "-test.v", "-test.run", "TestPrint|TestExamples|TestBuckets|TestWide").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
