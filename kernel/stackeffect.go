package kernel

import (
	"debug/elf"

	"golang.org/x/arch/x86/x86asm"
)

// textPart is one executable section.
type textPart struct {
	addr uint64
	data []byte
}

func textParts(f *elf.File) (out []textPart) {
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 || s.Type == elf.SHT_NOBITS {
			continue
		}
		if data, err := s.Data(); err == nil {
			out = append(out, textPart{s.Addr, data})
		}
	}
	return out
}

// code is the image's text from va on, empty where it has none.
func (t *frameTable) code(va uint64) []byte {
	for _, p := range t.text {
		if va >= p.addr && va < p.addr+uint64(len(p.data)) {
			return p.data[va-p.addr:]
		}
	}
	return nil
}

// stackEffect is what inline assembly has done to the stack since the last unwind row. The compiler gives a row to each
// push of its own, but knows nothing of those inside asm statements: pushf; pop in native_save_fl(), the interrupt frame
// of iret_to_self(), the switch to the interrupt stack. (Linux's objtool models the same instructions for its ORC rows.)
type stackEffect struct {
	depth    int64 // bytes pushed
	switched bool  // mov %rsp,(reg); mov reg,%rsp: the word at rsp + depth is the other stack's pointer
}

// stackEffect reads the instructions from a row's start up to the one at pc. They are the image's own, not what patching
// has made of them. Asm statements leave the stack as they found it, so straight reading across jumps is right.
func (t *frameTable) stackEffect(start, pc uint64) (e stackEffect) {
	code := t.code(start)
	for at := start; len(code) > 0; {
		inst, err := x86asm.Decode(code, 64)
		n := max(inst.Len, 1)
		if err != nil || inst.Op == 0 { // what x86asm lacks (clac, endbr64, vmcall …) has no effect, but what length?
			n = oddLength(code)
		}
		if at += uint64(n); at > pc || n > len(code) {
			return e
		}
		e.apply(&inst)
		code = code[n:]
	}
	return e
}

// apply adds one instruction.
func (e *stackEffect) apply(inst *x86asm.Inst) {
	switch inst.Op {
	case x86asm.PUSH, x86asm.PUSHF, x86asm.PUSHFQ:
		e.depth += 8
	case x86asm.POPF, x86asm.POPFQ:
		e.depth -= 8
	case x86asm.POP:
		if inst.Args[0] == x86asm.RSP {
			*e = stackEffect{}
			return
		}
		e.depth -= 8
	case x86asm.IRETQ:
		*e = stackEffect{}
	case x86asm.MOV:
		if from, ok := inst.Args[1].(x86asm.Reg); ok && inst.Args[0] == x86asm.RSP && from != x86asm.RSP {
			*e = stackEffect{switched: true}
		}
	}
}

// oddLength is the length of the instructions that x86asm does not know and the guest uses: all of them three bytes
// (stac, clac, vmcall, swapgs-like 0f 01 xx), or four with a prefix (endbr64, rdssp).
func oddLength(code []byte) int {
	if len(code) >= 4 && (code[0] == 0xf3 || code[0] == 0xf2 || code[0] == 0x66) {
		return 4
	}
	return 3
}
