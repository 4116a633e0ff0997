package kernel

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"kscope/kernel/mem"
	"kscope/kernel/x86"
)

// Poke is one change of text. Old, when given, is what must stand there. New is a whole instruction that the transient int3
// can act for (nop, call, jmp), or one byte, which is written as it is.
type Poke struct {
	Addr     uint64
	Old, New []byte
	By       string
}

// batchSize is TP_VEC_MAX of arch/x86/kernel/alternative.c: PAGE_SIZE / sizeof(struct text_poke_loc).
const batchSize = 256

// Patch is the history of one batch.
type Patch struct {
	Pokes   []Poke
	Skipped []Poke // Old did not stand there: nothing was written (ftrace_bug's case)
	Steps   []PatchStep
	Done    bool
}

// PatchStep is one moment at which bytes were written, and who noticed.
type PatchStep struct {
	Kind   string // "int3", "tails", "heads", "instant", "naive"
	Time   uint64
	CPU    int // -1: the host, at one instant
	Task   TaskInfo
	Writes []PatchWrite
	Stale  []StaleWindow
	Acks   []Ack
	Hits   []Ack // CPUs that ran into the transient int3 before the next step
}

// PatchWrite is the bytes of one address before and after.
type PatchWrite struct {
	Addr     uint64
	Old, New []byte
}

// StaleWindow is a CPU that had fetched bytes of the patched text before the write and will run them after it.
type StaleWindow struct {
	CPU        int
	Start, End uint64
	Addr       uint64
}

// Ack is a CPU that passed a serialising point (text_poke_sync) or hit an int3.
type Ack struct {
	CPU  int
	Time uint64
	Addr uint64 // int3 hits only
}

// Text is the text patcher. The protocol is text_poke_bp_batch's: int3 on every site, sync; tails, sync; heads, sync. The
// guest's text_poke_bp_batch drives it through the gate text_poke_step and does the syncs.
type Text struct {
	m       *Machine
	pending []Poke
	cur     *batch
	patches []*Patch
	weight  int    // of patches: see keep
	dropped uint64 // patches that are no longer kept
	watch   []func(c *VCPU, p *Patch, s *PatchStep)
	seen    []func(c *VCPU, s *PatchStep) // of OnPatchSeen
	orig    map[uint64]map[uint16]byte    // by frame: what stood there before the first patch, for StateHash

	naive *naivePoke
	calm  int // how often in a row the guest has asked and heard that nothing is pending

	// Test knobs: the batch goes on without the sync after its first or after its last step.
	DropFirstSync, DropLastSync bool
	// Int3Hits counts the transient int3s that trap acted for; StaleHolds counts steps at which some CPU held a window.
	Int3Hits, StaleHolds uint64
}

// batch is the patch under way: stage counts the steps already written.
type batch struct {
	patch *Patch
	sites map[uint64]*Poke // of the pokes that go through int3
	stage int
}

func newText(m *Machine) *Text { return &Text{m: m, orig: map[uint64]map[uint16]byte{}} }

func (t *Text) fork(m *Machine) *Text {
	n := newText(m)
	n.pending = slices.Clone(t.pending)
	n.patches = make([]*Patch, len(t.patches))
	copy(n.patches, t.patches) // finished ones never change
	n.weight, n.dropped, n.calm = t.weight, t.dropped, t.calm
	n.DropFirstSync, n.DropLastSync = t.DropFirstSync, t.DropLastSync
	n.Int3Hits, n.StaleHolds = t.Int3Hits, t.StaleHolds
	for pfn, bytes := range t.orig {
		c := make(map[uint16]byte, len(bytes))
		for off, b := range bytes {
			c[off] = b
		}
		n.orig[pfn] = c
	}
	if t.cur != nil {
		p := *t.cur.patch
		p.Steps = slices.Clone(p.Steps)
		for i := range p.Steps {
			p.Steps[i].Acks = slices.Clone(p.Steps[i].Acks)
			p.Steps[i].Hits = slices.Clone(p.Steps[i].Hits)
		}
		n.cur = &batch{patch: &p, stage: t.cur.stage}
		n.cur.index()
		n.patches[len(n.patches)-1] = &p
	}
	return n
}

