//go:build unix

package kprobe

import "syscall"

// cpuTime is the processor time of this process in ns: the host may be shared.
func cpuTime() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano() + u.Stime.Nano())
}
