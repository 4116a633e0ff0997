package main

import "fmt"

var aluNames = [...]string{"add", "or", "adc", "sbb", "and", "sub", "xor", "cmp", "test"}
var aluForms = [...]string{"rr", "ri", "rmB", "rmX", "mrB", "mrX", "miB", "miX"}
var shiftNames = [...]string{"rol", "ror", "rcl", "rcr", "shl", "shr", "sal", "sar"} // by the /r field
var addrForms = [...]string{"B", "X"}
var condCode = [...]string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"}

// table fills g.ops. Op 0 is "ud", so that a hole in a table raises #UD instead of doing something else.
func (g *gen) table() {
	g.method("ud", "opUD")
	g.alu()
	g.moves()
	g.unary()
	g.shifts()
	g.multiply()
	g.conditions()
	g.fused()
	g.stack()
	g.atomic()
	g.misc()
	g.flow()
	g.runs()
	for _, s := range slowOnly {
		g.method(s[0], s[1])
	}
}

// alu writes k of a and b with flags or without; wr stores the result.
func aluBody(m mode, k string, sz int, withFlags bool, wr func(v string) string) string {
	fl := func(kind, r, b string) string {
		if !withFlags {
			return ""
		}
		return flags(kind, sz, r, b)
	}
	switch k {
	case "add":
		return "r := a + b\n" + fl("ADD", "r", "b") + wr("r")
	case "sub":
		return "r := a - b\n" + fl("SUB", "r", "b") + wr("r")
	case "cmp":
		return "r := a - b\n" + fl("SUB", "r", "b")
	case "and", "or", "xor":
		return fmt.Sprintf("r := a %s b\n", map[string]string{"and": "&", "or": "|", "xor": "^"}[k]) + fl("LOGIC", "r", "0") + wr("r")
	case "test":
		return "r := a & b\n" + fl("LOGIC", "r", "0")
	}
	// adc, sbb: the carry in comes from whatever flags are there
	if m == fast {
		return ""
	}
	return fmt.Sprintf("r := %s(c.%s(uint64(a), uint64(b), %d))\n", utype[sz], k, sizeN[sz]) + wr("r")
}

func (g *gen) alu() {
	for _, k := range aluNames {
		for _, sz := range sizes {
			for _, f := range []string{"F", "N"} {
				carry := k == "adc" || k == "sbb"
				if f == "N" && (carry || k == "cmp" || k == "test") {
					continue
				}
				for _, form := range aluForms {
					if f == "N" && form[0] == 'm' {
						continue
					}
					if k == "test" && form[:2] == "rm" {
						continue
					}
					g.aluForm(k, sz, f, form, carry)
				}
			}
		}
	}
	g.tables = append(g.tables, table{"aluTab", []int{9, 8, 4, 2}, func(ix []int) string {
		return fmt.Sprintf("%s_%s_%d_%s", aluNames[ix[0]], aluForms[ix[1]], sizes[ix[2]], [2]string{"F", "N"}[ix[3]])
	}})
}

func (g *gen) aluForm(k string, sz int, f, form string, carry bool) {
	name := fmt.Sprintf("%s_%s_%d_%s", k, form, sz, f)
	T := utype[sz]
	src := map[byte]string{'r': "b := " + reg("s", sz) + "\n", 'i': "b := " + T + "(u.imm)\n"}
	body := func(m mode) string {
		if carry && m == fast {
			return "goto miss"
		}
		switch form[:2] {
		case "rr", "ri":
			return "a := " + reg("d", sz) + "\n" + src[form[1]] + aluBody(m, k, sz, f == "F", func(v string) string { return set("d", sz, v) })
		case "rm":
			return load(m, "b", sz, ea(form[2])) + "a := " + reg("d", sz) + "\n" + aluBody(m, k, sz, f == "F", func(v string) string { return set("d", sz, v) })
		}
		if k == "cmp" || k == "test" {
			return load(m, "a", sz, ea(form[2])) + src[form[1]] + aluBody(m, k, sz, true, nil)
		}
		return rmw(m, "a", sz, ea(form[2])) + src[form[1]] + aluBody(m, k, sz, f == "F", func(v string) string { return put(m, sz, v) })
	}
	g.op(name, body)
}

