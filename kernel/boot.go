package kernel

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// bootTime is the virtual wall clock at power-on: 2026-01-01 00:00:00 UTC. bootEnd is t when boot is over.
const (
	bootTime = 1767225600
	bootEnd  = 1_000_000_000
)

// Physical memory after load (addresses grow downwards in the picture):
//
//	0x00000000  unused
//	0x01000000  the image's segments
//	img.end     page tables, made here
//	            initrd
//	free_start  free RAM, the guest's
//	free_end = mem-4MiB   shadow RAM
//	mem
//
// load puts the image into RAM and the boot CPU at startup_64.
func (m *Machine) load() error {
	for _, s := range m.img.segments {
		if s.pa+s.size > m.phys.Size()-shadowSize {
			return imageErrorf("segment to physical %#x does not fit %d MiB of RAM", s.pa+s.size, m.phys.Size()>>20)
		}
		m.phys.WriteAt(s.pa, s.data)
	}
	pt := &pageTables{phys: m.phys, next: pageUp(m.img.end)}
	m.initPGT = pt.alloc()
	m.mapKernel(pt)
	initrd := pageUp(pt.next)
	free := pageUp(initrd + uint64(len(m.cfg.Initrd)))
	if free+4<<20 > m.phys.Size()-shadowSize {
		return fmt.Errorf("kernel: image and initrd leave less than 4 MiB of %d MiB of RAM free", m.phys.Size()>>20)
	}
	m.phys.WriteAt(initrd, m.cfg.Initrd)
	if err := m.writeBootParams(initrd, free); err != nil {
		return err
	}
	boot := m.cpus[0]
	boot.state = cpuRunning
	m.reset(boot, m.lay.startup, m.lay.stackTop, 0)
	return nil
}

// reset puts a CPU into the state in which the guest's code begins: 64-bit mode, CPL 0, interrupts off.
func (m *Machine) reset(v *VCPU, rip, rsp, gs uint64) {
	c := v.CPU
	for r := range 16 {
		c.SetReg(r, 0)
	}
	c.SetRIP(rip)
	c.SetReg(x86.RSP, rsp)
	c.SetFlags(2)
	c.SetCR3(m.initPGT)
	c.SetGSBase(gs)
}

// startAP begins an application processor where do_boot_cpu has prepared it.
func (m *Machine) startAP(v *VCPU) {
	m.reset(v, m.lay.secondary, m.phys.U64(m.lay.initialStack), m.phys.U64(m.lay.initialGS))
}

func pageUp(pa uint64) uint64 { return (pa + mem.PageSize - 1) &^ (mem.PageSize - 1) }

// writeBootParams fills struct boot_params through its DWARF layout.
func (m *Machine) writeBootParams(initrd, free uint64) error {
	for _, p := range []struct {
		name string
		val  uint64
	}{
		{"nr_cpus", uint64(len(m.cpus))}, {"mem_size", m.phys.Size() - shadowSize},
		{"free_start", free}, {"free_end", m.phys.Size() - shadowSize},
		{"initrd_start", initrd}, {"initrd_size", uint64(len(m.cfg.Initrd))},
		{"init_pgt", m.initPGT}, {"boot_time_s", bootTime},
	} {
		f, ok := m.lay.params[p.name]
		if !ok || f.size > 8 {
			return imageErrorf("struct boot_params has no integer %s", p.name)
		}
		m.phys.WriteAt(m.lay.bootParams+f.off, binary.LittleEndian.AppendUint64(nil, p.val)[:f.size])
	}
	f, ok := m.lay.params["cmdline"]
	if !ok || uint64(len(m.cfg.Cmdline)) >= f.size {
		return imageErrorf("struct boot_params has no room for the command line")
	}
	m.phys.WriteAt(m.lay.bootParams+f.off, append([]byte(m.cfg.Cmdline), 0))
	return nil
}

// pageTables builds four-level tables in frames from next on.
type pageTables struct {
	phys *mem.Phys
	root uint64
	next uint64
}

func (p *pageTables) alloc() uint64 {
	pa := p.next
	p.next += mem.PageSize
	if p.root == 0 {
		p.root = pa
	}
	return pa
}

