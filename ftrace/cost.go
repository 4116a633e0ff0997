package ftrace

import "kscope/kernel"

// What tracing costs in virtual ns under overhead = "model", beyond the guest's own instructions. On real hardware a
// function event takes some 100 ns, of which the trampoline's saving and restoring is about a third; the oracle's VM (TCG)
// takes 400 to 500 ns for it, and so confirms the ratios only.
const (
	costTrampoline = 30 // entering and leaving a trampoline
	costEvent      = 70 // reserve, fill and commit one event
	costListOp     = 15 // one more op on a shared site

	// costFormat is for a byte of text that a tracefs file gives: a line of `trace` is two symbol look-ups and some ten
	// printf's, about 5 us. The oracle's VM takes 47 us for it (1.44 MB in 0.95 s), and is some 5 to 10 times slower.
	costFormat = 64
)

// Costs is ftrace's part of the table of costs.
func Costs() []kernel.Cost {
	return []kernel.Cost{
		{Name: "costTrampoline", NS: costTrampoline, What: "entering and leaving an ftrace trampoline"},
		{Name: "costEvent", NS: costEvent, What: "reserving, filling and committing one event"},
		{Name: "costListOp", NS: costListOp, What: "one more op on a shared site"},
		{Name: "costFormat", NS: costFormat, What: "a byte of text from a tracefs file"},
	}
}