func (g *gen) moves() {
	for _, sz := range sizes {
		g.op(fmt.Sprintf("mov_rr_%d", sz), func(mode) string { return set("d", sz, reg("s", sz)) })
		for _, a := range addrForms {
			va := ea(a[0])
			g.op(fmt.Sprintf("st_%d_%s", sz, a), func(m mode) string { return store(m, sz, va, reg("s", sz)) })
			g.op(fmt.Sprintf("sti_%d_%s", sz, a), func(m mode) string { return store(m, sz, va, utype[sz]+"(u.imm)") })
			g.op(fmt.Sprintf("ldz_%d_%s", sz, a), func(m mode) string { return load(m, "v", sz, va) + set("d", 64, "uint64(v)") })
			// for read-modify-write in several uops: checks that the store will not fault
			g.op(fmt.Sprintf("ldw_%d_%s", sz, a), func(m mode) string { return rmw(m, "v", sz, va) + set("d", 64, "uint64(v)") })
			if sz < 32 {
				g.op(fmt.Sprintf("ldm_%d_%s", sz, a), func(m mode) string { return load(m, "v", sz, va) + set("d", sz, "v") })
			}
			for _, dst := range sizes[1:] {
				if dst > sz {
					g.op(fmt.Sprintf("lds_%d_%d_%s", sz, dst, a), func(m mode) string {
						return load(m, "v", sz, va) + set("d", dst, fmt.Sprintf("%s(%s(%s(v)))", utype[dst], stype[dst], stype[sz]))
					})
				}
			}
		}
		for _, dst := range sizes[1:] {
			if dst > sz {
				g.op(fmt.Sprintf("movs_%d_%d", sz, dst), func(mode) string {
					return set("d", dst, fmt.Sprintf("%s(%s(%s(%s)))", utype[dst], stype[dst], stype[sz], reg("s", sz)))
				})
			}
		}
	}
	for _, sz := range []int{8, 16} {
		g.op(fmt.Sprintf("movz_%d", sz), func(mode) string { return set("d", 64, "uint64("+reg("s", sz)+")") })
		g.op(fmt.Sprintf("mov_ri_%d", sz), func(mode) string { return set("d", sz, utype[sz]+"(u.imm)") })
	}
	g.op("mov_ri_64", func(mode) string { return set("d", 64, "u.imm") })
	for _, a := range addrForms {
		g.op("lea_16_"+a, func(mode) string { return set("d", 16, "uint16("+ea(a[0])+")") })
		g.op("lea_32_"+a, func(mode) string { return set("d", 32, "uint32("+ea(a[0])+")") })
		g.op("lea_64_"+a, func(mode) string { return set("d", 64, ea(a[0])) })
	}
	sized := func(name, format string, dims ...int) {
		g.tables = append(g.tables, table{name, dims, func(ix []int) string {
			args := make([]any, len(ix))
			for i, x := range ix {
				args[i] = sizes[x]
				if i == len(ix)-1 && dims[i] == 2 {
					args[i] = addrForms[x]
				}
			}
			return fmt.Sprintf(format, args...)
		}})
	}
	sized("movrrTab", "mov_rr_%d", 4)
	sized("stTab", "st_%d_%s", 4, 2)
	sized("stiTab", "sti_%d_%s", 4, 2)
	sized("ldzTab", "ldz_%d_%s", 4, 2)
	sized("ldwTab", "ldw_%d_%s", 4, 2)
	sized("ldmTab", "ldm_%d_%s", 4, 2)
	sized("ldsTab", "lds_%d_%d_%s", 4, 4, 2)
	sized("movsTab", "movs_%d_%d", 4, 4)
	sized("leaTab", "lea_%d_%s", 4, 2)
}

// keepCF saves the flags that the carry is to be read from later: inc and dec leave CF alone.
const keepCF = "if c.fop < kINC || c.fop >= kEXP { c.sop, c.sa, c.sb = c.fop, c.fa, c.fb }\n"

