// Package cputime measures benchmarks by the processor's time, for hosts that are shared with others.
package cputime

import "testing"

// Report starts to count; the function that it returns reports cpu-ns/op, at the benchmark's end.
func Report(b *testing.B) func() {
	start := Now()
	return func() { b.ReportMetric((Now()-start)/float64(b.N), "cpu-ns/op") }
}
