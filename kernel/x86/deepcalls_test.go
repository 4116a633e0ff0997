package x86

import (
	"encoding/binary"
	"testing"
)

// TestDeepCalls: recursion far deeper than host code's stack of returns is, and than one piece of budget goes, with a jump over many
// frames at the bottom, as longjmp's, in slices around the limits.
func TestDeepCalls(t *testing.T) {
	//  0: mov edi, n; call f; hlt
	// 16: f: dec edi; je 1f; call f; inc rax; ret
	//     1: lea rsp, [rsp+skip]; ret
	code := unhex(t, "bf00000000 e806000000 f4 9090909090 ffcf 7409 e8f7ffffff 48ffc0 c3 488da42400000000 c3")
	run := func(warm int, n, skip uint32, slice int64) ([numSlots]uint64, uint64, uint64) {
		binary.LittleEndian.PutUint32(code[1:], n)
		binary.LittleEndian.PutUint32(code[33:], 8*skip)
		c := newTestCPUs(1, code)[0]
		c.cache.useHost(warm)
		c.SetReg(RAX, 0)
		for {
			switch e := c.Run(slice); e {
			case ExitBudget:
			case ExitHalt:
				return c.r, c.Flags(), c.Insns
			default:
				t.Fatalf("%v %+v at %#x", e, c.Exc, c.RIP())
			}
		}
	}
	for _, n := range []uint32{1, 700, hostDepth/3 - 1, hostDepth / 3, hostDepth, 2*hostDepth + 1, 9000} {
		for _, skip := range []uint32{0, min(1, n-1), n / 2, n - 1} {
			r, f, count := run(0, n, skip, 1<<40)
			if r[RAX] != uint64(n-1-skip) {
				t.Fatalf("interpreted: depth %d, %d skipped, %d returns", n, skip, r[RAX])
			}
			for _, slice := range []int64{1 << 40, hostDepth - 1, hostDepth, hostDepth + 1, 333} {
				for _, warm := range []int{1, 3} {
					if r1, f1, n1 := run(warm, n, skip, slice); r1 != r || f1 != f || n1 != count {
						t.Errorf("depth %d, %d skipped, slices of %d, warm %d: %x %x after %d instructions, interpreted %x %x after %d", n, skip, slice, warm,
							r1, f1, n1, r, f, count)
					}
				}
			}
		}
	}
}

// hostDepth is host code's budget at once; see hostBudget.
const hostDepth = 2048