// Queue asks for pokes in order. Under the model they are written by the guest's text_poke_bp_batch, which the guest calls
// after each kscoped request and tracefs write; with OverheadNone they are written now, at one instant on every CPU.
func (t *Text) Queue(by string, pokes []Poke) error {
	for i := range pokes {
		p := &pokes[i]
		p.By = by
		if len(p.New) == 0 || p.Old != nil && len(p.Old) != len(p.New) {
			return fmt.Errorf("poking %#x: %d bytes over %d: %w", p.Addr, len(p.New), len(p.Old), EINVAL)
		}
		if len(p.New) > 1 && actionOf(p.New) == actNone {
			return fmt.Errorf("poking %#x: % x is no nop, call or jmp: %w", p.Addr, p.New, EINVAL)
		}
		if _, ok := t.m.Translate(p.Addr); !ok {
			return fmt.Errorf("poking %#x: %w", p.Addr, EFAULT)
		}
	}
	t.pending = append(t.pending, pokes...)
	if len(pokes) > 0 {
		t.calm = 0
	}
	if t.m.cfg.Overhead == OverheadNone {
		t.flushNow()
	}
	return nil
}

// Pending says whether pokes wait for the guest.
func (t *Text) Pending() bool { return len(t.pending) > 0 || t.cur != nil }

// Settled says whether all that was asked for is written and its patcher has let go of text_mutex: it asks once within, once behind.
func (t *Text) Settled() bool {
	return !t.Pending() && (t.calm > 1 || t.m.cfg.Overhead == OverheadNone)
}

// BytesSeen reads n bytes of kernel text as a CPU sees them: what it has in its fetch window stays as it was when the window was held,
// until it synchronises; all else is memory's. The error is Read's.
func (m *Machine) BytesSeen(cpu int, addr uint64, n int) ([]byte, error) {
	b := make([]byte, n)
	if err := m.Read(addr, b); err != nil {
		return nil, err
	}
	m.cpus[cpu].CPU.Seen(addr, b)
	return b, nil
}

// Patches is the history of the latest batches, oldest first; PatchesDropped is how many older ones are no longer kept.
func (t *Text) Patches() []*Patch      { return t.patches }
func (t *Text) PatchesDropped() uint64 { return t.dropped }

// maxWeight bounds the history: a patch weighs patchWeight and one for each of its pokes, so that some 3,600 small ones or 120
// full batches are kept, in about 12 MB.
const (
	maxWeight   = 1 << 15
	patchWeight = 8
)

func (p *Patch) weight() int { return patchWeight + len(p.Pokes) + len(p.Skipped) }

// keep adds a patch to the history, and drops the oldest when it has grown too much.
func (t *Text) keep(p *Patch) {
	t.patches = append(t.patches, p)
	t.weight += p.weight()
	n := 0
	for ; t.weight > maxWeight; n++ {
		t.weight -= t.patches[n].weight()
	}
	if n > 0 {
		t.dropped += uint64(n)
		t.patches = slices.Clone(t.patches[n:])
	}
}

// OnPatchStep has fn called when the bytes of a step are written and nobody has been told to synchronise yet; for a naive write,
// just before the byte is stored. c is the CPU that writes, nil for the host. A fork of the machine starts without.
func (m *Machine) OnPatchStep(fn func(c *VCPU, p *Patch, s *PatchStep)) (remove func()) {
	t := m.text
	t.watch = append(t.watch, fn)
	k := len(t.watch) - 1
	return func() { t.watch[k] = nil }
}

func (t *Text) tell(c *VCPU, p *Patch, s *PatchStep) {
	for _, fn := range t.watch {
		if fn != nil {
			fn(c, p, s)
		}
	}
}

