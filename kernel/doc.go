// Package kernel is the machine: it boots the guest kernel on 1 to 64 emulated CPUs and drives them deterministically.
//
// It knows no tracing. It offers hooks: gates (native functions behind guest symbols), trap owners (asked about #BP and #DB
// before the guest's IDT), the text patcher, shadow RAM for trampolines, and companions that fork with the machine (Part).
//
// Reading order:
//
//	machine.go   Machine and Config; New, Attach
//	image.go     the ELF file; the few layouts the machine itself needs, from DWARF
//	boot.go      RAM, page tables, boot_params; Boot
//	run.go       the driver: which CPU runs, how long, why a run stops
//	vcpu.go      one CPU's clock and its view of the guest (current task, preempt_count)
//	apic.go      local x2APIC: IPIs and the deadline timer, each with a due time
//	gates.go     native gates and guest calls out of them
//	traps.go     the owner chain
//	text.go      the patching protocol as data; poke.go: the naive writer
//	request.go   what the host asks of the guest kthread kscoped: calls, files; exec.go: programs
//	inject.go    single steps, interrupts and NMIs at a chosen instruction, late IPIs
//	order.go     locked accesses happen in the order of t
//	fork.go      Fork and the snapshots of booted machines; hash.go: StateHash
//	memory.go shadow.go counters.go console.go tasks.go panic.go errno.go cpuenv.go
//	symbols.go   kallsyms both ways; match.go: globs and did-you-mean
//	dwarf.go     types and prototypes, parsed when asked for; cdecl.go spells them, line.go and inline.go add positions
//	obj.go       typed reads through any Memory
//	unwind.go    exact stacks from cfi.go's rows and stackeffect.go's view of inline assembly; stack.go: whose stack
//	module.go    loadable modules: modelf.go checks and lays out the file, modreloc.go links it, modgates.go serves the guest
//	oops.go      reports in Linux's text; oopsreport.go: what they need of the machine
//
// The flow of Run:
//  1. next picks the CPU with the least t (ties: the lowest id); a halted CPU counts with its next due time.
//  2. slice gives it a seeded number of ns, 1 to 1000. Within the slice, advance moves what is due from the APIC's posts to
//     its IRR; x86 runs up to the slice's end or the next due time, whichever is first, and to the exact instruction.
//  3. Gates and breakpoints are settled within x86's Run (RunGate and RunTrap in gates.go), which goes on while t, the interrupts and
//     the plan allow; a trampoline or a tracepoint's cold text is one gate from its first byte to its end. handle acts on the other
//     exits: exceptions, interrupt window, hypercall. PAUSE and HLT end the slice.
//  4. When no CPU has a due time, the run stops with "deadlock" and the list of who waits on what.
//
// Time: t of a CPU is its counted instructions, 1 ns each, plus an offset that grows by charges and halted time. No host
// clock is read. Costs, in ns: IPI 250 from the ICR write to the receiver's pin, self-IPI 20, a store to text 100; tracing
// events charge what their packages document, through VCPU.Charge, which OverheadNone turns off.
//
// Ownership: a machine and all it holds belong to one goroutine at a time; only Interrupt may be called from others.
// Machines are independent: forks share frames, decoded code, the Image, and nothing that changes.
package kernel
