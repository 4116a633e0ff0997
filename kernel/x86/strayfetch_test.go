package x86

import "testing"

// TestFetchPageOne: an empty entry of the fetch TLB once had the tag of the page at 0x1000, so that a kernel that jumped there ran what
// had been at the entry, or nothing: the host's panic.
func TestFetchPageOne(t *testing.T) {
	c := newTestCPUs(1, unhex(t, "b800110000 ffe0"))[0] // mov eax, 0x1100; jmp rax
	for range 2 {
		c.SetRIP(textVA)
		if e := c.Run(10); e != ExitException || c.Exc.Vec != VecPF || c.Exc.CR2 != 0x1100 {
			t.Errorf("%v, %+v", e, c.Exc)
		}
		c.SetCR3(0x1000)
	}
}

// TestFrameOnCodePage: the frame of an exception may lie on a page that code has run from. The store is told to Env, with the count
// as Run left it: it was once that of the block which the CPU had been in last.
func TestFrameOnCodePage(t *testing.T) {
	c := newTestCPUs(1, unhex(t, "90 90 0f0b"))[0]
	c.phys.PutU8(dataPA, 0xf4)
	c.SetRIP(dataVA)
	c.Run(10) // the hlt there
	c.SetRIP(textVA)
	if e := c.Run(10); e != ExitException || c.Insns != 3 {
		t.Fatalf("%v after %d", e, c.Insns)
	}
	if ok := c.store(dataVA+0x100, 1, 8); !ok || c.Insns != 3 || len(c.testEnv().writes) != 1 {
		t.Errorf("after the store %d instructions are counted, want 3; code was written at %x", c.Insns, c.testEnv().writes)
	}
}

type stopEnv struct{ *testEnv }

func (e stopEnv) CodeWrite(c *CPU, pa uint64, n int) { c.RequestStop() }

// TestPushToCodePage: a call whose return address goes to a page with code is the last instruction before the stop that Env asks for
// then, in host code and interpreted. The CPU once went on for the rest of its budget.
func TestPushToCodePage(t *testing.T) {
	for _, warm := range []int{0, 1} {
		for _, code := range []string{"e8 0b000000", "ffd0", "ff13"} { // call textVA+0x10; call rax; call [rbx]
			p := newTestPhys()
			p.WriteAt(textPA, unhex(t, code))
			p.WriteAt(textPA+0x10, unhex(t, "90 90 f4"))
			p.WriteAt(dataPA, []byte{0xf4})
			p.PutU64(dataPA+0x1000, textVA+0x10)
			c := New(0, p, stopEnv{&testEnv{gates: map[uint64]bool{}, entries: map[uint64]*uint64{}}})
			c.cache.useHost(warm)
			c.SetCR3(0x1000)
			c.SetRIP(dataVA)
			c.Run(10) // the hlt there
			c.SetReg(RSP, dataVA+0x800)
			c.SetReg(RAX, textVA+0x10)
			c.SetReg(RBX, dataVA+0x1000)
			c.SetRIP(textVA)
			if e := c.Run(10); e != ExitStop || c.RIP() != textVA+0x10 || c.Insns != 2 {
				t.Errorf("warm %d, %s: %v at %#x after %d instructions", warm, code, e, c.RIP(), c.Insns)
			}
		}
	}
}
