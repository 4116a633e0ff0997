package kernel

import (
	"fmt"
	"io"
	"sync/atomic"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// Overhead says what tracing costs in virtual time.
type Overhead uint8

const (
	OverheadModel Overhead = iota // Charge adds to t; patches go by the IPI protocol
	OverheadNone                  // Charge adds nothing; host-armed patches are applied at one instant
)

// Config is what a machine is made of. The zero value of each field means its default.
type Config struct {
	CPUs     int    // 1..64; default 4
	Mem      uint64 // bytes of RAM, a multiple of 2 MiB; default 64 MiB
	Seed     uint64 // of the slices after boot
	Cmdline  string // the guest's command line
	Overhead Overhead
	Features string    // comma-separated and sorted, of later kernels: see ParseFeatures
	MaxInsns uint64    // stop with "limit" after so many counted instructions since boot, and ns of work in programs; 0 = none
	Image    []byte    // ELF of the guest kernel; nil = the embedded one
	Initrd   []byte    // newc cpio
	Console  io.Writer // gets each printk record as dmesg prints it; may be nil

	// Interpret executes guest code without translating it to the host's, as hosts other than linux/amd64 do anyway: slower,
	// with the same results.
	Interpret bool

	parsed *Image // Image, when Snapshots has parsed it already
}

const (
	defaultCPUs = 4
	defaultMem  = 64 << 20
	maxCPUs     = 64
	shadowSize  = 4 << 20
)

func (cfg *Config) normalize() error {
	if cfg.CPUs == 0 {
		cfg.CPUs = defaultCPUs
	}
	if cfg.Mem == 0 {
		cfg.Mem = defaultMem
	}
	if cfg.CPUs < 1 || cfg.CPUs > maxCPUs {
		return fmt.Errorf("kernel: %d CPUs: must be 1 to %d", cfg.CPUs, maxCPUs)
	}
	if cfg.Mem < 32<<20 || cfg.Mem > 64<<30 || cfg.Mem%(2<<20) != 0 {
		return fmt.Errorf("kernel: %d bytes of RAM: must be a multiple of 2 MiB from 32 MiB to 64 GiB", cfg.Mem)
	}
	if len(cfg.Cmdline) > 255 {
		return fmt.Errorf("kernel: command line of %d bytes: at most 255", len(cfg.Cmdline))
	}
	return nil
}

// Part is a stateful companion of a machine (ftrace.Tracer, user.Host). When the machine forks, each part is asked for its
// copy, which must register its gates and trap owners with the new machine; attaching the copy is the machine's work.
type Part interface {
	Fork(m *Machine) Part
}

// Gate is the Go side of a gate symbol: the SysV arguments are c.Arg(0..5), the result goes to rax. It is one indivisible
// instruction of the guest: it never waits.
type Gate func(c *VCPU) (rax uint64)

// Machine is one emulated computer with its guest kernel. All methods but Interrupt belong to one goroutine at a time.
type Machine struct {
	cfg  Config
	img  *Image
	syms *Symbols // the image's, with what this machine added
	phys *mem.Phys
	lay  *layouts // of the image, shared by forks
	cpus []*VCPU

	gates      map[uint64][]Gate     // by address: asked in order of registration, the last result counts
	entryGates map[uint64]*entryGate // see EntryTrampoline
	parts      []Part
	owners     []trapOwner
	hyper      func(c *VCPU)
	onOops     []func(c *VCPU, o *OopsRecord)
	disguise   []func(was func(va, x uint64)) // see Disguise
	initPGT    uint64                         // cr3 at boot; holds every kernel mapping
	unw        *Unwinder                      // made at first use; see Unwinder

	rng       rng
	work      uint64 // ns of ChargeWork
	insns     uint64 // counted instructions of all CPUs, brought up to date after each Run
	globalT   uint64
	resume    *VCPU // whose slice was stopped in the middle
	turn      turn
	running   *VCPU // whose slice it is
	inRun     bool
	booted    bool
	dead      *Stop // the machine panicked: every later run says so at once
	stopWhy   *Stop // set by a gate or handler: stop at the end of this instruction
	interrupt atomic.Bool
	sliceHook func(c *VCPU)

	mods    modules
	virtio  *virtio
	text    *Text
	req     requests
	shadow  shadow
	detours detours
	log     console
	streams streams
	exits   map[int]int // exit codes of user tasks that nobody has asked for yet
	oopses  []*OopsRecord
	entries *entryCounters
	hooks   hooks
	cold    *cold // nil: none; see AddCold
	ticks   ticks
	rules   rules       // see inject.go
	watch   *OrderWatch // nil: nobody checks; a fork has none
	order   *x86.Order  // see order.go
}

// New makes a machine with its image loaded and nothing run: register gates and parts, then Boot.
func New(cfg Config) (*Machine, error) {
	if err := cfg.normalize(); err != nil {
		return nil, err
	}
	img, err := cfg.parsed, error(nil)
	if img == nil {
		if img, err = LoadImage(cfg.Image); err != nil {
			return nil, err
		}
	}
	m := &Machine{cfg: cfg, img: img, syms: img.Syms.Fork(), phys: mem.NewPhys(cfg.Mem), exits: map[int]int{}, gates: map[uint64][]Gate{}}
	m.entries = newEntryCounters()
	m.order = new(x86.Order)
	m.virtio = &virtio{disk: newDisk(defaultDisk), queues: make([]virtQueue, cfg.CPUs)}
	m.text = newText(m)
	m.log.out = cfg.Console
	for id := range cfg.CPUs {
		v := &VCPU{ID: id, m: m, mark: never, stepEnd: never}
		v.CPU = x86.New(id, m.phys, v)
		m.cpus = append(m.cpus, v)
	}
	if m.lay, err = img.layouts(); err != nil {
		return nil, err
	}
	if err := m.load(); err != nil {
		return nil, err
	}
	m.ownGates()
	m.OwnTrap("text_poke", m.text.trap)
	return m, nil
}

// Attach adds a part, so that it forks with the machine.
func (m *Machine) Attach(p Part) { m.parts = append(m.parts, p) }

// PartOf finds the machine's part of type P.
func PartOf[P Part](m *Machine) (p P, ok bool) {
	for _, part := range m.parts {
		if p, ok = part.(P); ok {
			return p, true
		}
	}
	return p, false
}

// Config is what the machine was made of, defaults filled in.
func (m *Machine) Config() Config { return m.cfg }

// NumCPU is the number of vCPUs, present or not yet started.
func (m *Machine) NumCPU() int { return len(m.cpus) }

// VCPU is CPU number id.
func (m *Machine) VCPU(id int) *VCPU { return m.cpus[id] }

// Running is the CPU whose slice it is, nil while the machine is stopped.
func (m *Machine) Running() *VCPU { return m.running }

// Online says whether the guest has started CPU id.
func (m *Machine) Online(id int) bool { return m.cpus[id].state >= cpuRunning }

// Symbols is the image's symbol table.
func (m *Machine) Symbols() *Symbols { return m.syms }

// SymbolAt names an address of the kernel's code or data as drgn does, "init_task+0x0"; "" of any other.
func (m *Machine) SymbolAt(va uint64) string {
	if sym, off := m.syms.At(va); sym.Name != "" && !sym.PerCPU() {
		return fmt.Sprintf("%s+%#x", sym.Name, off)
	}
	return ""
}

// Types are the image's DWARF types.
func (m *Machine) Types() *Types { return m.img.Types }

// Image is the guest kernel's ELF.
func (m *Machine) Image() *Image { return m.img }

// Text is the text patcher.
func (m *Machine) Text() *Text { return m.text }

// Phys is guest RAM.
func (m *Machine) Phys() *mem.Phys { return m.phys }

// Now is the machine's time in ns: the least t of the CPUs that run, or of the running CPU while one does.
func (m *Machine) Now() uint64 {
	if m.running != nil {
		return m.running.Now()
	}
	best := ^uint64(0)
	for _, v := range m.cpus {
		if v.state == cpuRunning {
			best = min(best, v.Now())
		}
	}
	if best != ^uint64(0) {
		return best
	}
	best = 0
	for _, v := range m.cpus {
		best = max(best, v.Now())
	}
	return best
}

// Insns is the number of counted instructions of all CPUs since power-on.
func (m *Machine) Insns() uint64 {
	if m.running != nil {
		return m.insns + m.running.CPU.Insns - m.running.seen
	}
	return m.insns
}

// GlobalClock is trace_clock "global": max(t, last issued + 1).
func (m *Machine) GlobalClock(c *VCPU) uint64 {
	m.globalT = max(c.Now(), m.globalT+1)
	return m.globalT
}

// SetHypercall names the owner of vmcall at CPL 3 (the user stub's protocol).
func (m *Machine) SetHypercall(fn func(c *VCPU)) { m.hyper = fn }

// SetSliceHook has fn called at the end of each slice (tests: the rolling hash of schedules).
func (m *Machine) SetSliceHook(fn func(c *VCPU)) { m.sliceHook = fn }

// Entries is the emulator's own count of calls of the function at va since decoding began to count it; see CountEntries.
func (m *Machine) Entries(va uint64) uint64 { return m.entries.get(va) }

// CountEntries has the emulator count the entries of the function at va from now on, without touching guest memory.
func (m *Machine) CountEntries(va uint64) {
	m.entries.add(va)
	if pa, ok := m.Translate(va); ok {
		m.cpus[0].CPU.InvalidateCode(pa, 1)
	}
}
