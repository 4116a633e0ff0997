package kernel

import (
	"encoding/binary"
	"flag"
	"strings"
	"testing"
)

var corruptSeeds = flag.Int("corrupt-seeds", 150, "seeds of TestCorruption")

// busy gives a machine whose CPU 1 runs kscope_hot for ever.
func busy(t testing.TB) *Machine {
	m := boot(t, Config{})
	if err := m.Hot(0b10, 0); err != nil {
		t.Fatal(err)
	}
	m.Run(Until{Time: m.Now() + 2e6})
	return m
}

func TestTripleFault(t *testing.T) {
	m := busy(t)
	v := m.VCPU(1)
	for i := range uint64(512) { // every mapping goes
		m.phys.PutU64(v.CPU.CR3()&^0xfff+i*8, 0)
	}
	v.CPU.FlushTLB()
	s := m.Run(Until{Time: m.Now() + 10e6})
	if s.Reason != StopPanic || !strings.Contains(s.Text, "triple fault on CPU 1") {
		t.Fatalf("without page tables: %v", s)
	}
	if again := m.Run(Until{}); again != s {
		t.Errorf("a dead machine ran again: %v", again)
	}
	if err := m.Do("x", func(*VCPU) error { return nil }); err == nil {
		t.Error("a dead machine took a request")
	}
}

func TestWildJump(t *testing.T) {
	for _, target := range []uint64{0, 8, kernelBase - 8, directMap + 4096, 0x8000_0000_0000_0000, shadowBase, shadowBase + shadowSize - 16} {
		m := busy(t).Fork(1)
		m.VCPU(1).CPU.SetRIP(target)
		s := m.Run(Until{Time: m.Now() + 10e6})
		if len(m.Oopses()) == 0 && s.Reason != StopPanic {
			t.Errorf("RIP = %#x: no oops, %v", target, s)
			continue
		}
		if o := m.lastOops(); o != nil && !strings.Contains(o.Text(), "RIP: ") {
			t.Errorf("RIP = %#x: report\n%s", target, o.Text())
		}
	}
}

// TestWildGate jumps to every gate and to the bytes between them with a broken stack and wild arguments.
func TestWildGate(t *testing.T) {
	base := busy(t)
	for va := base.img.gateStart; va < base.img.gateEnd && va < base.img.gateStart+48*16; va += 8 {
		m := base.Fork(va)
		c := m.VCPU(1).CPU
		for r := range 16 {
			if r != regSP || va%16 == 0 {
				c.SetReg(r, 0xdead_0000_0000_0000>>(r%3*8)+uint64(r))
			}
		}
		c.SetRIP(va)
		m.cfg.MaxInsns = m.Insns() + 200_000
		m.Run(Until{})
	}
}

// TestCorruption flips bytes of registers, tables and kernel data and lets the guest run into them: whatever happens is the
// guest's, never a panic of the host.
func TestCorruption(t *testing.T) {
	base := busy(t)
	count := map[Reason]int{}
	for seed := range *corruptSeeds {
		m := base.Fork(uint64(seed))
		r := rng{s: uint64(seed)}
		end := m.img.end + 8<<20
		for range 1 + r.next()%64 {
			pa := loadStart + r.next()%(end-loadStart)
			if r.next()%4 == 0 {
				pa = m.initPGT + r.next()%(16<<12)
			}
			b := binary.LittleEndian.AppendUint64(nil, r.next())[:1+r.next()%8]
			m.writeCode(pa, b)
		}
		if r.next()%2 == 0 {
			v := m.VCPU(int(r.next() % 4))
			v.CPU.SetReg(int(r.next()%16), r.next())
		}
		m.cfg.MaxInsns = m.Insns() + 300_000
		m.Kick(vecKick)
		s := m.Run(Until{})
		count[s.Reason]++
		_, _ = m.ReadFile("/etc/hostname")
		_ = m.StateHash()
		_ = m.Tasks()
	}
	t.Log(count)
}

func TestDeadlock(t *testing.T) {
	m := boot(t, Config{})
	s := m.Run(Until{})
	if s.Reason != StopDeadlock || !strings.Contains(s.Text, "every CPU is halted") {
		t.Errorf("an idle machine: %v", s)
	}
	if again := m.Run(Until{Time: m.Now() + 1e6}); again.Reason != StopDone {
		t.Errorf("time passes on an idle machine: %v", again)
	}
}

// TestNoEffect: with OverheadNone a patched site changes neither the schedule nor any counted instruction nor any byte of
// the state, dead stack included.
func TestNoEffect(t *testing.T) {
	var rolls, states []uint64
	for _, patch := range []bool{false, true} {
		m := boot(t, Config{Overhead: OverheadNone})
		site, ok := m.SymAddr("kscope_hot")
		if !ok {
			t.Skip("image has no kscope_hot")
		}
		nop := []byte(nops[5])
		if err := m.text.Early(site, nop); err != nil { // what ftrace does at boot
			t.Fatal(err)
		}
		if err := m.Hot(0b1110, 0); err != nil {
			t.Fatal(err)
		}
		m.Run(Until{Time: m.Now() + 1e6})
		calls := uint64(0)
		if patch {
			// A trampoline that stores like the real ones, and like them keeps the flags: lea rsp, [rsp-168]; mov [rsp+80], rax;
			// call gate; mov rax, [rsp+80]; lea rsp, [rsp+168]; ret
			code := []byte{0x48, 0x8d, 0xa4, 0x24, 0x58, 0xff, 0xff, 0xff, 0x48, 0x89, 0x44, 0x24, 80}
			va, err := m.ShadowAlloc(64, "trampoline")
			if err != nil {
				t.Fatal(err)
			}
			gate := m.img.gates["function_trace_call"]
			m.gates[gate] = []Gate{func(c *VCPU) uint64 { calls++; c.Charge(100); return 0 }}
			code = append(code, relCall(va+uint64(len(code)), gate)...)
			m.ShadowWrite(va, append(code, 0x48, 0x8b, 0x44, 0x24, 80, 0x48, 0x8d, 0xa4, 0x24, 168, 0, 0, 0, 0xc3))
			if err := m.Do("arm", func(*VCPU) error {
				return m.text.Queue("test", []Poke{{Addr: site, Old: nop, New: relCall(site, va)}})
			}); err != nil {
				t.Fatal(err)
			}
		}
		rolls, states = append(rolls, roll(m, 3e6)), append(states, m.StateHash())
		if patch && calls < 1000 {
			t.Errorf("the trampoline ran %d times", calls)
		}
	}
	if rolls[0] != rolls[1] {
		t.Error("the schedule differs with a probe in place")
	}
	if states[0] != states[1] {
		t.Error("the state differs with a probe in place")
	}
}

func relCall(at, to uint64) []byte {
	return append([]byte{0xe8}, binary.LittleEndian.AppendUint32(nil, uint32(to-at-5))...)
}

func TestOneCPUPerSlice(t *testing.T) {
	m := busy(t)
	last := map[int]uint64{}
	m.SetSliceHook(func(v *VCPU) {
		if v.Now() < last[v.ID] {
			t.Errorf("CPU %d goes back from %d to %d", v.ID, last[v.ID], v.Now())
		}
		last[v.ID] = v.Now()
	})
	m.Run(Until{Time: m.Now() + 5e6})
	if len(last) == 0 {
		t.Error("no slice ended")
	}
}
