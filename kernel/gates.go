package kernel

import (
	"fmt"
	"sort"
	"strings"

	"kscope/kernel/x86"
)

// RegisterGate binds fn to the gate symbol name. Several functions may share a symbol: they run in the order of
// registration and the last result counts. A name that the image does not have is ignored, so that a part may serve images
// older and newer than itself; a gate of the image that nobody registered is an error of Boot.
func (m *Machine) RegisterGate(name string, fn Gate) {
	if va, ok := m.img.gates[name]; ok {
		m.gates[va] = append(m.gates[va], fn)
		m.forgetRecent()
	}
}

// A TrampolineFunc is what the gate of a trampoline does: ip and parent are its first two arguments, and the registers of the traced
// code are saved at regs.
type TrampolineFunc func(v *VCPU, ip, parent, regs uint64)

// entryGate is the code of a trampoline that need not be executed.
type entryGate struct {
	x86.Trampoline
	fn TrampolineFunc
}

// EntryTrampoline says that the code at va, the first byte of a piece of shadow RAM that ShadowAlloc gave, is the trampoline t, whose
// gate does fn, and need not be executed: va becomes a gate itself. Its bytes stay, to be read. With OverheadNone they are executed
// all the same, since the calls and rets of shadow text keep the dead stack; and a fork starts without. nil: they run again.
func (m *Machine) EntryTrampoline(va uint64, t *x86.Trampoline, fn TrampolineFunc) {
	if m.cfg.Overhead != OverheadModel {
		return
	}
	if m.entryGates == nil {
		m.entryGates = map[uint64]*entryGate{}
	}
	if delete(m.entryGates, va); t != nil {
		m.entryGates[va] = &entryGate{*t, fn}
	}
	m.forgetRecent()
	m.rehook(va)
}

// EntryFunc is EntryTrampoline for code that fn does itself: it returns as a gate that was called there, or sets RIP and calls KeepRIP.
func (m *Machine) EntryFunc(va uint64, fn Gate) {
	if m.cfg.Overhead != OverheadModel {
		return
	}
	if delete(m.gates, va); fn != nil {
		m.gates[va] = []Gate{fn}
	}
	m.forgetRecent()
	m.rehook(va)
}

func (m *Machine) forgetRecent() {
	for _, v := range m.cpus {
		v.recent = [len(v.recent)]recentGate{}
	}
}

// Gates are the names of the image's gate symbols, sorted.
func (m *Machine) Gates() []string { return m.img.gateNames }

// optionalGates are called only by trampolines that a tracer has set up: a machine without that tracer boots, and calling
// one stops it.
var optionalGates = map[string]bool{
	"ftrace_graph_func": true, "prepare_ftrace_return": true, "ftrace_return_to_handler": true,
	"kprobe_ftrace_handler": true, "optimized_callback": true, "kprobe_resume": true,
	"arch_rethook_trampoline_callback": true, "function_trace_probe_call": true, "stack_trace_call": true,
	// trace_printk and its kin, which only modules call
	"__trace_bputs": true, "__trace_puts": true, "trace_dump_stack": true, "trace_printk_format": true, "trace_printk_start": true,
	"trace_vbprintk": true, "trace_vprintk": true, "tracing_is_on": true, "tracing_off": true, "tracing_on": true,
}

