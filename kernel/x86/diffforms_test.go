package x86_test

import "kscope/kernel/x86"

// form is one encoding of an instruction for the random blocks of diff_test.go.
type form struct {
	name   string
	pfx    byte // mandatory prefix
	op     []byte
	modrm  byte   // 0 none, 'r' reg field is a register, 'd' reg field is ext, '+' register in the opcode
	ext    byte   // opcode extension
	size   byte   // 'b' byte, 'v' 16/32/64, 'q' 16/64 (stack), 'l' 32/64, '0' none
	rmSize byte   // of the r/m operand where it differs: 'b', 'w', 'l'
	imm    byte   // 0 none, 'b' byte, 'z' 16/32, 'v' as wide as the operand
	dst    string // what is written: 'm' r/m, 'r' reg field, 'o' opcode register
	rm     byte   // 'm' memory only, 'g' register only, 0 both
	regs   []int  // registers used implicitly
	lock   bool   // allowed with lock when r/m is memory
	reads  uint64 // flags read
	writes uint64 // flags defined
	undef  uint64 // flags left undefined
}

const (
	cf, pf, af, zf, sf, of = x86.FlagCF, x86.FlagPF, x86.FlagAF, x86.FlagZF, x86.FlagSF, x86.FlagOF

	arith = cf | pf | af | zf | sf | of
	logic = arith &^ af
	noCF  = arith &^ cf
)

// forms lists every encoding whose flags do not depend on a count; shifts, divisions, string and stack operations are
// made by the functions of diff_test.go, which put a fitting state before them.
func forms() []form {
	var fs []form
	add := func(f ...form) { fs = append(fs, f...) }
	for i, name := range []string{"add", "or", "adc", "sbb", "and", "sub", "xor", "cmp"} {
		f := form{name: name, writes: arith, dst: "m", lock: true}
		switch name {
		case "or", "and", "xor":
			f.writes, f.undef = logic, af
		case "adc", "sbb":
			f.reads = cf
		case "cmp":
			f.dst, f.lock = "", false
		}
		add(aluForms(f, byte(i))...)
	}
	for _, s := range []byte{'b', 'v'} {
		o := byte(0)
		if s == 'v' {
			o = 1
		}
		add(form{name: "test", op: []byte{0x84 + o}, modrm: 'r', size: s, writes: logic, undef: af},
			form{name: "test", op: []byte{0xf6 + o}, modrm: 'd', ext: 0, size: s, imm: immFor(s), writes: logic, undef: af},
			form{name: "test", op: []byte{0xa8 + o}, size: s, imm: immFor(s), writes: logic, undef: af},
			form{name: "not", op: []byte{0xf6 + o}, modrm: 'd', ext: 2, size: s, dst: "m", lock: true},
			form{name: "neg", op: []byte{0xf6 + o}, modrm: 'd', ext: 3, size: s, dst: "m", lock: true, writes: arith},
			form{name: "mul", op: []byte{0xf6 + o}, modrm: 'd', ext: 4, size: s, regs: []int{0, 2}, writes: cf | of, undef: pf | af | zf | sf},
			form{name: "imul", op: []byte{0xf6 + o}, modrm: 'd', ext: 5, size: s, regs: []int{0, 2}, writes: cf | of, undef: pf | af | zf | sf},
			form{name: "inc", op: []byte{0xfe + o}, modrm: 'd', ext: 0, size: s, dst: "m", lock: true, writes: noCF},
			form{name: "dec", op: []byte{0xfe + o}, modrm: 'd', ext: 1, size: s, dst: "m", lock: true, writes: noCF},
			form{name: "mov", op: []byte{0x88 + o}, modrm: 'r', size: s, dst: "m"},
			form{name: "mov", op: []byte{0x8a + o}, modrm: 'r', size: s, dst: "r"},
			form{name: "mov", op: []byte{0xc6 + o}, modrm: 'd', ext: 0, size: s, imm: immFor(s), dst: "m"},
			form{name: "mov", op: []byte{0xb0 + 8*o}, modrm: '+', size: s, imm: 'v', dst: "o"},
			form{name: "xchg", op: []byte{0x86 + o}, modrm: 'r', size: s, dst: "mr", lock: true},
			form{name: "xadd", op: []byte{0x0f, 0xc0 + o}, modrm: 'r', size: s, dst: "mr", lock: true, writes: arith},
			// With a register as destination Intel and AMD differ in its upper half when the comparison fails.
			form{name: "cmpxchg", op: []byte{0x0f, 0xb0 + o}, modrm: 'r', size: s, rm: 'm', dst: "m", regs: []int{0}, lock: true, writes: arith})
	}
	add(moveForms()...)
	add(bitForms()...)
	return fs
}

func immFor(size byte) byte {
	if size == 'b' {
		return 'b'
	}
	return 'z'
}

// aluForms gives the nine encodings of one of the eight classic operations.
func aluForms(f form, n byte) []form {
	var fs []form
	one := func(op []byte, modrm, size, imm byte, dst string) {
		g := f
		g.op, g.modrm, g.ext, g.size, g.imm = op, modrm, n, size, imm
		if f.dst == "" {
			dst = ""
		}
		if modrm == 0 {
			g.regs = []int{0}
		}
		g.dst, g.lock = dst, f.lock && dst == "m"
		fs = append(fs, g)
	}
	one([]byte{n * 8}, 'r', 'b', 0, "m")
	one([]byte{n*8 + 1}, 'r', 'v', 0, "m")
	one([]byte{n*8 + 2}, 'r', 'b', 0, "r")
	one([]byte{n*8 + 3}, 'r', 'v', 0, "r")
	one([]byte{n*8 + 4}, 0, 'b', 'b', "")
	one([]byte{n*8 + 5}, 0, 'v', 'z', "")
	one([]byte{0x80}, 'd', 'b', 'b', "m")
	one([]byte{0x81}, 'd', 'v', 'z', "m")
	one([]byte{0x83}, 'd', 'v', 'b', "m")
	return fs
}

