package kprobe

import (
	"encoding/binary"
	"fmt"
	"sync"

	"golang.org/x/arch/x86/x86asm"

	"kscope/kernel"
)

// Optimised probes: a 5-byte jump to a detour in place of the int3 (kernel/kprobes.c, arch/x86/kernel/kprobes/opt.c).
//
//	       Enable            5 ticks later, when no task is     another probe within,    5 ticks later
//	                         within the bytes any more          Disable
//	int3 ---------> waiting ---------------------------> jumping --------------> leaving --------------> int3, or nothing
//	                (a hit goes to the detour)                                    (forced: at once)
//
// A site counts as optimised from waiting on, as Linux's kprobes/list shows it. With overhead = "none" nobody waits: the jump is
// written at once when no task stands within the bytes, and else the int3 leads to the detour.
type optState uint8

const (
	optNone    optState = iota
	optWaiting          // in the optimiser's list; text: int3
	optJumping          // text: jmp
	optLeaving          // in the optimiser's list; text: jmp
)

const jumpSize = 5 // JMP32_INSN_SIZE

// flow is what decoding a function tells about it.
type flow struct {
	indirect bool            // it jumps through a register or a table
	targets  map[uint64]bool // of its direct jumps
}

// sharedFlow is what all machines of an image know: it is computed once.
type sharedFlow struct {
	once   sync.Once
	jumps  map[uint64]bool // targets of jumps from one function into another: .cold parts, tail calls
	labels map[uint64]bool // code of the jump table: where static keys patch
	fixups []uint64        // instructions with an exception-table entry
}

// optimizable says why no jump can be at a site ("": one can) and how many bytes it would cover. See can_optimize and
// copy_optimized_instructions.
func (k *Kprobes) optimizable(addr uint64) (span int, why string) {
	sym, off := k.m.Symbols().At(addr)
	if !k.m.HasDetours() {
		return 0, "the image has no optprobe_template"
	}
	if sym.Size-off < jumpSize {
		return 0, "the function ends within 5 bytes"
	}
	sh := k.shared()
	for _, at := range k.fixupsOf(sh, sym) {
		if at-sym.Addr < sym.Size {
			return 0, "the function has entries in the exception table"
		}
	}
	f := k.flowOf(sym)
	if f.indirect {
		return 0, "the function jumps through a register or a table"
	}
	last := insn{}
	for span < jumpSize {
		in, err := k.decode(addr + uint64(span))
		if err != nil || !boostable(in.bytes[:in.size]) {
			return 0, fmt.Sprintf("%v at +%#x does not run from a copy", in.op, off+uint64(span))
		}
		last, span = in, span+int(in.size)
	}
	if off+uint64(span) > sym.Size {
		return 0, "the function ends within the region"
	}
	for i := uint64(1); i <= jumpSize; i++ {
		if f.targets[addr+i] || sh.jumps[addr+i] {
			return 0, fmt.Sprintf("something jumps to +%#x", off+i)
		}
	}
	for i := uint64(0); i < uint64(span); i++ {
		if _, ok := k.t.Sites().At(addr + i); ok || k.inSite(addr+i) {
			return 0, "it reaches into a function's call of __fentry__"
		}
		if k.inJumpLabel(addr + i) {
			return 0, "it reaches into a jump label"
		}
	}
	// The jump back would take the shadow of sti, the jump there that of one in front: an interrupt would come an instruction
	// earlier than without the probe.
	if last.bytes[0] == 0xfb || k.behindSti(sym, off) {
		return 0, "it is next to sti"
	}
	return span, ""
}

// behindSti says whether the instruction before off is sti.
func (k *Kprobes) behindSti(sym kernel.Sym, off uint64) bool {
	if off == 0 {
		return false
	}
	var b [1]byte
	return k.original(sym.Addr+off-1, b[:]) == nil && b[0] == 0xfb
}

// flowOf decodes a function once.
func (k *Kprobes) flowOf(sym kernel.Sym) *flow {
	if f := k.flows[sym.Addr]; f != nil {
		return f
	}
	f := &flow{targets: map[uint64]bool{}}
	k.jumpsOf(sym, func(from, to uint64, indirect bool) {
		f.indirect = f.indirect || indirect
		f.targets[to] = true
	})
	k.flows[sym.Addr] = f
	return f
}