// unboundGates is the error for gates of the image that have no Go side.
func (m *Machine) unboundGates() error {
	var missing []string
	for name, va := range m.img.gates {
		if len(m.gates[va]) == 0 && !optionalGates[name] && !strings.HasPrefix(name, "__traceiter_") {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return nil
	}
	sort.Strings(missing)
	return fmt.Errorf("kernel: image has gates that nobody registered: %s", strings.Join(missing, ", "))
}

// RunGate implements x86.Gater.
func (v *VCPU) RunGate() int64 {
	v.count(true)
	rip := v.CPU.RIP()
	r := &v.recent[rip*recentHash>>(64-recentBits)]
	if rip != r.rip { // a traced CPU calls one gate or two over and over: 25 ns less than the map
		r = v.findGate(r, rip)
	}
	switch {
	case r.entry != nil:
		e := r.entry
		if ip, parent, ok := v.CPU.EnterTrampoline(&e.Trampoline); ok {
			v.own = false
			e.fn(v, ip, parent, v.CPU.Reg(regSP)+8)
			v.leaveTrampoline(e)
		}
	case r.cold != nil:
		v.runCold(r.cold, r.fns)
	default:
		v.m.gate(v, rip, r.fns)
	}
	t := &v.m.turn // as allowed, in the common case: each event comes here
	if now := v.Now(); now < min(t.until, t.end) && v.CPU.Insns < t.last && v.m.stopWhy == nil && !v.apic.nmi {
		t.ahead = t.until > t.end
		return int64(min(t.until-now, t.last-v.CPU.Insns, 1<<40))
	}
	if v.apic.nmi {
		return 0
	}
	return v.allowed()
}

// RunTrap implements x86.Gater.
func (v *VCPU) RunTrap() int64 {
	v.count(true)
	v.m.exception(v)
	if v.apic.nmi {
		return 0
	}
	return v.allowed()
}

// findGate looks the gate at rip up, in r's neighbour too, where what was in r goes.
func (v *VCPU) findGate(r *recentGate, rip uint64) *recentGate {
	other := &v.recent[rip*recentHash>>(64-recentBits)^1]
	if other.rip == rip {
		return other
	}
	*other = *r
	*r = recentGate{rip, v.m.gates[rip], v.m.entryGates[rip], v.m.cold.start(rip)}
	if r.cold != nil {
		r.fns = v.m.gates[r.cold.gate]
	}
	return r
}

const (
	recentBits = 5
	recentHash = 0x9e3779b97f4a7c15 // trampolines are a multiple of 512 bytes apart
)

// recentGate is a gate that a CPU ran lately, and what it does.
type recentGate struct {
	rip   uint64
	fns   []Gate
	entry *entryGate
	cold  *Cold // rip is its start
}

// leaveTrampoline goes from the gate of e to its ret, or only out of the gate.
func (v *VCPU) leaveTrampoline(e *entryGate) {
	now := v.Now()
	if v.own || (now < v.m.turn.until || now < v.apic.nextDue()) && !v.apic.nmi && v.CPU.LeaveTrampoline(&e.Trampoline) {
		return // until is no later than what was due when the Run began, and who has posted more since wants it to stop
	}
	if !v.CPU.GateReturn(0) {
		v.m.deliver(v)
	}
}

// gate runs the gate at rip as one indivisible instruction.
func (m *Machine) gate(v *VCPU, rip uint64, fns []Gate) {
	switch {
	case rip-detourBase < detourEnd-detourBase:
		m.detourGate(v)
		return
	case rip == m.contGate():
		m.continueGate(v)
		return
	case fns == nil && m.img.gateName(rip) != "":
		m.stopNow(StopPanic, "the guest called the gate "+m.img.gateName(rip)+", which has no owner in this build")
		v.CPU.GateReturn(ENOSYS.Ret())
		return
	case fns == nil:
		m.wildGate(v)
		return
	}
	v.runFuncs(fns)
}

// runFuncs does what the functions of the gate at RIP do and returns from it.
func (v *VCPU) runFuncs(fns []Gate) {
	v.own = false
	var rax uint64
	for _, fn := range fns {
		rax = fn(v)
	}
	v.endGate(rax)
}

// endGate returns from the gate at RIP, unless its functions have gone elsewhere.
func (v *VCPU) endGate(rax uint64) {
	if !v.own && !v.CPU.GateReturn(rax) {
		v.m.deliver(v) // a wild jump has come here with a broken stack
	}
}

// wildGate is a jump into the gate page beside its gates: the bytes there are ud2.
func (m *Machine) wildGate(v *VCPU) {
	v.CPU.Exc = x86.Exception{Vec: x86.VecUD}
	m.exception(v)
}

// KeepRIP says that the running gate has set registers and RIP itself: do not return to its caller.
func (v *VCPU) KeepRIP() { v.own = true }

// Kept says whether the running gate has called KeepRIP or CallThen.
func (v *VCPU) Kept() bool { return v.own }

// continuation is a guest call that a gate asked for: what to do when it returns. It is plain data but for fn, which must
// belong to the machine's parts by name so that a fork can find it again.
type continuation struct {
	name string // of the gate to run with the result in Arg(0)
	rsp  uint64 // of the gate's frame: holds the address of the gate's caller
	regs [6]uint64
}

// CallThen makes the running gate call the guest function fn with args and then run gate next, whose Arg(0) is the
// function's result and whose own result is what the caller of the first gate sees.
func (v *VCPU) CallThen(fn uint64, next string, args ...uint64) {
	if len(args) > len(argRegs) {
		panic("BUG: kernel: CallThen with more than 6 arguments")
	}
	c := continuation{name: next, rsp: v.CPU.Reg(regSP)}
	for i, r := range argRegs {
		c.regs[i] = v.CPU.Reg(r)
	}
	for i, a := range args {
		v.CPU.SetReg(argRegs[i], a)
	}
	// The gate was entered by a call, so rsp is 8 mod 16; the callee wants the same after its return address.
	sp := c.rsp - 16
	if v.CPU.PutU64(sp, v.m.contGate()) != nil {
		v.m.tripleFault(v)
		return
	}
	v.CPU.SetReg(regSP, sp)
	v.CPU.SetRIP(fn)
	v.cont = append(v.cont, c)
	v.own = true
}

// continueGate runs when a function called by CallThen has returned.
func (m *Machine) continueGate(v *VCPU) {
	if len(v.cont) == 0 {
		m.wildGate(v)
		return
	}
	c := v.cont[len(v.cont)-1]
	v.cont = v.cont[:len(v.cont)-1]
	ret := v.CPU.Reg(regAX)
	for i, r := range argRegs {
		v.CPU.SetReg(r, c.regs[i])
	}
	v.CPU.SetReg(argRegs[0], ret)
	v.CPU.SetReg(regSP, c.rsp)
	v.own = false
	rax := ret
	for _, fn := range m.gates[m.img.gates[c.name]] {
		rax = fn(v)
	}
	if !v.own && !v.CPU.GateReturn(rax) {
		m.deliver(v) // a wild jump has come here with a broken stack
	}
}

// contGate is the address that guest functions called by CallThen return to: the last slot of the shadow RAM.
func (m *Machine) contGate() uint64 { return shadowBase + shadowSize - 16 }

// Gate says whether va is a gate; it is asked when code is decoded.
func (v *VCPU) Gate(va uint64) bool {
	if va-detourBase < detourEnd-detourBase {
		return v.m.detourGateAt(va)
	}
	return va >= v.m.img.gateStart && va < v.m.img.gateEnd && va%16 == 0 || va == v.m.contGate() ||
		va-shadowBase < shadowSize && (v.m.entryGates[va] != nil || v.m.gates[va] != nil)
}

// Shadow says whether va is in shadow text: trampolines, slots, gates, cold text. The copied instructions of detours count.
func (v *VCPU) Shadow(va uint64) bool {
	if va-detourBase < detourEnd-detourBase {
		return !v.m.detourCounted(va)
	}
	if va >= shadowBase && va < shadowBase+shadowSize || va >= v.m.img.gateStart && va < v.m.img.gateEnd {
		return true
	}
	return v.m.cold.has(va)
}

// inShadow is CPU.InShadow, without the way there and back.
func (v *VCPU) inShadow() bool {
	va := v.CPU.RIP()
	return v.Shadow(va) || v.Gate(va)
}

// ownGates registers the machine's own gates; parts add theirs.
func (m *Machine) ownGates() {
	for _, g := range []struct {
		name string
		fn   Gate
	}{
		{"kscope_boot_done", m.gateBootDone},
		{"console_emit", m.gateConsoleEmit},
		{"text_poke_step", m.text.gateStep},
		{"text_poke_sync_ack", m.text.gateAck},
		{"text_poke_pending", m.text.gatePending},
		{"kscoped_next", m.gateNext},
		{"kscoped_done", m.gateDone},
		{"kscoped_call", m.gateCall},
		{"hostcons_write", m.gateHostWrite},
		{"hostcons_read", m.gateHostRead},
		{"user_task_exit", m.gateTaskExit},
		{"oops_begin", m.gateOopsBegin},
		{"oops_line", m.gateOopsLine},
		{"machine_halt", m.gateHalt},
		{"stack_trace_save_tsk", m.gateStackTrace},
		{"vp_config", m.gateVirtioConfig},
		{"vp_setup_vq", m.gateVirtioSetup},
		{"vp_doorbell", m.gateDoorbell},
		{"kscope_hazard", func(*VCPU) uint64 { return 0 }},
		{"kprobe_optimizer_step", func(*VCPU) uint64 { return 0 }}, // package kprobe registers a second function
		{"kprobe_arm", func(*VCPU) uint64 { return EOPNOTSUPP.Ret() }},
		{"kprobe_disarm", func(*VCPU) uint64 { return EINVAL.Ret() }},
		{"kprobe_switch", func(*VCPU) uint64 { return EINVAL.Ret() }},
		{"kprobe_enter", func(*VCPU) uint64 { return 0 }},
		{"kprobe_next", func(*VCPU) uint64 { return 0 }},
		{"kprobes_optimization", func(*VCPU) uint64 { return EOPNOTSUPP.Ret() }},
		{"kprobes_debug_read", func(*VCPU) uint64 { return EOPNOTSUPP.Ret() }}, // of the image before debugfs
		{"kprobes_debug_write", func(*VCPU) uint64 { return EOPNOTSUPP.Ret() }},
		{"kprobe_message", func(*VCPU) uint64 { return 0 }},
	} {
		m.RegisterGate(g.name, g.fn)
	}
	m.moduleGates()
}
