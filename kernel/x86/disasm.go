package x86

import (
	"errors"

	"golang.org/x/arch/x86/x86asm"
)

var errNoInst = errors.New("no instruction")

// Disasm prints one instruction in x86asm's GNU-like Intel text, with the gaps of its tables filled. sym may be nil.
func Disasm(code []byte, pc uint64, sym func(uint64) (string, uint64)) (text string, n int, err error) {
	if len(code) == 0 {
		return "", 0, errNoInst
	}
	in := decodeInst(code)
	if in.gap != gapNone {
		text, n = gapText(code, in)
		if n == 0 {
			return "(bad)", 1, errNoInst
		}
		return text, n, nil
	}
	if in.Len == truncated {
		return "(bad)", 1, errNoInst
	}
	return x86asm.IntelSyntax(in.Inst, pc, sym), in.Len, nil
}

// gapText names the instructions of gapOf.
func gapText(b []byte, in inst) (string, int) {
	n, rep := prefixes(b)
	if in.Len < 2 || n+2 >= len(b) || b[n] != 0x0f {
		return "", 0
	}
	modrm := b[n+2]
	switch {
	case b[n+1] == 0x01:
		if s, ok := map[byte]string{0xc1: "vmcall", 0xd9: "vmmcall", 0xca: "clac", 0xcb: "stac", 0xe8: "serialize"}[modrm]; ok {
			return s, in.Len
		}
	case b[n+1] == 0x1e && rep == 0xf3 && modrm == 0xfa:
		return "endbr64", in.Len
	case b[n+1] == 0x1e && rep == 0xf3 && modrm == 0xfb:
		return "endbr32", in.Len
	case b[n+1] == 0xc7 && in.gap == gapRDPID:
		return "rdpid", in.Len
	case in.gap == gapNop:
		return "nop", in.Len
	}
	return "", 0
}
