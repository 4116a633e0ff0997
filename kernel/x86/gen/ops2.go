package main

import "fmt"

func (g *gen) stack() {
	const sp = "c.r[4]"
	push := func(v string) func(m mode) string {
		return func(m mode) string { return "v := " + v + "\n" + store(m, 64, sp+"-8", "v") + sp + " -= 8" }
	}
	g.op("push_r", push(reg("s", 64)))
	g.op("push_i", push("u.imm"))
	g.op("pop_r", func(m mode) string { return load(m, "v", 64, sp) + sp + " += 8\n" + set("d", 64, "v") })
	g.op("leave", func(m mode) string { return load(m, "v", 64, "c.r[5]") + "c.r[4] = c.r[5] + 8\nc.r[5] = v" })
}

// runs are uops for a row of pushes, of pops, or of 64-bit stores or loads with one base register, as prologues, epilogues and
// trampolines have them: one dispatch and one probe for all. The first uop of the row takes the number and says in sc how many
// there are; in stores and loads imm is the lowest displacement and x the span behind it in eights. The others stay as they
// are: where the probe fails, the row is executed one by one.
func (g *gen) runs() {
	const advance = "u = (*uop)(unsafe.Add(unsafe.Pointer(u), uopSize))\n"
	run := func(name, first string, ends bool, body string) {
		g.add(op{name: name, first: first, ends: ends, body: func(mode) string { return body }})
	}
	pops := `n := uint64(u.sc)
ra := c.r[4]
re := &tl.R[ra>>12&tlbMask]
if ra-re.VA > 4096-8*n { goto miss }
p := unsafe.Add(re.P, ra-re.VA)
c.r[4] = ra + 8*n
for {
*(*uint64)(unsafe.Add(cp, u.d)) = *(*uint64)(p)
n--
if n == 0 { break }
p = unsafe.Add(p, 8)
` + advance + "}\n"
	run("push_run", "push_r", false, `n := uint64(u.sc)
wa := c.r[4] - 8*n
we := &tl.W[wa>>12&tlbMask]
if wa-we.VA > 4096-8*n { goto miss }
c.r[4] = wa
p := unsafe.Add(we.P, wa-we.VA+8*n-8)
for {
*(*uint64)(p) = *(*uint64)(unsafe.Add(cp, u.s))
n--
if n == 0 { break }
p = unsafe.Add(p, -8)
`+advance+"}")
	run("pop_run", "pop_r", false, pops)
	run("pop_run_ret", "pop_r", true, "{\n"+pops+"}\n"+advance+g.ops[g.index["ret"]].body(fast))
	run("st_run", "st_64_B", false, `lo := u.imm
wa := *(*uint64)(unsafe.Add(cp, u.m)) + lo
we := &tl.W[wa>>12&tlbMask]
if wa-we.VA > 4088-8*uint64(u.x) { goto miss }
p := unsafe.Add(we.P, wa-we.VA)
for n := u.sc;; {
*(*uint64)(unsafe.Add(p, u.disp-lo)) = *(*uint64)(unsafe.Add(cp, u.s))
n--
if n == 0 { break }
`+advance+"}")
	run("ld_run", "ldz_64_B", false, `lo := u.imm
ra := *(*uint64)(unsafe.Add(cp, u.m)) + lo
re := &tl.R[ra>>12&tlbMask]
if ra-re.VA > 4088-8*uint64(u.x) { goto miss }
p := unsafe.Add(re.P, ra-re.VA)
for n := u.sc;; {
*(*uint64)(unsafe.Add(cp, u.d)) = *(*uint64)(unsafe.Add(p, u.disp-lo))
n--
if n == 0 { break }
`+advance+"}")
}