// Early writes text at one instant and keeps it out of the history and of the originals: boot's conversion of call sites
// (text_poke_early).
func (t *Text) Early(addr uint64, b []byte) error { return t.m.Write(addr, b) }

// flushNow writes all pending pokes at one instant; no CPU sees anything in between.
func (t *Text) flushNow() {
	for len(t.pending) > 0 {
		b := t.take()
		s := t.begin(b.patch, "instant", nil)
		for i := range b.patch.Pokes {
			p := &b.patch.Pokes[i]
			t.write(s, p.Addr, p.New, nil, false)
		}
		b.patch.Done = true
		t.tell(nil, b.patch, s)
	}
}

// take makes a batch of the first pending pokes: up to batchSize, no address twice.
func (t *Text) take() *batch {
	n, seen := 0, map[uint64]bool{}
	for n < len(t.pending) && n < batchSize && !seen[t.pending[n].Addr] {
		seen[t.pending[n].Addr] = true
		n++
	}
	patch := &Patch{}
	for _, p := range t.pending[:n] {
		if cur := t.read(p.Addr, len(p.New)); p.Old != nil && !bytes.Equal(cur, p.Old) {
			patch.Skipped = append(patch.Skipped, p)
			continue
		} else if p.Old == nil {
			p.Old = cur
		}
		patch.Pokes = append(patch.Pokes, p)
	}
	t.pending = append([]Poke(nil), t.pending[n:]...)
	slices.SortStableFunc(patch.Pokes, func(a, b Poke) int {
		if a.Addr < b.Addr {
			return -1
		} else if a.Addr > b.Addr {
			return 1
		}
		return strings.Compare(a.By, b.By)
	})
	t.keep(patch)
	b := &batch{patch: patch}
	b.index()
	return b
}

func (b *batch) index() {
	b.sites = map[uint64]*Poke{}
	for i := range b.patch.Pokes {
		if p := &b.patch.Pokes[i]; len(p.New) > 1 {
			b.sites[p.Addr] = p
		}
	}
}

func (t *Text) read(va uint64, n int) []byte {
	b := make([]byte, n)
	if t.m.Read(va, b) != nil {
		panic(fmt.Sprintf("BUG: kernel: text at %#x is unmapped", va))
	}
	return b
}

// begin opens a step. v nil: the host.
func (t *Text) begin(p *Patch, kind string, v *VCPU) *PatchStep {
	s := PatchStep{Kind: kind, CPU: -1, Time: t.m.Now()}
	if v != nil {
		s.CPU, s.Time, s.Task = v.ID, v.Now(), v.Current()
	}
	p.Steps = append(p.Steps, s)
	return &p.Steps[len(p.Steps)-1]
}

// write changes bytes of text. With hold, the CPUs other than v keep the window they have fetched.
func (t *Text) write(s *PatchStep, va uint64, b []byte, v *VCPU, hold bool) {
	old := t.read(va, len(b))
	if bytes.Equal(old, b) {
		return
	}
	if hold {
		t.hold(s, va, len(b), v)
	}
	for i := range b {
		t.remember(va+uint64(i), old[i], b[i])
	}
	if err := t.m.Write(va, b); err != nil {
		panic(fmt.Sprintf("BUG: kernel: writing text at %#x: %v", va, err))
	}
	s.Writes = append(s.Writes, PatchWrite{va, old, slices.Clone(b)})
}

// hold freezes the other CPUs' fetch windows and notes those that cover the write.
func (t *Text) hold(s *PatchStep, va uint64, n int, v *VCPU) {
	for _, o := range t.m.cpus {
		if o == v || o.state < cpuRunning {
			continue
		}
		o.CPU.HoldWindow()
		if start, end, held := o.CPU.Window(); held && start < va+uint64(n) && va < end {
			s.Stale = append(s.Stale, StaleWindow{o.ID, start, end, va})
		}
	}
}

