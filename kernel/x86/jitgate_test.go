//go:build linux && amd64 && !race

package x86

import (
	"runtime"
	"strings"
	"testing"
)

// gaterEnv settles gates by itself, with run.
type gaterEnv struct {
	*testEnv
	run func() int64
}

func (e *gaterEnv) RunGate() int64      { return e.run() }
func (e *gaterEnv) RunTrap() int64      { return 0 }
func (e *gaterEnv) GateText(uint64) int { return 0 }

// gatedCalls is a CPU that calls a function for ever, three deep, which calls a gate.
func gatedCalls(t *testing.T, run func(c *CPU) int64) *CPU {
	// 0: call 10; jmp 0    10: call 20; inc rax; ret    20: call 30; inc rcx; call 30; ret    30: a gate
	code := make([]byte, 0x40)
	for at, b := range map[int]string{0: "e80b000000 ebf9", 0x10: "e80b000000 48ffc0 c3", 0x20: "e80b000000 48ffc1 e803000000 c3"} {
		copy(code[at:], unhex(t, b))
	}
	p := newTestCPUs(1, code)[0]
	env := &gaterEnv{testEnv: p.testEnv()}
	env.gates[textVA+0x30] = true
	c := New(0, p.phys, env)
	c.SetCR3(0x1000)
	c.SetRIP(textVA)
	c.SetReg(RSP, dataVA+2<<20-0x1000)
	env.run = func() int64 { return run(c) }
	return c
}

// TestHostGate: what a gate does that host code has called is Go code as any other: Go's stack grows and moves below it, it is
// scanned by the garbage collector and shown by tracebacks, and a panic passes through. The guest does not notice.
func TestHostGate(t *testing.T) {
	gates, inHost := 0, 0
	var deep func(n int) int
	deep = func(n int) int {
		var pad [512]byte
		if n == 0 {
			return int(pad[0])
		}
		return deep(n-1) + int(pad[n])
	}
	run := func(c *CPU) int64 {
		gates++
		p := new([64]int)
		switch {
		case gates == 9000:
			panic("as a handler's")
		case gates%50 == 0:
			deep(4 + gates/50)
		case gates%509 == 0:
			runtime.GC()
			buf := make([]byte, 64<<10)
			if s := string(buf[:runtime.Stack(buf, false)]); strings.Contains(s, "x86.hostCall") && strings.Contains(s, "x86.(*CPU).Run") {
				inHost++
			}
		}
		p[gates%64] = gates
		c.GateReturn(uint64(p[gates%64]))
		return 1000
	}
	c := gatedCalls(t, run)
	done := make(chan any)
	go func() { // with a small stack
		defer func() { done <- recover() }()
		c.Run(1 << 30)
	}()
	if r := <-done; r != "as a handler's" {
		t.Fatalf("%v after %d gates", r, gates)
	}
	if inHost < 12 {
		t.Errorf("host code is on %d stacks", inHost)
	}
	if gates != 9000 || c.r[RCX] != 4500 || c.r[RAX] != 8999 {
		t.Errorf("%d gates, rcx = %d, rax = %d", gates, c.r[RCX], c.r[RAX])
	}
}
