package x86

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"kscope/kernel/mem"
)

// windowVectors: code (at textVA+at), instructions executed before the write, offset and bytes written, instructions
// executed after it => rax, end of the window as an offset from textVA, stale instructions. I is inc rax (3 bytes), D is
// dec rax, N a nop, J a jmp to the next instruction; a number before one repeats it.
const windowVectors = `
I I I I J     | 0  | 1 | 3 D       | 3 => 4 e 1         # the next instruction is stale
I I I I J     | 0  | 1 | 6 D       | 3 => 4 e 1         # and so is the one after it
I J I I J     | 0  | 1 | 5 D       | 3 => 1 5 0         # not behind a branch: I J D I
I 18I         | 0  | 1 | 30 D      | 16 => 15 30 0      # the window holds 16 instructions from the origin
I 18I         | 0  | 1 | 2d D      | 16 => 17 30 1
21I           | 0  | 3 | 30 D      | 18 => 19 30 0      # still counted from the origin
21I           | 0  | 10 | 30 D     | 11 => 19 30 0      # the next window starts at instruction 16, which is changed
5I            | 34 | 1 | 40 D      | 4 => 3 40 0        # the line's end: 34 37 3a 3d | 40
5I            | 34 | 1 | 3d D      | 4 => 5 40 1
3I            | 3c | 0 | 42 D      | 3 => 1 40 0        # 3c 3f 42: the second has one byte in the line
3I            | 3c | 0 | 3f 3N     | 3 => 1 40 1        # torn: head held (48), tail new (90): a nop of two bytes
2I 3N I J     | 0  | 2 | 6 I       | 4 => 3 e 3         # three nops replaced by one instruction
I F I I       | 0  | 1 | 4 D       | 3 => 1 4 0         # cli ends a window
`

func TestWindowVectors(t *testing.T) {
	for i, line := range strings.Split(strings.TrimSpace(windowVectors), "\n") {
		row, _, _ := strings.Cut(line, "#")
		f := strings.Split(row, "|")
		var at, before, after uint64
		var off uint64
		var with string
		var rax, end, stale uint64
		fmt.Sscanf(f[1], "%x", &at)
		fmt.Sscanf(f[2], "%d", &before)
		fmt.Sscanf(f[3], "%x %s", &off, &with)
		if n, _ := fmt.Sscanf(f[4], "%d => %d %x %d", &after, &rax, &end, &stale); n != 4 {
			t.Fatalf("row %d: bad vector", i)
		}
		for _, chop := range []bool{false, true} {
			cs := newTestCPUs(2, nil)
			c := cs[0]
			c.phys.WriteAt(textPA+at, assembleWindow(f[0]))
			c.SetRIP(textVA + at)
			run := func(n uint64) {
				for n > 0 {
					k := n
					if chop {
						k = 1
					}
					if e := c.Run(int64(k)); e != ExitBudget {
						t.Fatalf("row %d: %v %+v", i, e, c.Exc)
					}
					n -= k
				}
			}
			run(before)
			c.HoldWindow()
			_, got, _ := c.Window()
			b := assembleWindow(with)
			c.phys.WriteAt(textPA+off, b)
			cs[1].InvalidateCode(textPA+off, len(b))
			run(after)
			if c.Reg(RAX) != rax || got != textVA+end || c.StaleInsns != stale {
				t.Errorf("row %d, chopped %v: rax %d want %d, end %x want %x, stale %d want %d: %s", i, chop, c.Reg(RAX), rax, got-textVA, end, c.StaleInsns, stale, line)
			}
		}
	}
}

func assembleWindow(s string) (b []byte) {
	for _, w := range strings.Fields(s) {
		n := 1
		fmt.Sscanf(w, "%d", &n)
		for range n {
			switch w[len(w)-1] {
			case 'I':
				b = append(b, 0x48, 0xff, 0xc0)
			case 'D':
				b = append(b, 0x48, 0xff, 0xc8)
			case 'N':
				b = append(b, 0x90)
			case 'J':
				b = append(b, 0xeb, 0)
			case 'F':
				b = append(b, 0xfa)
			}
		}
	}
	return b
}

// TestSelfModify: a CPU sees its own stores to the text that it is about to execute, in the same block too.
func TestSelfModify(t *testing.T) {
	// mov byte [rip+3],0xc8 (the modrm of the inc behind two nops); nop; nop; inc rax -> dec rax; hlt
	c := newTestCPUs(1, unhex(t, "c60504000000c8 9090 48ffc0 f4"))[0]
	for range 2 { // the second time the block is decoded afresh
		c.SetRIP(textVA)
		c.SetReg(RAX, 5)
		if e := c.Run(100); e != ExitHalt || c.Reg(RAX) != 4 {
			t.Errorf("exit %v, rax %d, exc %+v", e, c.Reg(RAX), c.Exc)
		}
	}
	if len(c.testEnv().writes) != 2 {
		t.Errorf("CodeWrite calls: %x", c.testEnv().writes)
	}
	if c.Insns != 10 {
		t.Errorf("%d instructions", c.Insns)
	}
}

// TestDataPageBecomesCode: a page with a write entry in another CPU's TLB starts to be executed, then is written.
func TestDataPageBecomesCode(t *testing.T) {
	cs := newTestCPUs(2, unhex(t, "8807 eb fc")) // l: mov [rdi],al; jmp l
	w, x := cs[0], cs[1]
	w.SetReg(RDI, dataVA+0x100)
	w.SetReg(RAX, 0x90)
	w.Run(10)
	x.phys.WriteAt(dataPA+0x100, unhex(t, "90 ebfd"))
	x.SetRIP(dataVA + 0x100)
	x.Run(10)
	w.SetReg(RAX, 0xf4)
	w.Run(10)
	x.SetRIP(dataVA + 0x100)
	if e := x.Run(10); e != ExitHalt {
		t.Errorf("stale block executed: %v", e)
	}
}

