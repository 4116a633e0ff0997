package main

import "fmt"

var (
	sizes = [...]int{8, 16, 32, 64}
	utype = map[int]string{8: "uint8", 16: "uint16", 32: "uint32", 64: "uint64"}
	stype = map[int]string{8: "int8", 16: "int16", 32: "int32", 64: "int64"}
	sizeN = map[int]int{8: 0, 16: 1, 32: 2, 64: 3}
)

// reg reads the register whose byte offset is in field f of the uop.
func reg(f string, sz int) string { return fmt.Sprintf("*(*%s)(unsafe.Add(cp, u.%s))", utype[sz], f) }

// set writes it: 32-bit results clear the upper half.
func set(f string, sz int, v string) string {
	if sz == 32 {
		return fmt.Sprintf("%s = uint64(%s)", reg(f, 64), v)
	}
	return fmt.Sprintf("%s = %s", reg(f, sz), v)
}

// ea is the effective address: base+disp (B) or base+index<<scale+disp (X).
func ea(form byte) string {
	if form == 'B' {
		return reg("m", 64) + " + u.disp"
	}
	return reg("m", 64) + " + " + reg("x", 64) + "<<(u.sc&63) + u.disp"
}

// load declares v, sz bits at address va (an expression, evaluated once).
func load(m mode, v string, sz int, va string) string {
	if m == slow {
		return fmt.Sprintf("t%s, ok := c.load(%s, %d)\nif !ok { return stFault }\n%s := %s(t%s)\n", v, va, sz/8, v, utype[sz], v)
	}
	return fmt.Sprintf(`a%[1]s := %[2]s
e%[1]s := &tl.R[a%[1]s>>12&tlbMask]
if a%[1]s-e%[1]s.VA > %[3]d { goto miss }
%[1]s := *(*%[4]s)(unsafe.Add(e%[1]s.P, a%[1]s-e%[1]s.VA))
`, v, va, 4096-sz/8, utype[sz])
}

// store writes val at va.
func store(m mode, sz int, va, val string) string {
	if m == slow {
		return fmt.Sprintf("if !c.store(%s, uint64(%s), %d) { return stFault }\n", va, val, sz/8)
	}
	return fmt.Sprintf(`wa := %s
we := &tl.W[wa>>12&tlbMask]
if wa-we.VA > %d { goto miss }
*(*%s)(unsafe.Add(we.P, wa-we.VA)) = %s
`, va, 4096-sz/8, utype[sz], val)
}

// rmw declares v, the value at va, after checking that va can be written; put then writes it and cannot fault.
func rmw(m mode, v string, sz int, va string) string {
	if m == slow {
		return fmt.Sprintf("wa := %s\nt%s, ok := c.loadW(wa, %d)\nif !ok { return stFault }\n%s := %s(t%s)\n", va, v, sz/8, v, utype[sz], v)
	}
	return fmt.Sprintf(`wa := %s
we := &tl.W[wa>>12&tlbMask]
if wa-we.VA > %d { goto miss }
wp := (*%s)(unsafe.Add(we.P, wa-we.VA))
%s := *wp
`, va, 4096-sz/8, utype[sz], v)
}

func put(m mode, sz int, val string) string {
	if m == slow {
		return fmt.Sprintf("c.store(wa, uint64(%s), %d)\n", val, sz/8)
	}
	return fmt.Sprintf("*wp = %s\n", val)
}

// miss gives the instruction to the slow function.
func jump(m mode, side string) string {
	if m == slow {
		return fmt.Sprintf("c.rip = c.b.%sva\nreturn stJump", side)
	}
	return fmt.Sprintf("nb = bl.%s; goto enter", side)
}

func lookup(m mode, target string) string {
	if m == slow {
		return fmt.Sprintf("c.rip = %s\nreturn stJump", target)
	}
	return fmt.Sprintf("target = %s; goto lookup", target)
}

// probe faults a push before the branch is checked.
func probe(m mode) string {
	if m == fast {
		return ""
	}
	return "if _, ok := c.loadW(c.r[4]-8, 8); !ok { return stFault }\n"
}

// canonical faults the branch itself when its target is no address.
func canonical(m mode, v string) string {
	act := "goto miss"
	if m == slow {
		act = "return c.raiseGP(0)"
	}
	return fmt.Sprintf("if uint64(int64(%[1]s)<<16>>16) != %[1]s { %[2]s }\n", v, act)
}

func branch(m mode, cond string) string {
	return fmt.Sprintf("if %s { %s }\n%s", cond, jump(m, "t"), jump(m, "f"))
}

// flags records what the last flag-setting uop computed: see flags.go for the kinds.
func flags(kind string, sz int, r, b string) string {
	fa := fmt.Sprintf("uint64(int64(%s(%s)))", stype[sz], r)
	if sz == 64 {
		fa = r
	}
	return fmt.Sprintf("c.fop = k%s|%d; c.fa = %s; c.fb = uint64(%s)\n", kind, sizeN[sz], fa, b)
}

// cond declares t, whether condition cc holds; kinds it does not know go to the slow function.
func cond(m mode, cc int) string {
	if m == slow {
		return fmt.Sprintf("t := c.cond(%d)\n", cc)
	}
	not := ""
	if cc&1 == 1 {
		not = "!"
	}
	sub := func(op string, signed bool) string {
		s := "var t bool\nswitch c.fop {\n"
		for _, sz := range sizes {
			ty := utype[sz]
			if signed {
				ty = stype[sz]
			}
			s += fmt.Sprintf("case kSUB|%d: t = %s(c.fa+c.fb) %s %s(c.fb)\n", sizeN[sz], ty, op, ty)
		}
		return s
	}
	var s string
	logic := "case kLOGIC, kLOGIC|1, kLOGIC|2, kLOGIC|3: t = %s\ndefault: goto miss\n}\n"
	switch cc >> 1 {
	case 1:
		s = sub("<", false) + fmt.Sprintf(logic, "false")
	case 2:
		return fmt.Sprintf("t := c.fa %s 0\n", [2]string{"==", "!="}[cc&1])
	case 3:
		s = sub("<=", false) + fmt.Sprintf(logic, "c.fa == 0")
	case 4:
		return fmt.Sprintf("if c.fop == kODD { goto miss }\nt := int64(c.fa) %s 0\n", [2]string{"<", ">="}[cc&1])
	case 6:
		s = sub("<", true) + fmt.Sprintf(logic, "int64(c.fa) < 0")
	case 7:
		s = sub("<=", true) + fmt.Sprintf(logic, "int64(c.fa) <= 0")
	default:
		return ""
	}
	if not != "" {
		s += "t = !t\n"
	}
	return s
}
