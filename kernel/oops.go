package kernel

import (
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// OopsRecord is one report of the guest: a fault in kernel mode, a warning, or the stack dump of a panic.
type OopsRecord struct {
	Time uint64
	CPU  int
	Task TaskInfo
	What string // as the guest's traps.c says: "Oops", "general protection fault", "int3", "WARNING", "panic" …
	Err  uint64 // error code
	CR2  uint64
	Regs PtRegs   // of the faulting code
	Die  bool     // a fault, not a mere stack dump
	Line []string // without the level

	next int // the line that oops_line returns next
}

// Text is the report as dmesg shows it, without times.
func (o *OopsRecord) Text() string { return strings.Join(o.Line, "\n") + "\n" }

// Indices of PtRegs, in the order of struct pt_regs (arch/x86/include/asm/ptrace.h), which the entry code pushes.
const (
	ptR15 = iota
	ptR14
	ptR13
	ptR12
	ptBP
	ptBX
	ptR11
	ptR10
	ptR9
	ptR8
	ptAX
	ptCX
	ptDX
	ptSI
	ptDI
	ptOrigAX
	ptIP
	ptCS
	ptFlags
	ptSP
	ptSS
	ptWords
)

// PtRegs holds the words of a struct pt_regs.
type PtRegs [ptWords]uint64

// User says whether the registers are those of user code.
func (r *PtRegs) User() bool { return r[ptCS]&3 != 0 }

// dwarfRegs orders the registers by DWARF number, for the unwinder.
func (r *PtRegs) dwarfRegs() [nDW]uint64 {
	return [nDW]uint64{r[ptAX], r[ptDX], r[ptCX], r[ptBX], r[ptSI], r[ptDI], r[ptBP], r[ptSP], r[ptR8], r[ptR9], r[ptR10],
		r[ptR11], r[ptR12], r[ptR13], r[ptR14], r[ptR15], r[ptIP]}
}

func readPtRegs(mem Memory, va uint64) (r PtRegs, err error) {
	var b [ptWords * 8]byte
	if err = mem.Read(va, b[:]); err != nil {
		return r, err
	}
	for i := range r {
		r[i] = binary.LittleEndian.Uint64(b[i*8:])
	}
	return r, nil
}

// reporter writes the lines of one report. What it needs of the machine comes as plain values and two small readers.
type reporter struct {
	syms   *Symbols
	types  *Types
	unw    *Unwinder
	mem    Memory                         // by the CPU's current page table
	phys   func(pa uint64) (uint64, bool) // page table entries
	text   func(va uint64) bool           // __kernel_text_address
	area   func(sp uint64) (stackArea, bool)
	module func(va uint64) *Module
	cpu    int
	task   TaskInfo
	uid    uint64
	uts    string // "6.1.0-kscope #1"
	taint  string // what print_tainted() prints
	linked string // what print_modules() prints behind its title
	count  int    // of this oops
	cr     [5]uint64
	seg    [6]uint16 // ES CS SS DS FS GS
	base   [3]uint64 // FS, GS, kernel GS
	out    []string
}

// stackArea is one of a CPU's or task's stacks.
type stackArea struct {
	name   string // as <NAME>, "" prints none
	lo, hi uint64
	next   uint64 // the stack pointer of what this stack interrupted; 0: the last
}

func (r *reporter) printf(format string, args ...any) {
	r.out = append(r.out, fmt.Sprintf(format, args...))
}

// hardwareName is what dmi would say of this machine.
const hardwareName = "kscope emulated PC (x86-64), BIOS 1.0 01/01/2026"

// page fault error code bits (arch/x86/include/asm/trap_pf.h)
const (
	pfProt  = 1 << 0
	pfWrite = 1 << 1
	pfUser  = 1 << 2
	pfRsvd  = 1 << 3
	pfInstr = 1 << 4
	pfPK    = 1 << 5
)

// faultHeader is show_fault_oops() of arch/x86/mm/fault.c.
func (r *reporter) faultHeader(regs *PtRegs, code, addr uint64) {
	if code&pfInstr != 0 && code&pfProt != 0 && !regs.User() {
		if addr >= 1<<63 {
			r.printf("kernel tried to execute NX-protected page - exploit attempt? (uid: %d)", r.uid)
		} else {
			r.printf("unable to execute userspace code (SMEP?) (uid: %d)", r.uid)
		}
	}
	if addr < 4096 && !regs.User() {
		r.printf("BUG: kernel NULL pointer dereference, address: %016x", addr)
	} else {
		r.printf("BUG: unable to handle page fault for address: %016x", addr)
	}
	who, mode, access, why := "supervisor", "kernel", "read access", "not-present page"
	if code&pfUser != 0 {
		who = "user"
	}
	if regs.User() {
		mode = "user"
	}
	switch {
	case code&pfInstr != 0:
		access = "instruction fetch"
	case code&pfWrite != 0:
		access = "write access"
	}
	switch {
	case code&pfProt == 0:
	case code&pfRsvd != 0:
		why = "reserved bit violation"
	case code&pfPK != 0:
		why = "protection keys violation"
	default:
		why = "permissions violation"
	}
	r.printf("#PF: %s %s in %s mode", who, access, mode)
	r.printf("#PF: error_code(0x%04x) - %s", code, why)
	r.pageTable(addr)
}

// pageTable is dump_pagetable(): the entries on the way to addr, up to the first that is absent or large. With four
// levels the P4D is the PGD's entry.
func (r *reporter) pageTable(addr uint64) {
	const present, large, addrMask = 1, 1 << 7, 0x000ffffffffff000
	line := ""
	table := r.cr[3] & addrMask
	for i, name := range []string{"PGD", "PUD", "PMD", "PTE"} {
		e, ok := r.phys(table + addr>>(39-9*i)&0x1ff*8)
		if !ok {
			line += "BAD"
			break
		}
		line += fmt.Sprintf("%s %x ", name, e)
		if i == 0 {
			line += fmt.Sprintf("P4D %x ", e)
		}
		if i == 3 {
			line = line[:len(line)-1]
		}
		if e&present == 0 || i > 0 && e&large != 0 {
			break
		}
		table = e & addrMask
	}
	r.printf("%s", line)
}

// die is __die() and oops_end() of arch/x86/kernel/dumpstack.c: what[: code] and all that follows it.
func (r *reporter) die(what string, regs *PtRegs, code uint64, cr2 string) {
	r.printf("%s: %04x [#%d] PREEMPT SMP NOPTI", what, code&0xffff, r.count)
	r.showRegs(regs)
	r.modules()
	if cr2 != "" {
		r.printf("CR2: %s", cr2)
	}
	r.endTrace()
	r.regs(regs, true) // the executive summary, should the oops have scrolled away
}

// modules is print_modules().
func (r *reporter) modules() { r.printf("Modules linked in:%s", r.linked) }

func (r *reporter) endTrace() { r.printf("---[ end trace %016x ]---", 0) }

// showRegs is show_regs(): who, registers, and the stack when it is the kernel's.
func (r *reporter) showRegs(regs *PtRegs) {
	r.who()
	r.regs(regs, true)
	if !regs.User() {
		r.trace(regs.dwarfRegs())
	}
}

// who is dump_stack_print_info() of lib/dump_stack.c.
func (r *reporter) who() {
	r.printf("CPU: %d PID: %d Comm: %.20s %s %s", r.cpu, r.task.Pid, r.task.Comm, r.taint, r.uts)
	r.printf("Hardware name: %s", hardwareName)
}

// ip is show_ip() with show_opcodes() of arch/x86/kernel/dumpstack.c.
func (r *reporter) ip(cs, ip uint64) {
	if cs&3 != 0 {
		r.printf("RIP: %04x:0x%x", cs, ip)
	} else {
		r.printf("RIP: %04x:%s", cs, r.syms.Format(ip))
	}
	const before, after = 42, 21
	var b [before + 1 + after]byte
	if err := r.mem.Read(ip-before, b[:]); err != nil {
		r.printf("Code: Unable to access opcode bytes at 0x%x.", ip-before)
		return
	}
	r.printf("Code: % x <%02x> % x", b[:before], b[before], b[before+1:])
}

// regs is __show_regs() of arch/x86/kernel/process_64.c, with SHOW_REGS_ALL or SHOW_REGS_SHORT.
func (r *reporter) regs(g *PtRegs, all bool) {
	r.ip(g[ptCS], g[ptIP])
	orig := ""
	if g[ptOrigAX] != ^uint64(0) {
		orig = fmt.Sprintf(" ORIG_RAX: %016x", g[ptOrigAX])
	}
	r.printf("RSP: %04x:%016x EFLAGS: %08x%s", g[ptSS], g[ptSP], g[ptFlags], orig)
	r.printf("RAX: %016x RBX: %016x RCX: %016x", g[ptAX], g[ptBX], g[ptCX])
	r.printf("RDX: %016x RSI: %016x RDI: %016x", g[ptDX], g[ptSI], g[ptDI])
	r.printf("RBP: %016x R08: %016x R09: %016x", g[ptBP], g[ptR8], g[ptR9])
	r.printf("R10: %016x R11: %016x R12: %016x", g[ptR10], g[ptR11], g[ptR12])
	r.printf("R13: %016x R14: %016x R15: %016x", g[ptR13], g[ptR14], g[ptR15])
	if !all {
		return
	}
	r.printf("FS:  %016x(%04x) GS:%016x(%04x) knlGS:%016x", r.base[0], r.seg[4], r.base[1], r.seg[5], r.base[2])
	r.printf("CS:  %04x DS: %04x ES: %04x CR0: %016x", r.seg[1], r.seg[3], r.seg[0], r.cr[0])
	r.printf("CR2: %016x CR3: %016x CR4: %016x", r.cr[2], r.cr[3], r.cr[4])
}

// trace is show_trace_log_lvl(): every word of the stacks that looks like code is printed, with "? " in front unless the
// unwinder says that it is a return address. What the unwinder says is exact, so a "?" really is stale data.
func (r *reporter) trace(start [nDW]uint64) {
	r.printf("Call Trace:")
	f := Start(start)
	next := func() bool {
		n, ok, err := r.unw.Next(r.mem, &f)
		if f = n; err != nil || !ok {
			f = Frame{}
		}
		return ok && err == nil
	}
	sp := start[dwRSP]
	next() // the starting frame's own address is in the registers printed above
	for seen := 0; sp != 0 && seen < 8; seen++ {
		sp = (sp + 7) &^ 7
		area, ok := r.area(sp)
		if !ok {
			if area, ok = r.area((sp + 4095) &^ 4095); !ok { // overflowed into the guard page?
				break
			}
			sp = (sp + 4095) &^ 4095
		}
		if area.name != "" {
			r.printf(" <%s>", area.name)
		}
		r.entryRegs(&f, area)
		for ; sp < area.hi; sp += 8 {
			w, err := readWord(r.mem, sp)
			if err != nil {
				break
			}
			if !r.text(w) {
				continue
			}
			switch {
			case f.Entry != nil && sp == f.Entry.IRET: // printed with the registers
			case sp == f.At && f.At != 0:
				if f.PC != w { // hijacked by a return trampoline
					r.printf(" ? %s", r.syms.FormatReturn(w))
				}
				r.printf(" %s", r.syms.FormatReturn(f.PC))
			default:
				r.printf(" ? %s", r.syms.FormatReturn(w))
				continue
			}
			next()
			r.entryRegs(&f, area)
		}
		if area.name != "" {
			r.printf(" </%s>", area.name)
		}
		sp = area.next
	}
}

// entryRegs is show_regs_if_on_stack(): the registers of what an entry frame on this stack interrupted.
func (r *reporter) entryRegs(f *Frame, area stackArea) {
	e := f.Entry
	if e == nil || e.IRET < area.lo || e.IRET+40 > area.hi {
		return
	}
	if e.Full && e.Regs >= area.lo {
		if regs, err := readPtRegs(r.mem, e.Regs); err == nil {
			r.regs(&regs, false)
		}
		return
	}
	var w [5]uint64
	for i := range w {
		w[i], _ = readWord(r.mem, e.IRET+uint64(i)*8)
	}
	r.ip(w[1], w[0])
	r.printf("RSP: %04x:%016x EFLAGS: %08x", w[4], w[3], w[2])
}

// gpAddress finds the address that a general protection fault is about, as get_kernel_gp_address() of
// arch/x86/kernel/traps.c: the memory operand of the faulting instruction.
func (r *reporter) gpAddress(regs *PtRegs) string {
	var code [15]byte
	n := len(code)
	for ; n > 0 && r.mem.Read(regs[ptIP], code[:n]) != nil; n-- {
	}
	addr, ok := memOperand(code[:n], regs)
	switch {
	case !ok:
		return ""
	case int64(addr)<<16>>16 != int64(addr):
		return fmt.Sprintf(", probably for non-canonical address 0x%x", addr)
	}
	return fmt.Sprintf(", maybe for address 0x%x", addr)
}

// report writes the whole text of a record. The guest's traps.c says what happened.
func (r *reporter) report(what string, regs *PtRegs, code, cr2 uint64) {
	switch {
	case isPageFault(what):
		r.faultHeader(regs, code, cr2)
		r.die("Oops", regs, code, fmt.Sprintf("%016x", cr2))
	case what == "general protection fault" && code != 0:
		r.die(what+", segment related", regs, code, "")
	case what == "general protection fault":
		r.die(what+r.gpAddress(regs), regs, code, "")
	case what == "double fault":
		r.printf("traps: PANIC: double fault, error_code: 0x%x", code)
		r.die(what, regs, code, "")
	case what == "kernel BUG", what == "invalid opcode" && r.isBUG(regs[ptIP]):
		file, line, _ := r.line(regs[ptIP])
		r.printf("------------[ cut here ]------------")
		r.printf("kernel BUG at %s:%d!", file, line)
		r.die("invalid opcode", regs, code, "")
	case what == "WARNING":
		file, line, _ := r.line(regs[ptIP])
		r.printf("WARNING: CPU: %d PID: %d at %s:%d %s", r.cpu, r.task.Pid, file, line, r.syms.Format(regs[ptIP]))
		r.modules()
		r.showRegs(regs)
		r.endTrace()
	default:
		r.die(what, regs, code, "")
	}
}

// oopsLevel is the printk level of a line of a report: "" is the default. (pr_alert, pr_info and pr_emerg of fault.c and
// traps.c; all of dumpstack.c prints with KERN_DEFAULT.)
func oopsLevel(line string) string {
	const soh = "\001"
	switch {
	case strings.HasPrefix(line, "BUG: "), strings.HasPrefix(line, "#PF: "):
		return soh + "1"
	case strings.HasPrefix(line, "kernel tried to execute"), strings.HasPrefix(line, "unable to execute"):
		return soh + "2"
	case strings.HasPrefix(line, "PGD "):
		return soh + "6"
	case strings.HasPrefix(line, "traps: PANIC"):
		return soh + "0"
	}
	return ""
}

// line is the source position of an address, in a module too.
func (r *reporter) line(ip uint64) (file string, line int, ok bool) {
	if r.module != nil {
		if mod := r.module(ip); mod != nil {
			return mod.Line(ip)
		}
	}
	return r.types.Line(ip)
}

// isBUG says that the image itself has a ud2 at ip: the compiler puts it there for BUG() only.
func (r *reporter) isBUG(ip uint64) bool {
	code := r.unw.tableOf(ip).code(ip)
	return len(code) >= 2 && code[0] == 0x0f && code[1] == 0x0b
}

// isPageFault accepts the ways in which a guest may name a fault of do_kern_addr_fault().
func isPageFault(what string) bool {
	return what == "Oops" || strings.HasPrefix(what, "page fault") || strings.HasPrefix(what, "BUG: unable to handle") ||
		strings.HasPrefix(what, "BUG: kernel NULL")
}

// isDump says that what asks for dump_stack(), not for the report of a fault.
func isDump(what string) bool {
	return what == "dump_stack" || strings.HasPrefix(what, "panic") || strings.HasPrefix(what, "Kernel panic")
}

// dump is dump_stack(): for panics and for code that asks.
func (r *reporter) dump(start [nDW]uint64) {
	r.who()
	r.trace(start)
}

// memOperand computes the address of an instruction's memory operand, as insn_get_addr_ref() does.
func memOperand(code []byte, regs *PtRegs) (uint64, bool) {
	inst, err := x86asm.Decode(code, 64)
	if err != nil || inst.Op == 0 {
		return 0, false
	}
	for _, arg := range inst.Args {
		m, ok := arg.(x86asm.Mem)
		if !ok {
			continue
		}
		addr := uint64(m.Disp)
		switch {
		case m.Base == x86asm.RIP:
			addr += regs[ptIP] + uint64(inst.Len)
		case m.Base != 0:
			addr += regs.asm(m.Base)
		}
		if m.Index != 0 {
			addr += regs.asm(m.Index) * uint64(m.Scale)
		}
		return addr, true
	}
	return 0, false
}

// asm is the register that the disassembler numbers r.
func (r *PtRegs) asm(reg x86asm.Reg) uint64 {
	if reg < x86asm.RAX || reg > x86asm.R15 {
		return 0
	}
	return r[[16]int{ptAX, ptCX, ptDX, ptBX, ptSP, ptBP, ptSI, ptDI, ptR8, ptR9, ptR10, ptR11, ptR12, ptR13, ptR14,
		ptR15}[reg-x86asm.RAX]]
}
