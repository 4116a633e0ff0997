package ftrace

import (
	"encoding/binary"
	"fmt"
	"sort"

	"kscope/kernel"
)

// siteSize is MCOUNT_INSN_SIZE: a call, or the nop in its place.
const siteSize = 5

// nop5 is the 5-byte nop of Linux's x86_nops.
var nop5 = [siteSize]byte{0x0f, 0x1f, 0x44, 0x00, 0x00}

// Record is one call site: Linux's struct dyn_ftrace. What it calls follows from the ops that want it.
type Record struct {
	IP     uint64
	Name   string // of the function, without its module
	Module string // "" for the kernel itself
	refs   int    // ops that want it
	regs   bool   // one of them wants all registers
	only   *Ops   // the only one that does, when it has a trampoline
	target uint64 // what the site calls once the queued patches are written; 0: nothing
}

// Refs is the number of ops that trace the site.
func (r *Record) Refs() int { return r.refs }

// Target is the address that the site calls, 0 for a nop.
func (r *Record) Target() uint64 { return r.target }

// symbol is %ps of the site.
func (r *Record) symbol() string {
	if r.Module != "" {
		return r.Name + " [" + r.Module + "]"
	}
	return r.Name
}

// Sites are the call sites of a machine and the ops on them. There is one per machine, whatever the number of tracers.
type Sites struct {
	m       *kernel.Machine
	recs    []Record // by address
	ops     []*Ops   // registered, newest first, as Linux's ftrace_ops_list
	byID    []*Ops   // index: the id that a trampoline passes
	dead    []uint64 // trampolines that no site calls any more once the queued patches are written
	forks   map[*Ops]*Ops
	inside  int    // callbacks that run now
	visits  uint64 // calls of sites so far
	execute bool   // trampolines are executed to their gate: for tests
	enabled bool   // /proc/sys/kernel/ftrace_enabled

	names *nameIndex // of recs; nil: not worth it yet. setRecs drops it
	scans int        // of all names since then

	modules      []moduleSites
	allocated    int // sites found at boot, those of .init.text too
	pages, group int
	tmpl         [2]template // ftrace_caller, ftrace_regs_caller
}

func newSites(m *kernel.Machine) (*Sites, error) {
	s := &Sites{m: m, enabled: true, byID: []*Ops{nil}}
	return s, s.readTemplates()
}

func (s *Sites) fork(m *kernel.Machine) *Sites {
	n := &Sites{}
	*n = *s
	n.m = m
	n.forks = map[*Ops]*Ops{}
	n.recs = append([]Record(nil), s.recs...)
	n.dead = append([]uint64(nil), s.dead...)
	n.ops = nil
	for _, o := range s.ops {
		n.ops = append(n.ops, n.ForkOf(o))
	}
	n.byID = make([]*Ops, len(s.byID))
	for i, o := range s.byID {
		if o != nil {
			n.byID[i] = n.ForkOf(o)
		}
	}
	for i := range n.recs {
		if o := n.recs[i].only; o != nil {
			n.recs[i].only = n.ForkOf(o)
		}
	}
	return n
}

// ForkOf gives the copy of an Ops in a fork of its machine; the owner must set the copy's Call.
func (s *Sites) ForkOf(o *Ops) *Ops {
	if n := s.forks[o]; n != nil {
		return n
	}
	if s.forks == nil {
		panic("BUG: ftrace: ForkOf outside a fork")
	}
	n := &Ops{}
	*n = *o
	n.Filter, n.Notrace, n.Call = o.Filter.Clone(), o.Notrace.Clone(), nil
	s.forks[o] = n
	return n
}

// setRecs replaces the records.
func (s *Sites) setRecs(recs []Record) { s.recs, s.names, s.scans = recs, nil, 0 }

// Records lists all sites by address.
func (s *Sites) Records() []Record { return s.recs }

// At finds the record of a site.
func (s *Sites) At(ip uint64) (*Record, bool) {
	i := sort.Search(len(s.recs), func(i int) bool { return s.recs[i].IP >= ip })
	if i < len(s.recs) && s.recs[i].IP == ip {
		return &s.recs[i], true
	}
	return nil, false
}

// processLocs turns every site of __mcount_loc into a nop and a record and returns how many there are. Functions in
// .init.text are not listed: they are gone once boot is over (ftrace_free_init_mem).
func (s *Sites) processLocs() (int, error) {
	syms := s.m.Symbols()
	start, ok1 := syms.Lookup("__start_mcount_loc")
	end, ok2 := syms.Lookup("__stop_mcount_loc")
	fentry, ok3 := syms.Lookup("__fentry__")
	if !ok1 || !ok2 || !ok3 || end < start || (end-start)%8 != 0 {
		return 0, fmt.Errorf("the image has no __mcount_loc table: %w", kernel.EINVAL)
	}
	table := make([]byte, end-start)
	if err := s.m.Read(start, table); err != nil {
		return 0, err
	}
	var recs []Record
	for i := 0; i < len(table); i += 8 {
		ip := binary.LittleEndian.Uint64(table[i:])
		if err := s.checkSite(ip, fentry); err != nil {
			return 0, err
		}
		sym, _ := syms.At(ip) // a function that begins with endbr64 has its site at +4
		if sym.Name == "" {
			return 0, fmt.Errorf("site %#x is in no function: %w", ip, kernel.EINVAL)
		}
		if sym.Section != ".init.text" {
			recs = append(recs, Record{IP: ip, Name: sym.Name, Module: sym.Module})
		}
		if err := s.m.Text().Early(ip, nop5[:]); err != nil {
			return 0, err
		}
	}
	sort.Slice(recs, func(i, j int) bool { return recs[i].IP < recs[j].IP })
	for i := 1; i < len(recs); i++ {
		if recs[i].IP == recs[i-1].IP {
			return 0, fmt.Errorf("site %#x is listed twice: %w", recs[i].IP, kernel.EINVAL)
		}
	}
	s.setRecs(recs)
	s.allocated = len(table) / 8
	s.countPages(s.allocated)
	return s.allocated, nil
}

// checkSite wants `call __fentry__` at ip.
func (s *Sites) checkSite(ip, fentry uint64) error {
	var b [siteSize]byte
	if err := s.m.Read(ip, b[:]); err != nil {
		return fmt.Errorf("site %#x: %w", ip, err)
	}
	if b != call(ip, fentry) {
		return fmt.Errorf("site %#x: % x is no call of __fentry__: %w", ip, b, kernel.EINVAL)
	}
	return nil
}

// countPages adds what the records of n sites take: Linux puts 256 of 16 bytes into a page and asks for groups of pages of
// the largest power of two that is needed (ftrace_allocate_records). Only dyn_ftrace_total_info shows it.
func (s *Sites) countPages(n int) {
	const perPage = 4096 / 16
	for n > 0 {
		pages := 1
		for pages*2 <= (n+perPage-1)/perPage {
			pages *= 2
		}
		s.pages += pages
		s.group++
		n -= pages * perPage
	}
}

// call is the instruction `call to` at address at.
func call(at, to uint64) [siteSize]byte {
	b := [siteSize]byte{0xe8}
	binary.LittleEndian.PutUint32(b[1:], uint32(to-at-siteSize))
	return b
}