var condReads = [8]uint64{of, cf, zf, cf | zf, sf, pf, sf | of, sf | of | zf}

func moveForms() []form {
	fs := []form{
		{name: "movzx", op: []byte{0x0f, 0xb6}, modrm: 'r', size: 'v', rmSize: 'b', dst: "r"},
		{name: "movzx", op: []byte{0x0f, 0xb7}, modrm: 'r', size: 'l', rmSize: 'w', dst: "r"},
		{name: "movsx", op: []byte{0x0f, 0xbe}, modrm: 'r', size: 'v', rmSize: 'b', dst: "r"},
		{name: "movsx", op: []byte{0x0f, 0xbf}, modrm: 'r', size: 'l', rmSize: 'w', dst: "r"},
		{name: "movsxd", op: []byte{0x63}, modrm: 'r', size: 'l', rmSize: 'l', dst: "r"},
		{name: "lea", op: []byte{0x8d}, modrm: 'r', size: 'v', rm: 'm', dst: "r"},
		{name: "xchg", op: []byte{0x90}, modrm: '+', size: 'v', dst: "o", regs: []int{0}},
		{name: "bswap", op: []byte{0x0f, 0xc8}, modrm: '+', size: 'l', dst: "o"},
		{name: "cbw", op: []byte{0x98}, size: 'v', regs: []int{0}},
		{name: "cwd", op: []byte{0x99}, size: 'v', regs: []int{0, 2}},
		{name: "push", op: []byte{0x50}, modrm: '+', size: 'q'},
		{name: "push", op: []byte{0xff}, modrm: 'd', ext: 6, size: 'q'},
		{name: "push", op: []byte{0x6a}, size: 'q', imm: 'b'},
		{name: "push", op: []byte{0x68}, size: 'q', imm: 'z'},
		{name: "pop", op: []byte{0x58}, modrm: '+', size: 'q', dst: "o"},
		{name: "pop", op: []byte{0x8f}, modrm: 'd', ext: 0, size: 'q', dst: "m"},
		{name: "nop", op: []byte{0x0f, 0x1f}, modrm: 'd', ext: 0, size: 'v'},
		{name: "clc", op: []byte{0xf8}, size: '0', writes: cf},
		{name: "stc", op: []byte{0xf9}, size: '0', writes: cf},
		{name: "cmc", op: []byte{0xf5}, size: '0', reads: cf},
		{name: "lahf", op: []byte{0x9f}, size: '0', regs: []int{0}, reads: arith &^ of},
		{name: "sahf", op: []byte{0x9e}, size: '0', regs: []int{0}, writes: arith &^ of},
		{name: "pushfq", op: []byte{0x9c}, size: 'q', reads: arith},
	}
	for c := range byte(16) {
		fs = append(fs, form{name: "setcc", op: []byte{0x0f, 0x90 + c}, modrm: 'd', size: 'b', dst: "m", reads: condReads[c/2]},
			form{name: "cmovcc", op: []byte{0x0f, 0x40 + c}, modrm: 'r', size: 'v', dst: "r", reads: condReads[c/2]})
	}
	return fs
}

func bitForms() []form {
	fs := []form{
		{name: "imul2", op: []byte{0x0f, 0xaf}, modrm: 'r', size: 'v', dst: "r", writes: cf | of, undef: pf | af | zf | sf},
		{name: "imul3", op: []byte{0x6b}, modrm: 'r', size: 'v', imm: 'b', dst: "r", writes: cf | of, undef: pf | af | zf | sf},
		{name: "imul3", op: []byte{0x69}, modrm: 'r', size: 'v', imm: 'z', dst: "r", writes: cf | of, undef: pf | af | zf | sf},
		{name: "popcnt", pfx: 0xf3, op: []byte{0x0f, 0xb8}, modrm: 'r', size: 'v', dst: "r", writes: arith},
		{name: "movbe", op: []byte{0x0f, 0x38, 0xf0}, modrm: 'r', size: 'l', rm: 'm', dst: "r"},
		{name: "movbe", op: []byte{0x0f, 0x38, 0xf1}, modrm: 'r', size: 'l', rm: 'm', dst: "m"},
		{name: "movnti", op: []byte{0x0f, 0xc3}, modrm: 'r', size: 'l', rm: 'm', dst: "m"},
		{name: "cmpxchg8b", op: []byte{0x0f, 0xc7}, modrm: 'd', ext: 1, size: '0', rm: 'm', dst: "m", regs: []int{0, 2}, lock: true, writes: zf},
	}
	for i, name := range []string{"bt", "bts", "btr", "btc"} {
		dst := "m"
		if i == 0 {
			dst = ""
		}
		f := form{name: name, size: 'v', dst: dst, lock: i > 0, writes: cf, undef: arith &^ (cf | zf)}
		f.op, f.modrm, f.ext, f.imm = []byte{0x0f, 0xba}, 'd', byte(4+i), 'b'
		fs = append(fs, f)
		f.op, f.modrm, f.imm, f.rm, f.lock = []byte{0x0f, 0xa3 + byte(8*i)}, 'r', 0, 'g', false
		fs = append(fs, f)
	}
	return fs
}
