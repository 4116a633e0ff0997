package kprobe

// boostable rows: which opcodes may run from a copy without a single step behind them, one bit per opcode, opcode 0 of the row
// first. See can_boost and twobyte_is_boostable in arch/x86/kernel/kprobes/core.c of 6.1: left out are conditional jumps, opcode
// groups, calls, software exceptions, x87 and hlt.
var oneByte, twoByte = [16]string{
	"1111111111111111", "1111111111111111", "1111111111111111", "1111111111111111",
	"1111111111111111", "1111111111111111", "1101111111111111", "0000000000000000",
	"1111111111111111", "1111111111011111", "1111111111111111", "1111111111111111",
	"0011111111110001", "0000110100000000", "0000111100101111", "0000010011111101",
}, [16]string{
	"0011001011000000", "0000000000000001", "1111000000000000", "0100000000000000",
	"1111111111111111", "0000000000000000", "1111111111110011", "0000111100000011",
	"0000000000000000", "1111111111111111", "1101110011011101", "1111111100011111",
	"1100000011111111", "0111010011011101", "0110010011011101", "0111010011101110",
}

// boostable is can_boost for the instruction in b.
func boostable(b []byte) bool {
	i := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case 0x2e, 0x67: // CS override, address size
			return false
		case 0x66, 0xf0, 0xf2, 0xf3, 0x36, 0x3e, 0x26, 0x64, 0x65:
			continue
		}
		break
	}
	if i < len(b) && b[i]&0xf0 == 0x40 {
		i++
	}
	switch {
	case i+1 < len(b) && b[i] == 0x0f:
		if b[i+1] == 0x38 || b[i+1] == 0x3a {
			return false
		}
		return twoByte[b[i+1]>>4][b[i+1]&15] == '1'
	case i+1 < len(b) && b[i] == 0xff:
		return b[i+1]>>3&7 == 4 // jmp *
	case i < len(b):
		return oneByte[b[i]>>4][b[i]&15] == '1'
	}
	return false
}
