// Package x86 executes x86-64 machine code for one virtual CPU at a time.
//
// It knows no kernel and no tracing: the machine drives each CPU with Run and acts on the Exit it returns.
//
// The flow:
//  1. Run looks the block at RIP up (jump cache, then the code cache, then the decoder: block.go, decode.go).
//  2. The decoder turns x86asm instructions into uops (lower*.go) whose handlers are generated (gen, exec_gen.go).
//  3. The executor runs uops of chained blocks until the budget, an exit or a fault ends the slice.
//  4. An Exit tells the machine what happened; Deliver and Interrupt enter the guest's handlers (trap.go).
//
// All CPUs of one machine run on one goroutine, so that plain read-modify-write is atomic. Machines are independent
// and may run in parallel; forks of one machine share decoded code that nobody has written since (cache.go).
package x86