// stored is told of a guest store to text, naive or not, before it happens.
func (t *Text) stored(v *VCPU, pa uint64, n int) {
	s := &PatchStep{}
	naive := t.naive != nil && t.naive.covers(pa, n)
	if naive {
		s = t.begin(t.naive.patch, "naive", v)
		old := make([]byte, n)
		t.m.phys.ReadAt(pa, old)
		at := pa - t.naive.pa
		will := t.naive.patch.Pokes[0].New[at : at+uint64(n)]
		s.Writes = append(s.Writes, PatchWrite{Addr: t.naive.va + at, Old: old, New: will})
	}
	t.hold(s, pa+kernelBase, n, v)
	if len(s.Stale) > 0 {
		t.StaleHolds++
	}
	if naive {
		t.tell(v, t.naive.patch, s)
	}
}

// remember keeps the first original of each byte, and forgets it when it is back.
func (t *Text) remember(va uint64, old, new byte) {
	pa, ok := t.m.Translate(va)
	if !ok {
		return
	}
	pfn, off := pa/mem.PageSize, uint16(pa%mem.PageSize)
	page := t.orig[pfn]
	if page == nil {
		page = map[uint16]byte{}
		t.orig[pfn] = page
	}
	if first, ok := page[off]; !ok {
		page[off] = old
	} else if first == new {
		delete(page, off)
	}
}

// busyIn says whether the batch under way has sites in a.
func (t *Text) busyIn(a ModuleArea) bool {
	return t.cur != nil && slices.ContainsFunc(t.cur.patch.Pokes, func(p Poke) bool { return a.Has(p.Addr) })
}

// Instant writes pokes now, at one moment on every CPU: of text that nothing can be running yet, a module's before its init
// (text_poke_early). Unlike Early it keeps the originals and the history.
func (t *Text) Instant(by string, pokes []Poke) {
	waiting := t.pending
	t.pending = slices.Clone(pokes)
	for i := range t.pending {
		t.pending[i].By = by
	}
	t.flushNow()
	t.pending = waiting
}

// forget drops what is known of text that is about to be freed: a module's. Pokes of it that wait are not written, and its
// frames are given back as if it had never been patched.
func (t *Text) forget(a ModuleArea) {
	t.pending = slices.DeleteFunc(t.pending, func(p Poke) bool { return a.Has(p.Addr) })
	for at := a.Base; at < a.Base+a.Size; at += mem.PageSize {
		pa, ok := t.m.Translate(at)
		if !ok {
			continue
		}
		for off, b := range t.orig[pa/mem.PageSize] {
			t.m.writeCode(pa+uint64(off), []byte{b})
		}
		delete(t.orig, pa/mem.PageSize)
	}
}

// gatePending: long text_poke_pending(void).
func (t *Text) gatePending(*VCPU) uint64 {
	if t.Pending() {
		t.calm = 0
		return 1
	}
	t.calm++
	return 0
}

// gateStep: long text_poke_step(void). 1: bytes were written, sync all CPUs and call again. 0: nothing is left to do.
func (t *Text) gateStep(v *VCPU) uint64 {
	for {
		if t.cur == nil {
			if len(t.pending) == 0 {
				return 0
			}
			t.cur = t.take()
		}
		b := t.cur
		if b.stage == 3 || len(b.patch.Pokes) == 0 {
			b.patch.Done = true
			t.cur = nil
			continue
		}
		t.step(v, b)
		drop := b.stage == 1 && t.DropFirstSync || b.stage == 3 && t.DropLastSync
		if !drop {
			return 1
		}
	}
}