// atomic forms need no lock: the CPUs of a machine never run at the same time.
func (g *gen) atomic() {
	for _, sz := range sizes {
		g.op(fmt.Sprintf("cmpxchg_m_%d", sz), func(m mode) string {
			s := rmw(m, "v", sz, ea('X')) + fmt.Sprintf("a := %s(c.r[0])\n", utype[sz]) + flags("SUB", sz, "(a-v)", "v")
			acc := fmt.Sprintf("*(*%s)(cp) = v", utype[sz])
			if sz == 32 {
				acc = "c.r[0] = uint64(v)"
			}
			if m == slow {
				acc = "_ = cp\n" + fmt.Sprintf("*(*%s)(unsafe.Pointer(&c.r[0])) = v", utype[sz])
				if sz == 32 {
					acc = "c.r[0] = uint64(v)"
				}
			}
			return s + "if a == v {\n" + put(m, sz, reg("s", sz)) + "} else {\n" + acc + "\n}"
		})
		g.op(fmt.Sprintf("xadd_m_%d", sz), func(m mode) string {
			return rmw(m, "v", sz, ea('X')) + "b := " + reg("s", sz) + "\nr := v + b\n" + flags("ADD", sz, "r", "b") + set("s", sz, "v") + "\n" + put(m, sz, "r")
		})
		g.op(fmt.Sprintf("xchg_m_%d", sz), func(m mode) string {
			return rmw(m, "v", sz, ea('X')) + "b := " + reg("s", sz) + "\n" + set("s", sz, "v") + "\n" + put(m, sz, "b")
		})
		g.op(fmt.Sprintf("xchg_r_%d", sz), func(mode) string {
			return "a := " + reg("d", sz) + "\nb := " + reg("s", sz) + "\n" + set("d", sz, "b") + "\n" + set("s", sz, "a")
		})
		g.op(fmt.Sprintf("xadd_r_%d", sz), func(mode) string {
			return "a := " + reg("d", sz) + "\nb := " + reg("s", sz) + "\nr := a + b\n" + flags("ADD", sz, "r", "b") + set("s", sz, "a") + "\n" + set("d", sz, "r")
		})
	}
	for _, k := range []string{"cmpxchg_m", "xadd_m", "xchg_m", "xchg_r", "xadd_r"} {
		name := map[string]string{"cmpxchg_m": "cmpxchgTab", "xadd_m": "xaddmTab", "xchg_m": "xchgmTab", "xchg_r": "xchgTab", "xadd_r": "xaddTab"}[k]
		g.tables = append(g.tables, table{name, []int{4}, func(ix []int) string { return fmt.Sprintf("%s_%d", k, sizes[ix[0]]) }})
	}
}

func (g *gen) misc() {
	plain := func(name, body string) { g.op(name, func(mode) string { return body }) }
	plain("nop", "")
	plain("bswap_32", set("d", 32, "bits.ReverseBytes32("+reg("d", 32)+")"))
	plain("bswap_64", set("d", 64, "bits.ReverseBytes64("+reg("d", 64)+")"))
	plain("cbw", "c.r[0] = c.r[0]&^0xffff | uint64(uint16(int8(c.r[0])))")
	plain("cwde", "c.r[0] = uint64(uint32(int16(c.r[0])))")
	plain("cdqe", "c.r[0] = uint64(int64(int32(c.r[0])))")
	plain("cwd", "c.r[2] = c.r[2]&^0xffff | uint64(uint16(int16(c.r[0])>>15))")
	plain("cdq", "c.r[2] = uint64(uint32(int32(c.r[0])>>31))")
	plain("cqo", "c.r[2] = uint64(int64(c.r[0])>>63)")
	g.op("entry", func(m mode) string { // first uop of a block that a function starts with
		if m == slow {
			return "*c.b.entry++"
		}
		return "*bl.entry++"
	})
}