func incBody(k string, sz int, v string) string {
	op, kind := "+", "INC"
	if k == "dec" {
		op, kind = "-", "DEC"
	}
	return fmt.Sprintf("r := %s %s 1\n", v, op) + keepCF +
		fmt.Sprintf("c.fop = k%s|%d; c.fa = uint64(int64(%s(r)))\n", kind, sizeN[sz], stype[sz])
}

func (g *gen) unary() {
	for _, sz := range sizes {
		for _, k := range []string{"inc", "dec"} {
			g.op(fmt.Sprintf("%s_r_%d", k, sz), func(mode) string {
				return "a := " + reg("d", sz) + "\n" + incBody(k, sz, "a") + set("d", sz, "r")
			})
			for _, a := range addrForms {
				g.op(fmt.Sprintf("%s_m_%d_%s", k, sz, a), func(m mode) string {
					return rmw(m, "a", sz, ea(a[0])) + incBody(k, sz, "a") + put(m, sz, "r")
				})
			}
		}
		for _, f := range []string{"F", "N"} {
			g.op(fmt.Sprintf("neg_%d_%s", sz, f), func(mode) string {
				s := "a := " + reg("d", sz) + "\nr := -a\n"
				if f == "F" {
					s += flags("SUB", sz, "r", "a")
				}
				return s + set("d", sz, "r")
			})
		}
		g.op(fmt.Sprintf("not_%d", sz), func(mode) string { return set("d", sz, "^"+reg("d", sz)) })
	}
	g.tables = append(g.tables,
		table{"incTab", []int{2, 4}, func(ix []int) string { return fmt.Sprintf("%s_r_%d", [2]string{"inc", "dec"}[ix[0]], sizes[ix[1]]) }},
		table{"incmTab", []int{2, 4, 2}, func(ix []int) string {
			return fmt.Sprintf("%s_m_%d_%s", [2]string{"inc", "dec"}[ix[0]], sizes[ix[1]], addrForms[ix[2]])
		}},
		table{"negTab", []int{4, 2}, func(ix []int) string { return fmt.Sprintf("neg_%d_%s", sizes[ix[0]], [2]string{"F", "N"}[ix[1]]) }},
		table{"notTab", []int{4}, func(ix []int) string { return fmt.Sprintf("not_%d", sizes[ix[0]]) }})
}

// shifts: 32 and 64 bit of shl, shr, sar, and rotates whose flags nobody reads, are fast; the rest is opShift.
func (g *gen) shifts() {
	for _, sz := range []int{32, 64} {
		for _, f := range []string{"F", "N"} {
			for _, form := range []string{"ri", "rc"} {
				for _, k := range []string{"shl", "shr", "sar", "rol", "ror"} {
					if f == "F" && (k == "rol" || k == "ror") {
						continue
					}
					g.op(fmt.Sprintf("%s_%s_%d_%s", k, form, sz, f), func(mode) string { return shiftBody(k, form, sz, f == "F") })
				}
			}
		}
	}
	g.tables = append(g.tables, table{"shiftTab", []int{8, 2, 4, 2}, func(ix []int) string {
		k := shiftNames[ix[0]]
		if k == "sal" {
			k = "shl"
		}
		return fmt.Sprintf("%s_%s_%d_%s", k, [2]string{"ri", "rc"}[ix[1]], sizes[ix[2]], [2]string{"F", "N"}[ix[3]])
	}})
}