// tableFlags are those of entries that point to tables. They count as accessed from the start: who walks them first, a
// probe's trampoline or the guest, must leave no trace.
const tableFlags = mem.P | mem.RW | mem.A

// set maps va at pa with a leaf at level 1 (4 KiB) or 2 (2 MiB).
func (p *pageTables) set(va, pa uint64, level int, flags uint64) {
	table := p.root
	for l := 4; l > level; l-- {
		at := table + va>>(12+9*(l-1))&511*8
		e := p.phys.U64(at)
		if e&mem.P == 0 {
			e = p.alloc() | tableFlags
			p.phys.PutU64(at, e)
		}
		table = e &^ (mem.PageSize - 1)
	}
	p.phys.PutU64(table+va>>(12+9*(level-1))&511*8, pa|flags)
}

// mapKernel makes the mappings of the contract: image, direct map, shadow RAM.
func (m *Machine) mapKernel(pt *pageTables) {
	const base = mem.P | mem.A | mem.G
	ram := m.phys.Size() - shadowSize
	for pa := uint64(0); pa < ram; pa += 2 << 20 {
		pt.set(directMap+pa, pa, 2, base|mem.RW|mem.D|mem.PS|mem.NX)
	}
	for _, s := range m.img.segments {
		flags := uint64(base)
		if s.flags&elf.PF_X == 0 {
			flags |= mem.NX
		}
		if s.flags&elf.PF_W != 0 && s.flags&elf.PF_X == 0 {
			flags |= mem.RW | mem.D
		}
		for va := s.va &^ (mem.PageSize - 1); va < s.va+s.size; va += mem.PageSize {
			pt.set(va, va-kernelBase, 1, flags)
		}
	}
	for off := uint64(0); off < shadowSize; off += mem.PageSize {
		pt.set(shadowBase+off, ram+off, 1, base)
	}
	// Fill the kernel half of the root, so that address spaces made by copying it stay complete when vmalloc-like areas
	// get their first page later (Linux syncs them: sync_global_pgds).
	for i := uint64(256); i < 512; i++ {
		if at := pt.root + i*8; pt.phys.U64(at)&mem.P == 0 {
			pt.phys.PutU64(at, pt.alloc()|tableFlags)
		}
	}
}

// gateBootDone: void kscope_boot_done(void).
func (m *Machine) gateBootDone(v *VCPU) uint64 {
	m.booted = true
	return 0
}

// bootLimit is the number of instructions after which boot is given up.
const bootLimit = 3_000_000_000

// Boot runs the guest until it says kscope_boot_done and t is 1.000000 s on every CPU. It is seedless: two boots of one
// image with the same cpus, mem, command line and initrd are the same. The seed acts from its end on.
func (m *Machine) Boot() error {
	if err := m.unboundGates(); err != nil {
		return err
	}
	limit := m.cfg.MaxInsns
	m.cfg.MaxInsns = bootLimit
	stop := m.Run(Until{Cond: func() bool { return m.booted }})
	if m.booted && stop.Reason == StopDone {
		stop = m.Run(Until{Time: bootEnd})
	}
	m.cfg.MaxInsns = limit
	if !m.booted || stop.Reason != StopDone {
		return &StopError{Doing: "booting", Stop: stop}
	}
	if line := m.starved(); line != "" {
		return fmt.Errorf("kernel: %d MiB of RAM: too little for %d CPUs: %s", m.cfg.Mem>>20, m.cfg.CPUs, line)
	}
	m.Seed(m.cfg.Seed)
	return nil
}

// starved is the record of the log that tells that a part of the guest is missing because there was no memory for it, or "".
func (m *Machine) starved() string {
	for _, l := range m.log.lines {
		if strings.HasPrefix(l.Text, "initramfs: cannot make") || strings.HasPrefix(l.Text, "initcall ") && strings.HasSuffix(l.Text, " returned -12") {
			return l.Text
		}
	}
	return ""
}

// Seed restarts the generator of slices.
func (m *Machine) Seed(seed uint64) {
	m.cfg.Seed = seed
	m.rng = rng{s: seed}
}
