package x86

import (
	_ "embed"
	"testing"
)

// benchImage is benchdata/mix.c: see benchdata/build.sh.
//
//go:embed benchdata/mix.bin
var benchImage []byte

// mixes are the entries of the image: rounds is about 1 ms of work.
var mixes = []struct {
	name   string
	rounds uint64
}{{"alu", 20000}, {"crc", 200}, {"calls", 1000}, {"words", 100}, {"bytes", 20}, {"kernel", 100}, {"sort", 2}}

// benchCPUs makes n CPUs on one memory that start at entry i of the image.
func benchCPUs(n, i int) []*CPU {
	cs := newTestCPUs(n, benchImage)
	for id, c := range cs {
		c.SetGSBase(dataVA + uint64(id)*64)
		c.startMix(i)
	}
	return cs
}

func (c *CPU) startMix(i int) {
	c.SetRIP(textVA + uint64(i)*16)
	c.SetReg(RSP, dataVA+2<<20-uint64(c.ID+1)*0x4000)
	c.SetReg(RDI, mixes[i].rounds)
}

// run executes instructions on all CPUs round robin in slices, starting each again when it halts.
func runMix(b *testing.B, cs []*CPU, i int, slice int64, total uint64) {
	var done uint64
	for done < total {
		for _, c := range cs {
			before := c.Insns
			switch e := c.Run(slice); e {
			case ExitBudget, ExitPause:
			case ExitHalt:
				c.startMix(i)
			default:
				b.Fatalf("%v %+v at %#x", e, c.Exc, c.RIP())
			}
			done += c.Insns - before
		}
	}
}

// BenchmarkMix reports MIPS on one CPU without slices, and on four in slices of 500 instructions.
func BenchmarkMix(b *testing.B) {
	for i, m := range mixes {
		for _, v := range []struct {
			name  string
			cpus  int
			slice int64
		}{{"1cpu", 1, 1 << 40}, {"4cpu500", 4, 500}} {
			b.Run(m.name+"/"+v.name, func(b *testing.B) {
				cs := benchCPUs(v.cpus, i)
				runMix(b, cs, i, v.slice, 200000)
				b.ResetTimer()
				const unit = 100000 // instructions per iteration
				runMix(b, cs, i, v.slice, uint64(b.N)*unit)
				b.ReportMetric(float64(b.N)*unit/float64(b.Elapsed().Nanoseconds())*1000, "MIPS")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkRound is one round of each loop, to compare with the same C on the host and under qemu-user.
func BenchmarkRound(b *testing.B) {
	for i, m := range mixes {
		b.Run(m.name, func(b *testing.B) {
			c := benchCPUs(1, i)[0]
			c.SetReg(RDI, uint64(b.N))
			if e := c.Run(1 << 50); e != ExitHalt {
				b.Fatal(e, c.Exc)
			}
		})
	}
}

// BenchmarkForkDecode is a fork of a machine whose code is decoded, up to having run the kernel mix once.
func BenchmarkForkDecode(b *testing.B) {
	c := benchCPUs(1, 5)[0]
	c.Run(1 << 40)
	c.startMix(5)
	for b.Loop() {
		d := c.Fork(c.phys.Fork(), c.env)
		d.SetReg(RDI, 1)
		if e := d.Run(1 << 40); e != ExitHalt {
			b.Fatal(e, d.Exc)
		}
	}
}

// BenchmarkSwitch is a write to cr3, and touching 20 pages again.
func BenchmarkSwitch(b *testing.B) {
	// l: mov rax,cr3; mov cr3,rax; mov rdi,rbx; mov ecx,20; m: mov rax,[rdi]; add rdi,4096; dec ecx; jnz m; jmp l
	c := newTestCPUs(1, unhex(b, "0f20d8 0f22d8 4889df b914000000 488b07 4881c700100000 ffc9 75f2 ebe2"))[0]
	c.SetReg(RBX, dataVA)
	for b.Loop() {
		if e := c.Run(4 + 20*4 + 1); e != ExitBudget {
			b.Fatal(e, c.Exc)
		}
	}
}

// BenchmarkGate is a call of a gate from a loop and the return from it.
func BenchmarkGate(b *testing.B) {
	// l: call g; jmp l; … g at 0x20
	c := newTestCPUs(1, unhex(b, "e81b000000 ebf9"))[0]
	c.testEnv().gates[textVA+0x20] = true
	for b.Loop() {
		if e := c.Run(100); e != ExitGate {
			b.Fatal(e, c.Exc)
		}
		c.GateReturn(0)
	}
}

// BenchmarkRunSlice is the overhead of a slice that ends in the middle of a block.
func BenchmarkRunSlice(b *testing.B) {
	c := newTestCPUs(1, unhex(b, "90909090 90909090 ebf6"))[0]
	for b.Loop() {
		c.Run(1)
	}
}

// BenchmarkInt3 is an int3 that the machine handles by moving RIP.
func BenchmarkInt3(b *testing.B) {
	c := newTestCPUs(1, unhex(b, "cc 0f1f4000 ebf9"))[0]
	for b.Loop() {
		if e := c.Run(100); e != ExitException {
			b.Fatal(e, c.Exc)
		}
		c.SetRIP(textVA + 5)
	}
}
