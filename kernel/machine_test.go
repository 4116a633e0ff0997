package kernel

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"kscope/kernel/x86"
)

// bare registers a result for each gate that this package leaves to others: no tracer, no tracefs, no user programs.
func bare(m *Machine) error {
	for _, name := range m.Gates() {
		if len(m.gates[m.img.gates[name]]) > 0 || optionalGates[name] {
			continue
		}
		ret := ENOSYS.Ret()
		switch name {
		case "ftrace_process_locs", "user_task_exec", "tracefs_iterate", "tracefs_readable":
			ret = 0
		case "tracefs_lookup":
			ret = ENOENT.Ret()
		}
		m.RegisterGate(name, func(*VCPU) uint64 { return ret })
	}
	return nil
}

// snaps is shared by the tests so that each configuration boots once.
var snaps Snapshots

// boot gives a fork of a booted machine; it skips while the embedded image is the placeholder.
func boot(t testing.TB, cfg Config) *Machine {
	t.Helper()
	if file := os.Getenv("KSCOPE_TEST_IMAGE"); file != "" {
		cfg.Image, _ = os.ReadFile(file)
	}
	if img, err := LoadImage(cfg.Image); err != nil {
		t.Fatal(err)
	} else if _, err := img.layouts(); err != nil {
		t.Skip("the embedded image is a placeholder: ", err)
	}
	m, err := snaps.Machine(cfg, bare)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBoot(t *testing.T) {
	for _, n := range []int{1, 2, 4, 64} {
		m := boot(t, Config{CPUs: n})
		for id := range n {
			if !m.Online(id) {
				t.Errorf("%d CPUs: CPU %d is not online", n, id)
			}
			if got := m.VCPU(id).Now(); got < bootEnd || got > bootEnd+10_000 {
				t.Errorf("%d CPUs: CPU %d ends boot at t = %d", n, id, got)
			}
		}
		if len(m.Oopses()) > 0 {
			t.Errorf("%d CPUs: %s", n, m.lastOops().Text())
		}
		if len(m.Dmesg()) == 0 || !strings.Contains(m.Dmesg()[0].Text, "Linux version") {
			t.Errorf("%d CPUs: dmesg begins with %v", n, m.Dmesg()[:min(1, len(m.Dmesg()))])
		}
	}
}

// roll runs m for ns and returns a hash of the schedule: (cpu, t, rip) at every slice end.
func roll(m *Machine, ns uint64) uint64 {
	h := uint64(14695981039346656037)
	m.SetSliceHook(func(v *VCPU) {
		for _, x := range []uint64{uint64(v.ID), v.Now(), v.CPU.RIP()} {
			h = (h ^ x) * 1099511628211
		}
	})
	m.Run(Until{Time: m.Now() + ns})
	m.SetSliceHook(nil)
	return h
}

func TestSeeds(t *testing.T) {
	a, b, c := boot(t, Config{Seed: 1}), boot(t, Config{Seed: 1}), boot(t, Config{Seed: 2})
	for _, m := range []*Machine{a, b, c} {
		if err := m.WriteFile("/tmp/seed", []byte("x"), false); err != nil {
			t.Error(err)
		}
	}
	ra, rb, rc := roll(a, 20e6), roll(b, 20e6), roll(c, 20e6)
	if ra != rb || a.StateHash() != b.StateHash() {
		t.Error("two machines of one seed differ")
	}
	if ra == rc {
		t.Error("seeds 1 and 2 give the same schedule")
	}
}

func TestFork(t *testing.T) {
	m := boot(t, Config{Seed: 5})
	m.Run(Until{Time: m.Now() + 3e6})
	before := m.StateHash()
	f, g := m.Fork(9), m.Fork(9)
	if f.StateHash() != before {
		t.Error("a fork's state differs from its parent's")
	}
	f.Run(Until{Time: f.Now() + 10e6})
	if m.StateHash() != before {
		t.Error("running a fork changed its parent")
	}
	g.Run(Until{Time: g.Now() + 10e6})
	if f.StateHash() != g.StateHash() {
		t.Error("two forks of one seed differ")
	}
}

// TestParallel runs forks of one machine on several goroutines: they must not disturb one another (run with -race).
func TestParallel(t *testing.T) {
	m := boot(t, Config{})
	hashes := make([]uint64, 4)
	var wg sync.WaitGroup
	for i := range hashes {
		f := m.Fork(3)
		wg.Add(1)
		go func() {
			defer wg.Done()
			f.Run(Until{Time: f.Now() + 10e6})
			hashes[i] = f.StateHash()
		}()
	}
	wg.Wait()
	for i := range hashes {
		if hashes[i] != hashes[0] {
			t.Errorf("fork %d: %#x, fork 0: %#x", i, hashes[i], hashes[0])
		}
	}
}

func TestStateHash(t *testing.T) {
	m := boot(t, Config{})
	want := m.StateHash()
	flip := func(name string, change func()) {
		change()
		if m.StateHash() == want {
			t.Errorf("%s: the hash stays the same", name)
		}
		change()
		if m.StateHash() != want {
			t.Errorf("%s: the hash does not come back", name)
		}
	}
	v := m.VCPU(m.NumCPU() - 1)
	for r := range 16 {
		if r != x86.RSP { // which also says where the dead stack is
			flip(fmt.Sprintf("register %d", r), func() { v.CPU.SetReg(r, v.CPU.Reg(r)^1<<(7*r%64)) })
		}
	}
	flip("flags", func() { v.CPU.SetFlags(v.CPU.Flags() ^ x86.FlagCF) })
	flip("rip", func() { v.CPU.SetRIP(v.CPU.RIP() ^ 1<<20) })
	flip("t", func() { v.off ^= 1 })
	flip("irr", func() { v.apic.irr[3] ^= 1 << 40 })
	flip("deadline", func() { v.apic.deadline ^= 2 })
	for _, va := range []uint64{kernelText + 17, directMap + m.phys.Size() - shadowSize - 1, m.SymAddrOr("jiffies_64")} {
		flip(fmt.Sprintf("byte %#x", va), func() {
			b, err := m.U8(va)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Write(va, []byte{b ^ 0x10}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// SymAddrOr is SymAddr, or kernel text when the image has no such symbol.
func (m *Machine) SymAddrOr(name string) uint64 {
	if va, ok := m.SymAddr(name); ok {
		return va
	}
	return kernelText
}

func TestLimits(t *testing.T) {
	m := boot(t, Config{})
	if err := m.Hot(0b10, 0); err != nil {
		t.Fatal(err)
	}
	start := m.Insns()
	if s := m.Run(Until{Insns: 1234}); s.Reason != StopDone || m.Insns() != start+1234 {
		t.Errorf("Until.Insns 1234: %v after %d", s, m.Insns()-start)
	}
	m.cfg.MaxInsns = m.Insns() + 777
	if s := m.Run(Until{}); s.Reason != StopLimit || m.Insns() != m.cfg.MaxInsns || !strings.Contains(s.Text, "--max-insns") {
		t.Errorf("MaxInsns: %v at %d, want %d", s, m.Insns(), m.cfg.MaxInsns)
	}
	m.cfg.MaxInsns = 0
	go func() { time.Sleep(20 * time.Millisecond); m.Interrupt() }()
	if s := m.Run(Until{}); s.Reason != StopInterrupt {
		t.Errorf("Interrupt: %v", s)
	}
}

func TestFiles(t *testing.T) {
	m := boot(t, Config{})
	if err := m.WriteFile("/tmp/x", bytes.Repeat([]byte("0123456789abcdef"), 8192), false); err != nil {
		t.Fatal(err)
	}
	if err := m.WriteFile("/tmp/x", []byte("end"), true); err != nil {
		t.Fatal(err)
	}
	got, err := m.ReadFile("/tmp/x")
	if err != nil || len(got) != 131072+3 || !bytes.HasSuffix(got, []byte("efend")) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	if _, err := m.ReadFile("/nowhere"); err != ENOENT {
		t.Errorf("/nowhere: %v", err)
	}
	if err := m.Mkdir("/tmp/d"); err != nil {
		t.Error(err)
	}
	list, err := m.ListDir("/tmp")
	if err != nil || len(list) != 2 {
		t.Errorf("ls /tmp: %v, %v", list, err)
	}
	if err := m.Rmdir("/tmp/d"); err != nil {
		t.Error(err)
	}
	if err := m.Remove("/tmp/x"); err != nil {
		t.Error(err)
	}
	if _, err := m.ReadFile("/tmp/x"); err != ENOENT {
		t.Errorf("removed file: %v", err)
	}
}

func TestDo(t *testing.T) {
	m := boot(t, Config{})
	comm := ""
	if err := m.Do("test", func(c *VCPU) error { comm = c.Current().Comm; return nil }); err != nil || comm != "kscoped" {
		t.Errorf("Do ran in %q: %v", comm, err)
	}
	if err := m.Do("test", func(*VCPU) error { return EBUSY }); err != EBUSY {
		t.Errorf("Do's error: %v", err)
	}
}

// TestOrder: a CPU that is behind waits with a locked access until the last one to the same word by another CPU is past.
func TestOrder(t *testing.T) {
	m := boot(t, Config{})
	a, b := m.VCPU(0), m.VCPU(1)
	const word = directMap + 0x1000
	a.setNow(bootEnd + 900)
	b.setNow(bootEnd + 500)
	if !a.Locked(nil, word) || !a.Locked(nil, word+4) {
		t.Error("the first access waits")
	}
	if b.Locked(nil, word) || b.Now() != bootEnd+901 {
		t.Errorf("an early access goes on at %d", b.Now())
	}
	if !b.Locked(nil, word) || !b.Locked(nil, word+8) {
		t.Error("after its wait the access waits again")
	}
	if a.Locked(nil, word) || a.Now() != bootEnd+902 {
		t.Errorf("the release of a lock that another CPU has spun on is at %d", a.Now())
	}
	if !a.Locked(nil, word) {
		t.Error("the release waits again")
	}
}
