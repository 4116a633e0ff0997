// Package x86 executes x86-64 machine code for one virtual CPU at a time.
//
// It knows no kernel and no tracing: the machine drives each CPU with Run and acts on the Exit it returns.
//
// The flow:
//  1. Run (run.go) finds the block at RIP: in the jump cache, the code cache (cache.go), or by decoding it.
//  2. The decoder (decode.go: x86asm and what it lacks) reads a block; lowering (optable.go, lower*.go) makes it two
//     lists of uops (uop.go): precise ones, and fast ones with fused compares, superinstructions and no dead flags.
//  3. exec (zz_exec_gen.go) runs the fast uops of linked blocks. Whatever is not plain, a TLB miss or a store to code say,
//     goes to the uop's slow function (zz_slow_gen.go, slow_*.go, system.go, access.go) and comes back. On linux/amd64 hosts
//     blocks that run often become host code instead (jit*.go), with the same results to the last bit.
//  4. Where the budget ends inside a block, the precise uops run up to the exact instruction; the next Run goes on there.
//  5. An Exit (api.go) tells the machine what happened; Deliver and Interrupt enter the guest's handlers (trap.go).
//
// The generated files come from gen, one table of snippets for both paths. flags.go has the lazy flags, window.go the
// fetch window that makes cross-modification of code real, state.go forks and snapshots.
//
// All CPUs of one machine run on one goroutine, so that plain read-modify-write is atomic. Machines are independent
// and may run in parallel; forks of one machine share decoded code that nobody has written since (cache.go).
package x86
