package kprobe

import "kscope/kernel"

// Costs is kprobe's part of the table of costs.
func Costs() []kernel.Cost {
	return []kernel.Cost{
		{Name: "costFtrace", NS: costFtrace, What: "a probe at a function's entry, through ftrace"},
		{Name: "costInt3", NS: costInt3, What: "a probe by int3, stepped"},
		{Name: "costOptimized", NS: costOptimized, What: "a probe by a jump"},
		{Name: "costReturn", NS: costReturn, What: "a return probe's return"},
	}
}