// TestRepFault: a rep movs stops at the element that faults, with exact registers, and is counted once when done.
func TestRepFault(t *testing.T) {
	c := newTestCPUs(1, unhex(t, "f348a5 f4"))[0]
	c.SetReg(RSI, dataVA)
	c.SetReg(RDI, hole-40)
	c.SetReg(RCX, 9)
	if e := c.Run(100); e != ExitException || c.Exc.Vec != VecPF || c.Exc.CR2 != hole || c.Exc.Err != mem.CodeW {
		t.Fatalf("%v %+v", e, c.Exc)
	}
	if c.Reg(RCX) != 4 || c.Reg(RDI) != hole || c.Reg(RSI) != dataVA+40 || c.RIP() != textVA || c.Insns != 0 {
		t.Errorf("rcx %d rdi %x rsi %x rip %x insns %d", c.Reg(RCX), c.Reg(RDI), c.Reg(RSI), c.RIP(), c.Insns)
	}
	c.SetReg(RDI, dataVA+0x2000)
	if e := c.Run(100); e != ExitHalt || c.Insns != 2 {
		t.Errorf("%v, %d instructions", e, c.Insns)
	}
}

// TestEntries: calls, jumps and fallthrough into a counted address count; stops within the block do not.
func TestEntries(t *testing.T) {
	// mov ecx,5; l: call f; dec ecx; jnz l; nop; f: nop; nop; ret
	code := unhex(t, "b905000000 e805000000 ffc9 75f7 90 90 90 c3")
	for _, n := range []int64{1, 2, 3, 100} {
		c := newTestCPUs(1, code)[0]
		f := uint64(textVA + 15)
		var count uint64
		c.testEnv().entries[f] = &count
		c.PutU64(c.Reg(RSP), hole)
		for i := 0; i < 200; i++ {
			if c.Run(n) == ExitException {
				break
			}
		}
		if count != 6 {
			t.Errorf("slices of %d: %d entries, want 6 (%v at %x)", n, count, c.Exc, c.RIP())
		}
	}
}

// TestShadow: shadow text is not counted and neither the budget nor an interrupt stops in it.
func TestShadow(t *testing.T) {
	// call s; nop; hlt; s: nop; nop; nop; ret
	code := unhex(t, "e802000000 90 f4 90 90 90 c3")
	c := newTestCPUs(1, code)[0]
	c.testEnv().shadowLo, c.testEnv().shadowHi = textVA+7, textVA+11
	if e := c.Run(1); e != ExitBudget || c.RIP() != textVA+5 || c.Insns != 1 {
		t.Errorf("%v at %x after %d", e, c.RIP(), c.Insns)
	}
	c = newTestCPUs(1, code)[0]
	c.testEnv().shadowLo, c.testEnv().shadowHi = textVA+7, textVA+11
	c.SetFlags(FlagIF)
	c.SetReg(RSP, c.Reg(RSP)-8)
	c.PutU64(c.Reg(RSP), textVA+5)
	c.SetRIP(textVA + 8)
	c.SetIRQ(true)
	if e := c.Run(100); e != ExitWindow || c.RIP() != textVA+5 || c.Insns != 0 {
		t.Errorf("%v at %x after %d", e, c.RIP(), c.Insns)
	}
}

// TestForkShares: a fork executes its parent's codes, and its own writes do not show in the parent.
func TestForkShares(t *testing.T) {
	c := newTestCPUs(1, unhex(t, "48ffc0 ebfb"))[0]
	c.Run(11)
	q := c.phys.Fork()
	d := c.Fork(q, c.env)
	if d.cache == c.cache || d.Reg(RAX) != 6 || d.RIP() != c.RIP() || d.Insns != 11 {
		t.Fatalf("fork: rax %d rip %x", d.Reg(RAX), d.RIP())
	}
	d.Run(10)
	code := func(c *CPU) *code { return c.lookup(textVA).code }
	if code(c) != code(d) {
		t.Error("the fork decoded again")
	}
	d.Write(textVA, unhex(t, "48ffc8"))
	d.Run(10)
	c.Run(10)
	if c.Reg(RAX) != 11 || d.Reg(RAX) != 6 {
		t.Errorf("parent %d, fork %d", c.Reg(RAX), d.Reg(RAX))
	}
	e := c.Fork(c.phys.Fork(), c.env)
	e.Run(10)
	if code(c) != code(e) || e.Reg(RAX) != 16 {
		t.Error("second fork")
	}
}

// TestForkParallel: forks run, and write their text, in goroutines of their own; it is for -race.
func TestForkParallel(t *testing.T) {
	c := benchCPUs(1, 5)[0]
	c.Run(1 << 40)
	c.startMix(5)
	c.SetReg(RDI, 20)
	c.phys.Fork() // nothing is written from here on
	sums := make([]uint64, 8)
	var wg sync.WaitGroup
	for i := range sums {
		wg.Go(func() {
			for range 3 {
				d := c.Fork(c.phys.Fork(), &testEnv{})
				d.Write(textVA+0x3000, []byte{byte(i)})
				d.Write(textVA+16*2+5, []byte{0x90}) // an hlt that does not run
				if e := d.Run(1 << 40); e != ExitHalt {
					t.Error(e)
				}
				sums[i] = d.Reg(RAX)
			}
		})
	}
	wg.Wait()
	for _, s := range sums {
		if s != sums[0] {
			t.Errorf("results differ: %x", sums)
		}
	}
}
