package kernel

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Fork copies the whole machine, its parts included, in well under 5 ms: frames are shared copy-on-write. The seed acts
// on the copy from here on. The machine must be stopped. The copy's console and requests begin empty-handed.
func (m *Machine) Fork(seed uint64) *Machine {
	if m.inRun {
		panic("BUG: kernel: Fork within a run")
	}
	n := &Machine{
		cfg: m.cfg, img: m.img, syms: m.syms.Fork(), lay: m.lay, initPGT: m.initPGT,
		phys:  m.phys.Fork(),
		gates: make(map[uint64][]Gate, len(m.gates)),
		cold:  m.cold, insns: m.insns, work: m.work, globalT: m.globalT, booted: m.booted, dead: m.dead,
		shadow: m.shadow.fork(), detours: m.detours.fork(), log: m.log.fork(), req: m.req.fork(), streams: m.streams.fork(),
		exits: maps.Clone(m.exits), oopses: slices.Clip(m.oopses),
	}
	n.entries, n.mods = m.entries.fork(), m.mods.fork()
	order := *m.order
	n.order = &order
	n.virtio = m.virtio.fork()
	n.Seed(seed)
	for _, v := range m.cpus {
		c := &VCPU{ID: v.ID, m: n, state: v.state, off: v.off, seen: v.seen, apic: v.apic.fork(), cont: slices.Clone(v.cont), stepEnd: never}
		c.CPU = v.CPU.Fork(n.phys, c)
		n.cpus = append(n.cpus, c)
		if m.resume == v {
			n.resume, n.turn.end = c, m.turn.end
		}
	}
	n.text = m.text.fork(n)
	n.ownGates()
	n.OwnTrap("text_poke", n.text.trap)
	for _, p := range m.parts {
		n.parts = append(n.parts, p.Fork(n))
	}
	m.forkRules(n)
	return n
}

// Copy is Fork without a seed: copy and original have the same future.
func (m *Machine) Copy() *Machine {
	n := m.Fork(m.cfg.Seed)
	n.rng = m.rng
	return n
}

// Snapshots keeps booted machines, so that a process boots each configuration once. The zero value is ready; it may be
// used from several goroutines. It keeps Config.Initrd, which must not be written to.
type Snapshots struct {
	mu     sync.Mutex
	booted map[snapKey]*Machine
	images map[[sha256.Size]byte]*Image // by the hash of Config.Image
	initrd []byte                       // the last machine's, which most have
	sum    [sha256.Size]byte
}

type snapKey struct {
	image, initrd [sha256.Size]byte
	cpus          int
	mem           uint64
	cmdline       string
	overhead      Overhead
	features      string
	interpret     bool
}

// Machine gives a machine at t = 1.000000 s. The first call for a configuration makes the machine, has setup register its
// parts and boots it; later calls fork that one, parts included. setup must be the same for one Snapshots.
func (s *Snapshots) Machine(cfg Config, setup func(m *Machine) error) (*Machine, error) {
	if err := cfg.normalize(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.booted == nil || len(cfg.Initrd) != len(s.initrd) || len(s.initrd) > 0 && &cfg.Initrd[0] != &s.initrd[0] {
		s.initrd, s.sum = cfg.Initrd, sha256.Sum256(cfg.Initrd)
	}
	key := snapKey{sha256.Sum256(cfg.Image), s.sum, cfg.CPUs, cfg.Mem, cfg.Cmdline, cfg.Overhead, cfg.Features, cfg.Interpret}
	base := s.booted[key]
	if base == nil {
		var err error
		if base, err = s.boot(key, cfg, setup); err != nil {
			return nil, err
		}
	}
	m := base.Fork(cfg.Seed)
	m.cfg.MaxInsns = cfg.MaxInsns
	m.SetConsole(cfg.Console)
	return m, nil
}

// boot makes and keeps the machine that others are forks of.
func (s *Snapshots) boot(key snapKey, cfg Config, setup func(m *Machine) error) (*Machine, error) {
	if s.booted == nil {
		s.booted, s.images = map[snapKey]*Machine{}, map[[sha256.Size]byte]*Image{}
	}
	cfg.parsed, cfg.Console = s.images[key.image], nil
	m, err := New(cfg)
	if err != nil {
		return nil, err
	}
	s.images[key.image] = m.img
	if err := setup(m); err != nil {
		return nil, fmt.Errorf("kernel: setting up: %w", err)
	}
	if err := m.Boot(); err != nil {
		return nil, err
	}
	s.booted[key] = m
	return m, nil
}
