//go:build unix

package x86

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Limits of issue 2: how many times slower than qemu-user a function of benchdata/mix.c may be.
const (
	limitMix  = 6.5  // bench_kernel, the kernel mix
	limitLoop = 12.0 // every other one
)

// BenchmarkQemu is the one command that compares with qemu-user: it builds benchdata/mix.c for Linux with the flags of our image
// and, function by function, runs the same rounds under qemu-x86_64 and here, in turn, by processor time; the least of each
// counts, since other work of the host can only add. The results must be equal, and the ratios within the limits of issue 2.
func BenchmarkQemu(b *testing.B) {
	for _, tool := range []string{"gcc", "qemu-x86_64"} {
		if _, err := exec.LookPath(tool); err != nil {
			b.Skip("no ", tool, " here: ", err)
		}
	}
	prog := filepath.Join(b.TempDir(), "mix")
	gcc := exec.Command("gcc", "-std=gnu11", "-O2", "-DHOST", "-static", "-mno-red-zone", "-fno-builtin", "-fno-stack-protector",
		"-fcf-protection=none", "-fno-strict-aliasing", "-fno-tree-loop-distribute-patterns", "-fno-tree-vectorize", "-falign-functions=16",
		"-o", prog, "benchdata/mix.c")
	if out, err := gcc.CombinedOutput(); err != nil {
		b.Skipf("gcc: %v\n%s", err, out)
	}
	for i, m := range mixes {
		b.Run(m.name, func(b *testing.B) {
			rounds := m.rounds * 40
			ours, theirs := time.Duration(1<<62), time.Duration(1<<62)
			for range max(b.N, 5) {
				want, t := qemuRound(b, prog, m.name, rounds)
				theirs = min(theirs, t)
				c := benchCPUs(1, i)[0]
				c.SetReg(RDI, rounds)
				start := processorTime()
				if e := c.Run(1 << 50); e != ExitHalt {
					b.Fatal(e, c.Exc)
				}
				ours = min(ours, processorTime()-start)
				if c.Reg(RAX) != want {
					b.Fatalf("%d rounds of %s: %#x, qemu has %#x", rounds, m.name, c.Reg(RAX), want)
				}
			}
			ratio, limit := float64(ours)/float64(theirs), limitLoop
			if m.name == "kernel" {
				limit = limitMix
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(ours)/float64(rounds), "ns/round")
			b.ReportMetric(float64(theirs)/float64(rounds), "qemu-ns/round")
			b.ReportMetric(ratio, "x-slower")
			if ratio > limit {
				b.Errorf("%.1f times slower than qemu-x86_64: at most %.1f is asked", ratio, limit)
			}
		})
	}
}

// qemuRound runs one function under qemu-user.
func qemuRound(b *testing.B, prog, name string, rounds uint64) (result uint64, t time.Duration) {
	out, err := exec.Command("qemu-x86_64", prog, name, fmt.Sprint(rounds)).Output()
	if err == nil {
		_, err = fmt.Sscan(string(out), &result, &t)
	}
	if err != nil {
		b.Fatal("qemu-x86_64: ", err)
	}
	return result, t
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
