package x86

import "golang.org/x/arch/x86/x86asm"

// Effects on the arithmetic flags.
const (
	flagsRead  = 1 << iota // reads some
	flagsWrite             // sets all six without looking
)

// lowKind selects how an instruction becomes uops: see one.
type lowKind uint8

const (
	lowUD lowKind = iota // not executed: #UD
	lowNop
	lowALU    // arg: row of aluTab
	lowIncDec // arg: 0 inc, 1 dec
	lowNeg
	lowNot
	lowShift // arg: /r number
	lowDShift
	lowMul1 // arg: op
	lowImul
	lowMov
	lowMovzx
	lowMovsx
	lowLea
	lowPush
	lowPop
	lowCmov
	lowSet
	lowJcc
	lowPlain   // arg: op without operands
	lowPlainRW // arg: op with one register in s
	lowBswap
	lowBit  // arg: 0 bt, 1 bts, 2 btr, 3 btc
	lowScan // arg: op
	lowXchg
	lowXadd
	lowCmpxchg
	lowCmpxchgN // arg: op
	lowString   // arg: op<<2 | size
	lowFlag     // arg: kind of opFlag
	lowJmp
	lowCall
	lowRet
	lowLoop // arg: op
	lowInt
	lowMemSys // arg: op with an address in m, x, sc, disp
	lowSelSys // arg: op with a selector
	lowEnter
	lowMovbe
	lowFrame // leave
	lowPushf
	lowPopf
)

// opRow says what to do with one of x86asm's operations.
type opRow struct {
	low   lowKind
	arg   uint16
	flags uint8
	safe  bool // cannot fault unless it has a memory operand
	ends  bool // ends a block
}

const (
	fW  = flagsWrite
	fR  = flagsRead
	fRW = flagsRead | flagsWrite
)

func alu(row uint16, f uint8) opRow { return opRow{low: lowALU, arg: row, flags: f, safe: true} }
func shift(n uint16) opRow          { return opRow{low: lowShift, arg: n, flags: fW, safe: true} } // see flagEffect
func sys(op uint16) opRow           { return opRow{low: lowPlain, arg: op, flags: fR, ends: true} }
func str(op, sz uint16) opRow       { return opRow{low: lowString, arg: op<<2 | sz, flags: fR} }
func jcc(cc uint16) opRow           { return opRow{low: lowJcc, arg: cc, flags: fR, safe: true, ends: true} }
func set(cc uint16) opRow           { return opRow{low: lowSet, arg: cc, flags: fR, safe: true} }
func cmov(cc uint16) opRow          { return opRow{low: lowCmov, arg: cc, flags: fR, safe: true} }
func pure(op uint16) opRow          { return opRow{low: lowPlain, arg: op, safe: true} }
func memSys(op uint16) opRow        { return opRow{low: lowMemSys, arg: op, flags: fR, ends: true} }
func flagOp(kind uint16) opRow      { return opRow{low: lowFlag, arg: kind, flags: fR} }

var nopRow = opRow{low: lowNop, safe: true}

