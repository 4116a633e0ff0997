module kscope

go 1.26.0

require (
	github.com/benhoyt/goawk v1.29.1 // true awk for the guest's programs, pure Go, fed by readers alone
	github.com/chzyer/readline v1.5.1 // the session's line editor: history, search and completion on every OS, pure Go
	go.starlark.net v0.0.0-20260908191801-89a6a09411d5 // the language: deterministic, sandboxed, known from Bazel
	golang.org/x/arch v0.33.0 // x86asm: the decoder that kernel/x86's compact ops and disassembly start from
	mvdan.cc/sh/v3 v3.14.1 // syntax: the parser of the guest's shell; its evaluator is ours
)

require golang.org/x/sys v0.47.0 // indirect; readline's terminal calls
