package user

import "testing"

// cpuTime is not known here.
func cpuTime(*testing.B) func() { return func() {} }