// opInfo is the table of supported instructions; a missing row is #UD.
var opInfo = [...]opRow{
	x86asm.ADD: alu(0, fW), x86asm.OR: alu(1, fW), x86asm.ADC: alu(2, fRW), x86asm.SBB: alu(3, fRW),
	x86asm.AND: alu(4, fW), x86asm.SUB: alu(5, fW), x86asm.XOR: alu(6, fW), x86asm.CMP: alu(7, fW), x86asm.TEST: alu(8, fW),
	x86asm.INC: {low: lowIncDec, arg: 0, flags: fR, safe: true}, x86asm.DEC: {low: lowIncDec, arg: 1, flags: fR, safe: true},
	x86asm.NEG: {low: lowNeg, flags: fW, safe: true}, x86asm.NOT: {low: lowNot, safe: true},
	x86asm.ROL: shift(0), x86asm.ROR: shift(1), x86asm.RCL: shift(2), x86asm.RCR: shift(3),
	x86asm.SHL: shift(4), x86asm.SHR: shift(5), x86asm.SAR: shift(7),
	x86asm.SHLD: {low: lowDShift, arg: o_shld, flags: fR, safe: true}, x86asm.SHRD: {low: lowDShift, arg: o_shrd, flags: fR, safe: true},
	x86asm.MUL: {low: lowMul1, arg: o_mul1, flags: fW, safe: true}, x86asm.DIV: {low: lowMul1, arg: o_div1, flags: fR},
	x86asm.IDIV: {low: lowMul1, arg: o_idiv1, flags: fR}, x86asm.IMUL: {low: lowImul, flags: fW, safe: true},

	x86asm.MOV: {low: lowMov, safe: true}, x86asm.MOVNTI: {low: lowMov, safe: true}, x86asm.MOVZX: {low: lowMovzx, safe: true},
	x86asm.MOVSX: {low: lowMovsx, safe: true}, x86asm.MOVSXD: {low: lowMovsx, safe: true}, x86asm.LEA: {low: lowLea, safe: true},
	x86asm.PUSH: {low: lowPush}, x86asm.POP: {low: lowPop}, x86asm.LEAVE: {low: lowFrame}, x86asm.ENTER: {low: lowEnter},
	x86asm.PUSHF: {low: lowPushf, arg: 1, flags: fR}, x86asm.PUSHFQ: {low: lowPushf, arg: 3, flags: fR},
	x86asm.POPF: {low: lowPopf, arg: 1, flags: fR, ends: true}, x86asm.POPFQ: {low: lowPopf, arg: 3, flags: fR, ends: true},
	x86asm.XLATB: {low: lowMemSys, arg: o_xlat}, x86asm.MOVBE: {low: lowMovbe, safe: true},
	x86asm.CBW: pure(o_cbw), x86asm.CWDE: pure(o_cwde), x86asm.CDQE: pure(o_cdqe),
	x86asm.CWD: pure(o_cwd), x86asm.CDQ: pure(o_cdq), x86asm.CQO: pure(o_cqo), x86asm.BSWAP: {low: lowBswap, safe: true},
	x86asm.LAHF: {low: lowPlain, arg: o_lahf, flags: fR}, x86asm.SAHF: {low: lowPlain, arg: o_sahf, flags: fR},
	x86asm.CLC: flagOp(0), x86asm.STC: flagOp(1), x86asm.CMC: flagOp(2), x86asm.CLD: flagOp(3), x86asm.STD: flagOp(4),

	x86asm.BT: {low: lowBit, arg: 0, flags: fR}, x86asm.BTS: {low: lowBit, arg: 1, flags: fR},
	x86asm.BTR: {low: lowBit, arg: 2, flags: fR}, x86asm.BTC: {low: lowBit, arg: 3, flags: fR},
	x86asm.BSF: {low: lowScan, arg: o_bsf, flags: fR, safe: true}, x86asm.BSR: {low: lowScan, arg: o_bsr, flags: fR, safe: true},
	x86asm.TZCNT: {low: lowScan, arg: o_tzcnt, flags: fW, safe: true}, x86asm.LZCNT: {low: lowScan, arg: o_lzcnt, flags: fW, safe: true},
	x86asm.POPCNT: {low: lowScan, arg: o_popcnt, flags: fW, safe: true},
	x86asm.XCHG:   {low: lowXchg, safe: true}, x86asm.XADD: {low: lowXadd, flags: fW, safe: true}, x86asm.CMPXCHG: {low: lowCmpxchg, flags: fW, safe: true},
	x86asm.CMPXCHG8B: {low: lowCmpxchgN, arg: o_cmpxchg8b, flags: fR}, x86asm.CMPXCHG16B: {low: lowCmpxchgN, arg: o_cmpxchg16b, flags: fR},

	x86asm.MOVSB: str(o_movs, 0), x86asm.MOVSW: str(o_movs, 1), x86asm.MOVSD: str(o_movs, 2), x86asm.MOVSQ: str(o_movs, 3),
	x86asm.STOSB: str(o_stos, 0), x86asm.STOSW: str(o_stos, 1), x86asm.STOSD: str(o_stos, 2), x86asm.STOSQ: str(o_stos, 3),
	x86asm.LODSB: str(o_lods, 0), x86asm.LODSW: str(o_lods, 1), x86asm.LODSD: str(o_lods, 2), x86asm.LODSQ: str(o_lods, 3),
	x86asm.CMPSB: str(o_cmps, 0), x86asm.CMPSW: str(o_cmps, 1), x86asm.CMPSD: str(o_cmps, 2), x86asm.CMPSQ: str(o_cmps, 3),
	x86asm.SCASB: str(o_scas, 0), x86asm.SCASW: str(o_scas, 1), x86asm.SCASD: str(o_scas, 2), x86asm.SCASQ: str(o_scas, 3),

	x86asm.JMP: {low: lowJmp, safe: true, ends: true}, x86asm.CALL: {low: lowCall, ends: true}, x86asm.RET: {low: lowRet, ends: true},
	x86asm.LOOP: {low: lowLoop, arg: o_loop, safe: true, ends: true}, x86asm.LOOPE: {low: lowLoop, arg: o_loope, flags: fR, ends: true},
	x86asm.LOOPNE: {low: lowLoop, arg: o_loopne, flags: fR, ends: true},
	x86asm.JRCXZ:  {low: lowLoop, arg: o_jrcxz, safe: true, ends: true}, x86asm.JECXZ: {low: lowLoop, arg: o_jecxz, safe: true, ends: true},
	x86asm.JO: jcc(0), x86asm.JNO: jcc(1), x86asm.JB: jcc(2), x86asm.JAE: jcc(3), x86asm.JE: jcc(4), x86asm.JNE: jcc(5),
	x86asm.JBE: jcc(6), x86asm.JA: jcc(7), x86asm.JS: jcc(8), x86asm.JNS: jcc(9), x86asm.JP: jcc(10), x86asm.JNP: jcc(11),
	x86asm.JL: jcc(12), x86asm.JGE: jcc(13), x86asm.JLE: jcc(14), x86asm.JG: jcc(15),
	x86asm.SETO: set(0), x86asm.SETNO: set(1), x86asm.SETB: set(2), x86asm.SETAE: set(3), x86asm.SETE: set(4), x86asm.SETNE: set(5),
	x86asm.SETBE: set(6), x86asm.SETA: set(7), x86asm.SETS: set(8), x86asm.SETNS: set(9), x86asm.SETP: set(10), x86asm.SETNP: set(11),
	x86asm.SETL: set(12), x86asm.SETGE: set(13), x86asm.SETLE: set(14), x86asm.SETG: set(15),
	x86asm.CMOVO: cmov(0), x86asm.CMOVNO: cmov(1), x86asm.CMOVB: cmov(2), x86asm.CMOVAE: cmov(3), x86asm.CMOVE: cmov(4), x86asm.CMOVNE: cmov(5),
	x86asm.CMOVBE: cmov(6), x86asm.CMOVA: cmov(7), x86asm.CMOVS: cmov(8), x86asm.CMOVNS: cmov(9), x86asm.CMOVP: cmov(10), x86asm.CMOVNP: cmov(11),
	x86asm.CMOVL: cmov(12), x86asm.CMOVGE: cmov(13), x86asm.CMOVLE: cmov(14), x86asm.CMOVG: cmov(15),

	x86asm.NOP: nopRow, x86asm.PREFETCHNTA: nopRow, x86asm.PREFETCHT0: nopRow, x86asm.PREFETCHT1: nopRow, x86asm.PREFETCHT2: nopRow,
	x86asm.PREFETCHW: nopRow, x86asm.CLFLUSH: nopRow, x86asm.LFENCE: nopRow, x86asm.MFENCE: nopRow, x86asm.SFENCE: nopRow,
	x86asm.PAUSE: sys(o_pause), x86asm.HLT: sys(o_hlt), x86asm.CLI: sys(o_cli), x86asm.STI: sys(o_sti), x86asm.INT: {low: lowInt, flags: fR, ends: true},
	x86asm.ICEBP: sys(o_int1), x86asm.IRETQ: sys(o_iretq), x86asm.IRETD: sys(o_ud), x86asm.LRET: {low: lowPlain, arg: o_lretq, flags: fR, ends: true},
	x86asm.SYSCALL: sys(o_syscall), x86asm.SYSRET: sys(o_sysretq), x86asm.SWAPGS: sys(o_swapgs), x86asm.CPUID: sys(o_cpuid),
	x86asm.RDTSC: {low: lowPlain, arg: o_rdtsc, flags: fR}, x86asm.RDTSCP: {low: lowPlain, arg: o_rdtscp, flags: fR},
	x86asm.RDMSR: {low: lowPlain, arg: o_rdmsr, flags: fR}, x86asm.WRMSR: sys(o_wrmsr), x86asm.CLTS: sys(o_clts),
	x86asm.INVD: sys(o_wbinvd), x86asm.WBINVD: sys(o_wbinvd), x86asm.INVLPG: memSys(o_invlpg),
	x86asm.LGDT: memSys(o_lgdt), x86asm.LIDT: memSys(o_lidt), x86asm.SGDT: memSys(o_sgdt), x86asm.SIDT: memSys(o_sidt),
	x86asm.LTR: {low: lowSelSys, arg: o_ltr, flags: fR, ends: true}, x86asm.LLDT: {low: lowSelSys, arg: o_lldt, flags: fR, ends: true},
	x86asm.STR:      {low: lowPlainRW, arg: o_str, flags: fR},
	x86asm.RDFSBASE: {low: lowPlainRW, arg: o_fsbase_r, flags: fR}, x86asm.RDGSBASE: {low: lowPlainRW, arg: o_fsbase_r, flags: fR},
	x86asm.WRFSBASE: {low: lowPlainRW, arg: o_fsbase_w, flags: fR}, x86asm.WRGSBASE: {low: lowPlainRW, arg: o_fsbase_w, flags: fR},
	numX86Ops: {},
}

// numX86Ops is above every operation number of x86asm.
const numX86Ops = 700

// flagEffect returns what the instruction does to the flags.
func flagEffect(in *inst) uint8 {
	if in.gap != gapNone {
		return flagsRead
	}
	row := &opInfo[in.Op]
	if row.low != lowShift {
		return row.flags
	}
	if n, ok := in.Args[1].(x86asm.Imm); ok && n&31 != 0 && row.arg >= 4 {
		return flagsWrite
	}
	return flagsRead // rotates change only CF and OF, and a count of zero nothing
}

// mayFault reports whether an instruction can raise an exception.
func mayFault(in *inst) bool {
	if in.gap != gapNone {
		return in.gap != gapNop
	}
	row := &opInfo[in.Op]
	if row.low == lowNop || row.low == lowLea {
		return false
	}
	return !row.safe || touches(in.Args[0]) || touches(in.Args[1])
}

// touches reports whether the operand is memory or a register of the system.
func touches(a x86asm.Arg) bool {
	return isMem(a) || isSystem(a)
}

// isSystem reports whether the operand is a segment, control or debug register.
func isSystem(a x86asm.Arg) bool {
	r, ok := a.(x86asm.Reg)
	return ok && r > x86asm.R15
}
