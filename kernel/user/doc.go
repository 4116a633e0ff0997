// Package user runs programs that are written in Go (or, through package builtins, in Starlark) as real tasks of the
// guest: each has a pid, a comm, an address space and enters the kernel by a real syscall instruction.
//
// Behind every program is the same small machine code, the stub (kernel/guest/user/stub.S), which only executes the
// system calls it is told to:
//
//	_start:  vmcall                 "fresh exec"            next:  if r15 == 1, touch [rdi, rsi) for writing
//	         …                                                     else syscall
//	                                                        vmcall  with the result in rax; jmp next
//
// The flow:
//  1. At the first vmcall after an execve the Host reads argv, envp and the auxiliary vector from the user stack, finds the
//     Program by the executed file's name and starts its Main as a coroutine (iter.Pull).
//  2. A call of Sys yields a request: system call number, arguments, bytes to place in user memory, ranges to read back.
//     Proc.step writes the bytes (after a round of the stub's touch loop where a page is absent or copy-on-write), loads
//     the registers and lets the stub go on.
//  3. At the next vmcall the result goes back into the coroutine.
//  4. execve that succeeds, exit and death by a signal stop the coroutine: the pending call panics with a sentinel that only
//     the top of the coroutine recovers, and so does every later call. Nothing else in a program may wait.
//
// Programs charge user time for work that the emulator does not see: perCall for each system call and perByte for bytes
// they move through Go memory (see Sys.Work), so that long computations can be preempted.
//
// A Proc keeps the results of all its calls. A program is a function of them, so a fork of the machine (Host.Fork) feeds
// them to a fresh coroutine when the copy first runs: nothing of a coroutine is ever copied. While that happens
// Sys.Replaying is true and programs mute their effects on the host.
//
// The commands (Commands in program.go; a file for each, or for a family) print what Debian 12's coreutils 9.1, grep 3.8, sed
// 4.9, findutils 4.9, diffutils 3.8, util-linux 2.38 and procps 4.0 print in the C locale: the rows of testdata/commands are
// held against the host's tools, and run as guest tasks. What they all use is in cmd.go (options, messages), input.go (lines),
// execvp.go, sysfile.go and package re (POSIX regular expressions). An option that is not there is a wrong use, never ignored.
// They differ in how they get there: no loader and locale calls at the start, newfstatat where coreutils has statx, one write
// for a whole message, no fadvise64; --help is our own. awk is goawk, kept from the host's
// clock and from Go's map order (awkrewrite.go); files, commands and gawk's functions are rewritten to ours (awksource.go). Signals are caught by one handler, in the stub, that
// notes them (Sys.Caught).
//
// All methods belong to the machine's goroutine. `go` statements are banned in this package, and programs must not call
// Run, Do or anything else that drives the machine.
package user