func shiftBody(k, form string, sz int, withFlags bool) string {
	top := sz - 1
	s := "a := " + reg("d", sz) + "\n"
	if form == "ri" {
		s += "n := uint(u.imm) // 1..\n"
	} else {
		s += fmt.Sprintf("n := uint(c.r[1]) & %d\nif n == 0 { a := a; %s } else {\n", top, set("d", sz, "a"))
	}
	var fb string
	switch k {
	case "shl":
		s += "r := a << (n&63)\n"
		fb = fmt.Sprintf("cf := uint64(a >> ((%d-n)&63)) & 1\nfb := cf | (uint64(r>>%d)^cf)<<11\n", sz, top)
	case "shr":
		s += "r := a >> (n&63)\n"
		fb = fmt.Sprintf("fb := uint64(a>>((n-1)&63))&1 | uint64(a>>%d)<<11\n", top)
	case "sar":
		s += fmt.Sprintf("r := %s(%s(a) >> (n&63))\n", utype[sz], stype[sz])
		fb = fmt.Sprintf("fb := uint64(%s(a)>>((n-1)&63)) & 1\n", stype[sz])
	case "rol":
		s += fmt.Sprintf("r := bits.RotateLeft%d(a, int(n))\n", sz)
	case "ror":
		s += fmt.Sprintf("r := bits.RotateLeft%d(a, -int(n))\n", sz)
	}
	if withFlags {
		s += fb + flags("RES", sz, "r", "fb")
	}
	s += set("d", sz, "r")
	if form == "rc" {
		s += "\n}"
	}
	return s
}

// mulFlags: CF and OF when the product does not fit.
func mulBody(sz int, withFlags bool) string {
	s := "r := a * b\n"
	if withFlags {
		if sz == 64 {
			s += "hi, lo := bits.Mul64(a, b)\nhi -= uint64(int64(a)>>63)&b + uint64(int64(b)>>63)&a\nvar fb uint64\nif hi != uint64(int64(lo)>>63) { fb = flagCF|flagOF }\n"
		} else {
			s += fmt.Sprintf("var fb uint64\nif p := int64(%s(a))*int64(%s(b)); p != int64(%s(p)) { fb = flagCF|flagOF }\n", stype[sz], stype[sz], stype[sz])
		}
		s += flags("RES", sz, "r", "fb")
	}
	return s + set("d", sz, "r")
}

func (g *gen) multiply() {
	for _, sz := range sizes[1:] {
		for _, f := range []string{"F", "N"} {
			n := func(form string) string { return fmt.Sprintf("imul_%s_%d_%s", form, sz, f) }
			g.op(n("rr"), func(mode) string {
				return "a := " + reg("d", sz) + "\nb := " + reg("s", sz) + "\n" + mulBody(sz, f == "F")
			})
			g.op(n("rri"), func(mode) string {
				return "a := " + reg("s", sz) + "\nb := " + utype[sz] + "(u.imm)\n" + mulBody(sz, f == "F")
			})
		}
	}
	g.op("mul_64", func(mode) string {
		return "hi, lo := bits.Mul64(c.r[0], " + reg("s", 64) + ")\nc.r[0] = lo\nc.r[2] = hi\nvar fb uint64\nif hi != 0 { fb = flagCF|flagOF }\n" + flags("RES", 64, "lo", "fb")
	})
	g.op("mul_32", func(mode) string {
		return "p := uint64(uint32(c.r[0])) * uint64(" + reg("s", 32) + ")\nc.r[0] = uint64(uint32(p))\nc.r[2] = p>>32\nvar fb uint64\nif p>>32 != 0 { fb = flagCF|flagOF }\n" + flags("RES", 32, "p", "fb")
	})
	fault := func(m mode, when string) string {
		if m == slow {
			return "if " + when + " { return c.raise(VecDE, 0, false) }\n"
		}
		return "if " + when + " { goto miss }\n"
	}
	g.op("div_64", func(m mode) string {
		return "d := " + reg("s", 64) + "\n" + fault(m, "d <= c.r[2]") + "c.r[0], c.r[2] = bits.Div64(c.r[2], c.r[0], d)"
	})
	g.op("div_32", func(m mode) string {
		return "d := uint64(" + reg("s", 32) + ")\nn := c.r[2]<<32 | uint64(uint32(c.r[0]))\n" + fault(m, "d == 0 || n/d > 0xffffffff") + "c.r[0], c.r[2] = n/d, n%d"
	})
	g.tables = append(g.tables, table{"imulTab", []int{2, 4, 2}, func(ix []int) string {
		return fmt.Sprintf("imul_%s_%d_%s", [2]string{"rr", "rri"}[ix[0]], sizes[ix[1]], [2]string{"F", "N"}[ix[2]])
	}})
}

