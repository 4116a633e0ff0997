//go:build unix

package cputime

import "syscall"

// Now is the processor's time that the process has used, in ns.
func Now() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano() + u.Stime.Nano())
}