// jumpsOf calls fn for each jump of a function; to is 0 for an indirect one.
func (k *Kprobes) jumpsOf(sym kernel.Sym, fn func(from, to uint64, indirect bool)) {
	text := make([]byte, min(sym.Size, 0xffff))
	if k.original(sym.Addr, text) != nil {
		return
	}
	for _, off := range k.Boundaries(sym) {
		d, err := x86asm.Decode(text[off:min(int(off)+15, len(text))], 64)
		if err != nil {
			continue
		}
		from := sym.Addr + uint64(off)
		if rel, ok := d.Args[0].(x86asm.Rel); ok && d.Op != x86asm.CALL {
			fn(from, from+uint64(d.Len)+uint64(int64(rel)), false)
		} else if d.Op == x86asm.JMP {
			fn(from, 0, true)
		}
	}
}

// shared is what is known of the image as a whole.
func (k *Kprobes) shared() *sharedFlow {
	sh := k.flowShared
	sh.once.Do(func() {
		sh.jumps, sh.labels = map[uint64]bool{}, k.jumpLabels()
		sh.fixups = k.imageFixups()
		for _, s := range k.m.Symbols().Glob("*", "tTwW") {
			if s.Size == 0 || s.Module != "" {
				continue
			}
			k.jumpsOf(s, func(_, to uint64, _ bool) {
				if to-s.Addr >= s.Size {
					sh.jumps[to] = true
				}
			})
		}
	})
	return sh
}

// jumpLabels reads __jump_table: struct jump_entry holds the distances from its words to code and target.
func (k *Kprobes) jumpLabels() map[uint64]bool {
	out := map[uint64]bool{}
	k.table("__start___jump_table", "__stop___jump_table", 16, func(at uint64, b []byte) {
		out[at+uint64(int64(int32(binary.LittleEndian.Uint32(b))))] = true
	})
	return out
}

// imageFixups reads __ex_table, whose entries begin with the distance to the instruction.
func (k *Kprobes) imageFixups() (out []uint64) {
	k.table("__start___ex_table", "__stop___ex_table", k.fixupSize(), func(at uint64, b []byte) {
		out = append(out, at+uint64(int64(int32(binary.LittleEndian.Uint32(b)))))
	})
	return out
}

// table calls fn for each entry between two symbols.
func (k *Kprobes) table(from, to string, size uint64, fn func(at uint64, b []byte)) {
	lo, ok1 := k.m.Symbols().Lookup(from)
	hi, ok2 := k.m.Symbols().Lookup(to)
	if !ok1 || !ok2 || hi < lo {
		return
	}
	b := make([]byte, hi-lo)
	if k.m.Read(lo, b) != nil {
		return
	}
	for i := uint64(0); i+size <= uint64(len(b)); i += size {
		fn(lo+i, b[i:i+size])
	}
}

// fixupsOf are the exception-table entries to look through for a function: the image's, or its module's.
func (k *Kprobes) fixupsOf(sh *sharedFlow, sym kernel.Sym) (out []uint64) {
	mod := k.m.ModuleAt(sym.Addr)
	if mod == nil {
		return sh.fixups
	}
	at, size, _ := mod.Section("__ex_table")
	each := k.fixupSize()
	for end := at + size; at+each <= end; at += each {
		x, err := k.m.U32(at)
		if err != nil {
			break
		}
		out = append(out, at+uint64(int64(int32(x))))
	}
	return out
}

func (k *Kprobes) fixupSize() uint64 {
	if t := k.m.Types().Struct("exception_table_entry"); t != nil && t.Size > 0 {
		return uint64(t.Size)
	}
	return 8
}

// hasPost says whether a probe of the site wants to run behind the instruction: then there is a step.
func (s *site) hasPost() bool {
	for _, p := range s.probes {
		if p.Post != nil || p.C != nil && p.C.post != 0 {
			return true
		}
	}
	return false
}

// keepsInt3 says whether a probe of the site must not become a jump.
func (s *site) keepsInt3() bool {
	for _, p := range s.probes {
		if p.NoJump {
			return true
		}
	}
	return false
}