// step writes the next of a batch's three parts. One-byte pokes go in whole with the int3s: a byte is written atomically.
func (t *Text) step(v *VCPU, b *batch) {
	kind := [...]string{"int3", "tails", "heads"}[b.stage]
	s := t.begin(b.patch, kind, v)
	for i := range b.patch.Pokes {
		p := &b.patch.Pokes[i]
		switch {
		case b.stage == 0 && len(p.New) == 1:
			t.write(s, p.Addr, p.New, v, true)
		case b.stage == 0:
			t.write(s, p.Addr, []byte{0xcc}, v, true)
		case b.stage == 1 && len(p.New) > 1:
			t.write(s, p.Addr+1, p.New[1:], v, true)
		case b.stage == 2 && len(p.New) > 1:
			t.write(s, p.Addr, p.New[:1], v, true)
		}
	}
	if len(s.Stale) > 0 {
		t.StaleHolds++
	}
	b.stage++
	v.Charge(costPokeStep + costPokeSite*uint64(len(s.Writes)))
	t.tell(v, b.patch, s)
}

// Costs of the writer's side of a batch in ns: mapping the poking mm and writing each site through it.
const (
	costPokeStep = 300
	costPokeSite = 20
)

// gateAck: void text_poke_sync_ack(void), in do_sync_core on each CPU.
func (t *Text) gateAck(v *VCPU) uint64 {
	if s := t.lastStep(); s != nil {
		s.Acks = append(s.Acks, Ack{CPU: v.ID, Time: v.Now()})
		if t.m.watch != nil {
			t.m.watch.ack(v, s)
		}
		t.tellSeen(v, s)
	}
	return 0
}

func (t *Text) lastStep() *PatchStep {
	if t.cur == nil || len(t.cur.patch.Steps) == 0 {
		return nil
	}
	return &t.cur.patch.Steps[len(t.cur.patch.Steps)-1]
}

// trap owns the transient int3: the CPU behaves as the new instruction (see poke_int3_handler).
func (t *Text) trap(v *VCPU, vec uint8) bool {
	if vec != x86.VecBP || t.cur == nil {
		return false
	}
	addr := v.CPU.RIP() - 1
	p, ok := t.cur.sites[addr]
	if !ok {
		return false
	}
	t.Int3Hits++
	if s := t.lastStep(); s != nil {
		s.Hits = append(s.Hits, Ack{v.ID, v.Now(), addr})
	}
	return v.Emulate(addr, p.New)
}

// action is what an instruction that the patcher can act for does.
type action uint8

const (
	actNone action = iota
	actNop
	actCall
	actJump
)

// nops are the encodings of Linux's x86_nops table (arch/x86/include/asm/nops.h), by length.
var nops = [...]string{
	1: "\x90", 2: "\x66\x90", 3: "\x0f\x1f\x00", 4: "\x0f\x1f\x40\x00", 5: "\x0f\x1f\x44\x00\x00",
	6: "\x66\x0f\x1f\x44\x00\x00", 7: "\x0f\x1f\x80\x00\x00\x00\x00", 8: "\x0f\x1f\x84\x00\x00\x00\x00\x00",
}

func actionOf(b []byte) action {
	switch {
	case len(b) < len(nops) && nops[len(b)] == string(b):
		return actNop
	case len(b) == 5 && b[0] == 0xe8:
		return actCall
	case len(b) == 5 && b[0] == 0xe9, len(b) == 2 && b[0] == 0xeb:
		return actJump
	}
	return actNone
}

// Emulate makes the CPU behave as if the instruction insn, a nop, call or jmp, had been executed at addr.
func (v *VCPU) Emulate(addr uint64, insn []byte) bool {
	next := addr + uint64(len(insn))
	switch actionOf(insn) {
	case actNop:
		v.CPU.SetRIP(next)
	case actCall:
		sp := v.CPU.Reg(regSP) - 8
		if v.CPU.PutU64(sp, next) != nil {
			return false
		}
		v.CPU.SetReg(regSP, sp)
		v.CPU.SetRIP(next + rel(insn[1:]))
	case actJump:
		v.CPU.SetRIP(next + rel(insn[1:]))
	default:
		return false
	}
	return true
}

// rel is a sign-extended little-endian displacement of 1 or 4 bytes.
func rel(b []byte) uint64 {
	if len(b) == 1 {
		return uint64(int64(int8(b[0])))
	}
	return uint64(int64(int32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)))
}
