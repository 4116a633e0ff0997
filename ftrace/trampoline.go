package ftrace

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// A trampoline is a copy of the guest's own asm in shadow RAM, as create_trampoline of arch/x86/kernel/ftrace.c makes it:
//
//	ftrace_caller            save registers, load ip and parent ip
//	ftrace_caller_op_ptr     movq function_trace_op(%rip), %rdx     -> the word behind the copy: the op's id
//	ftrace_call              call ftrace_stub                       -> call the op's gate
//	                         restore registers
//	ftrace_caller_end        ret
//	                         .quad id
//
// Sites that several ops want call a copy with id 0 and gate arch_ftrace_ops_list_func. (Linux patches the original for
// that; a copy keeps all of tracing in shadow text, which is what makes it free of charge. See design.md, section 5.)
type template struct {
	name   string
	code   []byte          // up to, not including, the ret; nil when the image has no such asm
	opPtr  int             // offset of the 7-byte movq
	call   int             // offset of the 5-byte call
	shared uint64          // the copy for several ops, 0 until it is needed
	way    *x86.Trampoline // nil: more than x86 does in one step
}

// trampolineName is kallsyms' name of an op's trampoline.
const trampolineName = "ftrace_trampoline"

const (
	retSize = 1
	opSize  = 7 // OP_REF_SIZE
)

// readTemplates finds the two asm templates by their symbols.
func (s *Sites) readTemplates() error {
	for i, n := range []struct{ start, op, call, end string }{
		{"ftrace_caller", "ftrace_caller_op_ptr", "ftrace_call", "ftrace_caller_end"},
		{"ftrace_regs_caller", "ftrace_regs_caller_op_ptr", "ftrace_regs_call", "ftrace_regs_caller_end"},
	} {
		syms := s.m.Symbols()
		start, ok := syms.Lookup(n.start)
		if !ok {
			continue
		}
		op, ok1 := syms.Lookup(n.op)
		call, ok2 := syms.Lookup(n.call)
		end, ok3 := syms.Lookup(n.end)
		if !ok1 || !ok2 || !ok3 || end <= start || end-start > 4096 || op < start || op+opSize > end || call < start || call+siteSize > end {
			return fmt.Errorf("ftrace: the image's %s is not as expected: %w", n.start, kernel.ENOEXEC)
		}
		t := template{name: n.start, code: make([]byte, end-start), opPtr: int(op - start), call: int(call - start)}
		if err := s.m.Read(start, t.code); err != nil {
			return fmt.Errorf("ftrace: reading %s: %w", n.start, err)
		}
		if b := t.code[t.opPtr:]; b[0] != 0x48 || b[1] != 0x8b || b[2] != 0x15 {
			return fmt.Errorf("ftrace: %s is no movq into %%rdx: % x: %w", n.op, b[:opSize], kernel.ENOEXEC)
		}
		if b := t.code[t.call:]; b[0] != 0xe8 {
			return fmt.Errorf("ftrace: %s is no call: % x: %w", n.call, b[:siteSize], kernel.ENOEXEC)
		}
		if t.way = prologue(t.code[:t.call]); t.way != nil && !epilogue(t.way, t.code[t.call+siteSize:]) {
			t.way = nil
		}
		s.tmpl[i] = t
	}
	return nil
}

// epilogue reads RESTORE_CALLER_REGS behind the call of t: movq off(%rsp), %reg, and leaq Frame(%rsp), %rsp at the end; false when it
// is anything else.
func epilogue(t *x86.Trampoline, code []byte) bool {
	loaded := 0
	for {
		in, ok := decodeInsn(code)
		if !ok || in.base != x86.RSP || in.reg2 || in.rip {
			return false
		}
		code = code[in.len:]
		switch off, saved := x86.FrameReg(in.reg); {
		case in.op == 0x8b && saved && in.off == off:
			loaded |= 1 << in.reg
		case in.op == 0x8d && in.reg == x86.RSP:
			return len(code) == 0 && bits.OnesCount(uint(loaded)) == x86.FrameRegs && in.off == t.Frame
		default:
			return false
		}
	}
}

// bindEntry has a copy of t at va done in one step, with fn in place of its gate: its 31 instructions took half of a function event's
// time. TestOneStep holds the two ways against each other. A fork binds anew.
func (s *Sites) bindEntry(t *template, va uint64, fn kernel.TrampolineFunc) {
	if t.way == nil || s.execute {
		return
	}
	p := *t.way
	behind := va + uint64(t.call) + siteSize
	var disp, word [8]byte
	if s.m.Read(va+uint64(t.call)+1, disp[:4]) != nil || s.m.Read(va+uint64((len(t.code)+retSize+7)&^7), word[:]) != nil {
		return
	}
	p.From, p.Gate = behind, behind+uint64(int64(int32(binary.LittleEndian.Uint32(disp[:]))))
	p.Op = binary.LittleEndian.Uint64(word[:])
	s.m.EntryTrampoline(va, &p, fn)
}