// optimize is optimize_kprobe: it queues an armed site, when that may be.
func (k *Kprobes) optimize(s *site) {
	if s.ftrace || k.noOpt || !k.wanted(s) || s.hasPost() || s.keepsInt3() || s.opt == optWaiting || s.opt == optJumping {
		return
	}
	if s.span == 0 && s.why == "" {
		s.span, s.why = k.optimizable(s.addr)
	}
	if s.why != "" || k.probedWithin(s) {
		return
	}
	if s.opt == optLeaving {
		s.opt = optJumping
		return
	}
	if s.detour == 0 && k.makeDetour(s) != nil {
		return
	}
	s.opt = optWaiting
	if k.m.Config().Overhead == kernel.OverheadNone {
		k.jumpNow(s)
		return
	}
	k.optList = append(k.optList, s)
	k.kicked = true
}

// probedWithin is arch_check_optimized_kprobe: whether another probe is enabled in the bytes that the jump would cover.
func (k *Kprobes) probedWithin(s *site) bool {
	for i := 1; i < s.span; i++ {
		if o := k.sites[s.addr+uint64(i)]; o != nil && k.wanted(o) {
			return true
		}
	}
	return false
}

// makeDetour writes the copies.
func (k *Kprobes) makeDetour(s *site) error {
	va, err := k.m.DetourAlloc()
	if err != nil {
		return err
	}
	var code []byte
	for n := 0; n < s.span; {
		in, err := k.decode(s.addr + uint64(n))
		if err == nil {
			var b []byte
			if b, err = in.moved(s.addr+uint64(n), kernel.DetourCode(va)+uint64(n)); err == nil {
				code, n = append(code, b...), n+int(in.size)
			}
		}
		if err != nil {
			k.m.DetourFree(va)
			return err
		}
	}
	k.m.DetourWrite(va, s.addr, code)
	orig := k.originalBytes(s)
	s.detour, s.orig, s.cold = va, orig[:], k.m.VCPU(0).Shadow(s.addr)
	s.gate, s.from = k.m.DetourGate(va)
	k.detours.put(va, s)
	return nil
}

// unoptimize is unoptimize_kprobe.
func (k *Kprobes) unoptimize(s *site, force bool) {
	switch {
	case s.opt == optWaiting:
		s.opt, s.batch = optNone, false
	case s.opt == optNone:
	case force || k.bare:
		k.restore(s)
	case s.opt == optJumping:
		s.opt = optLeaving
		k.optList = append(k.optList, s)
		k.kicked = true
	}
}

// jump is the instruction that leads to the detour.
func (s *site) jump() []byte {
	b := make([]byte, jumpSize)
	b[0] = 0xe9
	binary.LittleEndian.PutUint32(b[1:], uint32(s.detour-s.addr-jumpSize))
	return b
}

// originalBytes are the five bytes that the jump covers.
func (k *Kprobes) originalBytes(s *site) [jumpSize]byte {
	var b [jumpSize]byte
	if k.original(s.addr, b[:]) != nil {
		panic("BUG: kprobe: the text of a probe cannot be read")
	}
	return b
}

func (k *Kprobes) poke(s *site, pokes ...kernel.Poke) {
	if err := k.m.Text().Queue("kprobe "+k.name(s), pokes); err != nil {
		panic("BUG: kprobe: patching for a probe: " + err.Error())
	}
}

// writeJump is arch_optimize_kprobes for one site.
func (k *Kprobes) writeJump(s *site) {
	old := k.originalBytes(s)
	old[0] = int3
	k.poke(s, kernel.Poke{Addr: s.addr, Old: old[:], New: s.jump()})
	s.opt, s.batch = optJumping, false
}

// restore is arch_unoptimize_kprobe: the int3 first, then, in a batch of its own, the bytes behind it. A site that is not to be
// armed any more gets its first byte back in a third.
func (k *Kprobes) restore(s *site) {
	orig, jump := k.originalBytes(s), s.jump()
	s.opt, s.batch = optNone, false
	pokes := []kernel.Poke{{Addr: s.addr, Old: jump[:1], New: []byte{int3}}, {Addr: s.addr, New: []byte{int3}}} // the same place again: a new batch
	for i := 1; i < jumpSize; i++ {
		pokes = append(pokes, kernel.Poke{Addr: s.addr + uint64(i), Old: jump[i : i+1], New: orig[i : i+1]})
	}
	if s.restored = !s.armed; s.restored {
		pokes = append(pokes, kernel.Poke{Addr: s.addr, Old: []byte{int3}, New: orig[:1]})
	}
	k.poke(s, pokes...)
}