func (g *gen) flow() {
	const sp = "c.r[4]"
	g.end("next", func(m mode) string { return jump(m, "f") }) // falls out of the block: no instruction
	g.end("jmp", func(m mode) string { return jump(m, "t") })
	g.end("call", func(m mode) string {
		return "v := u.imm\n" + store(m, 64, sp+"-8", "v") + sp + " -= 8\n" + jump(m, "t")
	})
	g.end("ret", func(m mode) string { return load(m, "v", 64, sp) + canonical(m, "v") + sp + " += 8\n" + lookup(m, "v") })
	g.end("ret_i", func(m mode) string {
		return load(m, "v", 64, sp) + canonical(m, "v") + sp + " += 8 + u.imm\n" + lookup(m, "v")
	})
	g.end("jmp_r", func(m mode) string { return "v := " + reg("s", 64) + "\n" + canonical(m, "v") + lookup(m, "v") })
	g.end("call_r", func(m mode) string {
		return "v := u.imm\nt := " + reg("s", 64) + "\n" + probe(m) + canonical(m, "t") + store(m, 64, sp+"-8", "v") + sp + " -= 8\n" + lookup(m, "t")
	})
	g.end("jrcxz", func(m mode) string { return branch(m, "c.r[1] == 0") })
	g.end("jecxz", func(m mode) string { return branch(m, "uint32(c.r[1]) == 0") })
	g.end("loop", func(m mode) string { return "c.r[1]--\n" + branch(m, "c.r[1] != 0") })
	g.method("loope", "opLoope")
	g.method("loopne", "opLoopne")
}

// slowOnly are the uops that only the slow path knows: name, and the method of CPU that executes it.
var slowOnly = [][2]string{
	{"gate", "opGate"}, {"scall", "opShadowCall"}, {"sret", "opShadowRet"}, {"locked", "opLocked"}, {"hook", "opHook"}, {"gp", "opGP"}, {"io", "opIO"}, {"loopcx", "opLoopCX"},
	{"shift", "opShift"}, {"shld", "opShld"}, {"shrd", "opShrd"},
	{"mul1", "opMul1"}, {"imul1", "opImul1"}, {"div1", "opDiv1"}, {"idiv1", "opIdiv1"},
	{"bt", "opBit"}, {"btm", "opBitMem"}, {"bsf", "opBsf"}, {"bsr", "opBsr"}, {"tzcnt", "opTzcnt"}, {"lzcnt", "opLzcnt"}, {"popcnt", "opPopcnt"},
	{"cmpxchg_r", "opCmpxchgReg"}, {"cmpxchg8b", "opCmpxchg8b"}, {"cmpxchg16b", "opCmpxchg16b"},
	{"pushw", "opPush16"}, {"popw", "opPop16"}, {"popm", "opPopMem"}, {"pushf", "opPushf"}, {"popf", "opPopf"},
	{"enter", "opEnter"}, {"flagop", "opFlag"}, {"lahf", "opLahf"}, {"sahf", "opSahf"}, {"xlat", "opXlat"},
	{"movs", "opMovs"}, {"stos", "opStos"}, {"lods", "opLods"}, {"cmps", "opCmps"}, {"scas", "opScas"},
	{"cli", "opCli"}, {"sti", "opSti"}, {"hlt", "opHlt"}, {"pause", "opPause"}, {"vmcall", "opVmcall"},
	{"int3", "opInt3"}, {"int", "opInt"}, {"int1", "opInt1"}, {"iretq", "opIretq"}, {"lretq", "opLretq"},
	{"syscall", "opSyscall"}, {"sysretq", "opSysretq"}, {"swapgs", "opSwapgs"},
	{"cpuid", "opCPUID"}, {"rdtsc", "opRdtsc"}, {"rdtscp", "opRdtscp"}, {"rdmsr", "opRdmsr"}, {"wrmsr", "opWrmsr"},
	{"movcr_r", "opMovFromCR"}, {"movcr_w", "opMovToCR"}, {"movdr_r", "opMovFromDR"}, {"movdr_w", "opMovToDR"}, {"clts", "opClts"},
	{"lgdt", "opLgdt"}, {"lidt", "opLidt"}, {"sgdt", "opSgdt"}, {"sidt", "opSidt"}, {"ltr", "opLtr"}, {"lldt", "opLldt"}, {"str", "opStr"},
	{"movseg_r", "opMovFromSeg"}, {"movseg_w", "opMovToSeg"}, {"invlpg", "opInvlpg"}, {"wbinvd", "opWbinvd"},
	{"fsbase_r", "opRdBase"}, {"fsbase_w", "opWrBase"},
}