// bindShared binds the trampoline for sites that several ops want.
func (s *Sites) bindShared(t *template) { s.bindEntry(t, t.shared, s.callList) }

// bindOwn binds the one of an op.
func (s *Sites) bindOwn(o *Ops) {
	s.bindEntry(s.template(o.Regs), o.tramp, func(c *kernel.VCPU, ip, parent, regs uint64) {
		s.call(c, o, ip, parent, regs)
		c.Charge(costTrampoline)
	})
}

// bindEntries does so for all trampolines of a fork.
func (s *Sites) bindEntries() {
	for i := range s.tmpl {
		if t := &s.tmpl[i]; t.shared != 0 {
			s.bindShared(t)
		}
	}
	for _, o := range s.ops {
		if o.tramp != 0 {
			s.bindOwn(o)
		}
	}
}

// build makes the trampoline of o.
func (s *Sites) build(o *Ops) (err error) {
	gate, ok := s.m.Symbols().Lookup(o.Gate)
	if !ok {
		return fmt.Errorf("the image has no gate %s: %w", o.Gate, kernel.ENODEV)
	}
	if err := s.buildShared(); err != nil {
		return err
	}
	t := s.template(o.Regs)
	if o.tramp, err = s.copyTemplate(t, trampolineName, gate, uint64(o.id)); err != nil {
		return err
	}
	o.gate, o.from = gate, o.tramp+uint64(t.call)+siteSize
	s.bindOwn(o)
	s.BindOwn(o)
	return nil
}

// Execute has all trampolines executed, byte for byte. For tests: before the first.
func (s *Sites) Execute() { s.execute = true }

// BindOwn has an op's own trampoline done by its Entry. The owner of an op does it for a fork, when Entry is that of the fork.
func (s *Sites) BindOwn(o *Ops) {
	if o.tramp != 0 && o.Regs && o.Entry != nil && !s.execute {
		s.m.EntryFunc(o.tramp, o.Entry)
	}
}

// Own is where the op's own trampoline calls its gate, and where it goes on then.
func (o *Ops) Own() (gate, from uint64) {
	return o.gate, o.from
}

// buildShared makes the copies for sites that several ops want, once.
func (s *Sites) buildShared() (err error) {
	list, ok := s.m.Symbols().Lookup("arch_ftrace_ops_list_func")
	if !ok {
		return fmt.Errorf("the image has no gate arch_ftrace_ops_list_func: %w", kernel.ENODEV)
	}
	for i := range s.tmpl {
		if t := &s.tmpl[i]; t.code != nil && t.shared == 0 {
			if t.shared, err = s.copyTemplate(t, t.name, list, 0); err != nil {
				return err
			}
			s.bindShared(t)
		}
	}
	return nil
}

func (s *Sites) template(regs bool) *template {
	if regs {
		return &s.tmpl[1]
	}
	return &s.tmpl[0]
}

// copyTemplate writes one trampoline into shadow RAM.
func (s *Sites) copyTemplate(t *template, name string, gate, id uint64) (uint64, error) {
	if t.code == nil {
		return 0, fmt.Errorf("the image has no asm for trampolines: %w", kernel.ENODEV)
	}
	word := (len(t.code) + retSize + 7) &^ 7
	va, err := s.m.ShadowAlloc(word+8, name)
	if err != nil {
		return 0, err
	}
	b := make([]byte, word+8)
	copy(b, t.code)
	b[len(t.code)] = 0xc3
	for i := len(t.code) + retSize; i < word; i++ {
		b[i] = 0xcc
	}
	binary.LittleEndian.PutUint32(b[t.opPtr+3:], uint32(word-t.opPtr-opSize))
	c := call(va+uint64(t.call), gate)
	copy(b[t.call:], c[:])
	binary.LittleEndian.PutUint64(b[word:], id)
	s.m.ShadowWrite(va, b)
	if like, ok := s.m.Symbols().Lookup(t.name); ok {
		s.m.ShadowLike(va, like) // stacks unwind through the copy
	}
	return va, nil
}

// gateAddr is what an op's trampoline calls.
func (s *Sites) gateAddr(o *Ops) uint64 {
	va, _ := s.m.Symbols().Lookup(o.Gate)
	return va
}