func (g *gen) conditions() {
	for cc, name := range condCode {
		with := func(f func(m mode) string) func(m mode) string {
			return func(m mode) string {
				s := cond(m, cc)
				if s == "" {
					return "goto miss"
				}
				return s + f(m)
			}
		}
		g.op("set_"+name, with(func(mode) string { return "var v uint8\nif t { v = 1 }\n" + set("d", 8, "v") }))
		for _, sz := range sizes[1:] {
			g.op(fmt.Sprintf("cmov_%s_%d", name, sz), with(func(mode) string {
				s := "v := " + reg("d", sz) + "\nif t { v = " + reg("s", sz) + " }\n"
				return s + set("d", sz, "v")
			}))
		}
		g.end("jcc_"+name, with(func(m mode) string { return branch(m, "t") }))
	}
	byCC := func(format string) func(ix []int) string {
		return func(ix []int) string { return fmt.Sprintf(format, condCode[ix[0]]) }
	}
	g.tables = append(g.tables,
		table{"setTab", []int{16}, byCC("set_%s")},
		table{"jccTab", []int{16}, byCC("jcc_%s")},
		table{"cmovTab", []int{16, 4}, func(ix []int) string { return fmt.Sprintf("cmov_%s_%d", condCode[ix[0]], sizes[ix[1]]) }})
}

var fusedForms = [...]string{"rr", "ri", "rmB", "mrB", "miB"}

// fused are cmp or test with the jcc behind it; the flags are set as well.
func (g *gen) fused() {
	cmp := map[int]string{2: "a < b", 3: "a >= b", 4: "a == b", 5: "a != b", 6: "a <= b", 7: "a > b",
		8: "S(a-b) < 0", 9: "S(a-b) >= 0", 12: "S(a) < S(b)", 13: "S(a) >= S(b)", 14: "S(a) <= S(b)", 15: "S(a) > S(b)"}
	tst := map[int]string{4: "r == 0", 5: "r != 0", 8: "S(r) < 0", 9: "S(r) >= 0", 14: "S(r) <= 0", 15: "S(r) > 0"}
	for cc := range 16 {
		for _, sz := range sizes {
			for _, form := range fusedForms {
				src := map[byte]string{'r': "b := " + reg("s", sz) + "\n", 'i': "b := " + utype[sz] + "(u.imm)\n"}
				get := func(m mode) string {
					switch form[:2] {
					case "rr", "ri":
						return "a := " + reg("d", sz) + "\n" + src[form[1]]
					case "rm":
						return load(m, "b", sz, ea('B')) + "a := " + reg("d", sz) + "\n"
					}
					return load(m, "a", sz, ea('B')) + src[form[1]]
				}
				if e, ok := cmp[cc]; ok {
					g.end(fmt.Sprintf("jcmp_%s_%d_%s", form, sz, condCode[cc]), func(m mode) string {
						return get(m) + flags("SUB", sz, "(a-b)", "b") + branch(m, signed(e, sz))
					})
				}
				if e, ok := tst[cc]; ok && form != "rmB" {
					g.end(fmt.Sprintf("jtest_%s_%d_%s", form, sz, condCode[cc]), func(m mode) string {
						return get(m) + "r := a & b\n" + flags("LOGIC", sz, "r", "0") + branch(m, signed(e, sz))
					})
				}
			}
		}
	}
	g.tables = append(g.tables, table{"fusedTab", []int{2, 5, 4, 16}, func(ix []int) string {
		return fmt.Sprintf("%s_%s_%d_%s", [2]string{"jcmp", "jtest"}[ix[0]], fusedForms[ix[1]], sizes[ix[2]], condCode[ix[3]])
	}})
}

// signed replaces S(x) by a conversion to the signed type.
func signed(e string, sz int) string {
	out := ""
	for i := 0; i < len(e); i++ {
		if e[i] == 'S' {
			out += stype[sz]
			continue
		}
		out += e[i : i+1]
	}
	return out
}
