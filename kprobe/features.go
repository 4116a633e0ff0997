package kprobe

import "kscope/kernel"

// Features are what this package has of kernels later than 6.1.
func Features() []kernel.Feature { return nil }