// jumpNow writes the jump at this instant when no task is within its bytes.
func (k *Kprobes) jumpNow(s *site) {
	for pc := range k.standing() {
		if pc > s.addr && pc < s.addr+uint64(s.span) {
			return
		}
	}
	k.writeJump(s)
}

// standing are the addresses at which the CPUs and tasks will go on, at any depth of their stacks.
func (k *Kprobes) standing() map[uint64]bool {
	if n := k.m.Insns(); k.pcs == nil || k.pcsAt != n {
		k.pcs, k.pcsAt = map[uint64]bool{}, n
		note := func(f *kernel.Frame) bool {
			k.pcs[f.PC] = true
			return true
		}
		for i := range k.m.NumCPU() {
			k.pcs[k.m.VCPU(i).CPU.RIP()] = true
			_ = k.m.VCPU(i).Walk(note)
		}
		for _, t := range k.m.Tasks() {
			_ = k.m.WalkTask(t.Addr, note)
		}
	}
	return k.pcs
}

// gateOptimizer is the gate kprobe_optimizer_step: the guest's optimiser (kernel/guest/kernel/kprobes.c) asks 0 whether there is
// work, 1 to undo jumps, 2, once no task is where one was at step 1, to write them; 3 whether there is more.
func (k *Kprobes) gateOptimizer(c *kernel.VCPU) uint64 {
	todo := uint64(0)
	switch c.Arg(0) {
	case 0:
		if k.kicked {
			todo = 1
		}
		if len(k.messages) > 0 {
			todo |= 2
		}
		k.kicked = false
	case 1:
		for _, s := range k.optList {
			if s.opt == optLeaving {
				k.restore(s)
			}
			s.batch = s.opt == optWaiting
		}
		k.trimOpt()
	case 2:
		for _, s := range k.optList {
			if s.opt == optWaiting && s.batch {
				k.writeJump(s)
			}
		}
		k.trimOpt()
	case 3:
		k.reap()
		if len(k.optList) > 0 {
			todo = 1
		}
	}
	return todo
}

// trimOpt drops what needs no work any more from the optimiser's list.
func (k *Kprobes) trimOpt() {
	left := k.optList[:0]
	for _, s := range k.optList {
		if s.opt == optWaiting || s.opt == optLeaving {
			left = append(left, s)
		}
	}
	clear(k.optList[len(left):])
	k.optList = left
}

// Optimization says whether probes become jumps: sysctl debug.kprobes-optimization.
func (k *Kprobes) Optimization() bool { return !k.noOpt }

// SetOptimization switches it; see optimize_all_kprobes and unoptimize_all_kprobes.
func (k *Kprobes) SetOptimization(on bool) {
	if on == !k.noOpt {
		return
	}
	k.noOpt = !on
	if on {
		k.info("kprobes: kprobe jump-optimization is enabled. All kprobes are optimized if possible.")
	}
	for _, s := range k.list {
		if on {
			k.optimize(s)
		} else {
			k.unoptimize(s, false)
		}
	}
	if !on {
		k.info("kprobes: kprobe jump-optimization is disabled. All kprobes are based on software breakpoint.")
	}
}

// info logs what Linux logs: the guest prints it before the call that has caused it returns.
func (k *Kprobes) info(text string) { k.log(6, text) } // KERN_INFO

func (k *Kprobes) log(level int, text string) {
	if c := k.m.Running(); c == nil || k.m.Config().Overhead == kernel.OverheadNone {
		k.m.Log(k.m.VCPU(0), level, text) // the host asks from outside, or no guest code is to run
		return
	}
	k.messages = append(k.messages, fmt.Sprintf("\x01%d%s", level, text))
}

// gateMessage: long kprobe_message(char *buf, u64 len).
func (k *Kprobes) gateMessage(c *kernel.VCPU) uint64 {
	if len(k.messages) == 0 || c.Arg(1) == 0 {
		return 0
	}
	line := k.messages[0]
	k.messages = k.messages[1:]
	line = line[:min(uint64(len(line)), c.Arg(1)-1)]
	if k.m.Write(c.Arg(0), append([]byte(line), 0)) != nil {
		return 0
	}
	return uint64(len(line))
}
