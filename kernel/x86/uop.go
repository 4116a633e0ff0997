package x86

import (
	"math"
)

//go:generate go run ./gen

// A uop is one step of an instruction with everything resolved: registers are byte offsets into CPU.r, so that AH is
// the byte after AL, and absent parts of an address are the slot that is always zero.
type uop struct {
	op   uint16
	d    uint8 // destination register
	s    uint8 // source register
	m    uint8 // base register of the address
	x    uint8 // index register
	sc   uint8 // its shift; a size or kind where there is no address
	idx  uint8 // number of the instruction in its block
	disp uint64
	imm  uint64
	off  uint16 // of the instruction from the block's start
	n    uint8  // its length
	_    [5]byte
}

// Slots of CPU.r behind the 16 general registers, as byte offsets.
const (
	slotZero = 16 * 8
	slotFS   = 17 * 8
	slotGS   = 18 * 8
	slotT0   = 19 * 8 // temporaries within one instruction
	slotT1   = 20 * 8
	slotT2   = 21 * 8
	numSlots = 24
)

// What a slow function answers.
const (
	stNext   = iota // go on with the next uop
	stJump          // the block is done: go on at c.rip
	stFault         // c.Exc is set and nothing changed
	stTrap          // c.Exc is set and the instruction is done
	stRepeat        // not done: again from c.rip, where the instruction is
	stResync        // the instruction is done, and the CPU's mode or interruptibility may differ
	stExit          // the instruction is done and Run returns c.exit
)

// What exec answers.
const (
	xBudget = iota // before block c.cur, for which the budget is too small
	xFault         // c.Exc, at c.rip
	xResync        // look at everything again and go on at c.rip
	xExit          // Run returns c.exit
	xHost          // before block c.cur, which has host code and whose budget has not been taken
)

// code is the decoded form of a block: immutable, and shared by all forks of a machine that still hold the same bytes.
type code struct {
	fast    []uop // with fused and flag-free uops
	precise []uop // one instruction after the other, every flag set
	va      uint64
	pfn     uint64
	pfn2    uint64 // frame of the end of the last instruction when it crosses the page, else pfn
	size    uint16 // bytes
	count   uint8  // instructions
	shadow  bool   // shadow text: not counted, never stopped in
	gate    bool
	toGate  bool   // it ends in a call of a gate, which returns by a jump
	tva     uint64 // where the terminator goes
	fva     uint64 // and the address behind it
}

// A block is one machine's instance of a code.
type block struct {
	t, f     *block // successors: linked blocks, or the sentinels unlinkedT and unlinkedF
	u0       *uop
	n        int64   // the budget that entering takes; MaxInt64 for what goes by slowEnter: sentinels, dead blocks, host code
	host     uintptr // its host code, or noHost
	start    uint64
	tva, fva uint64  // up to here one cache line: what running the block needs
	cost     int64   // counted instructions
	entry    *uint64 // counter of entries to the function that starts here
	code     *code
	pfn      uint64 // of code
	dead     bool   // the text was written or the mapping changed: find another
	heat     uint8  // entries without host code
	crosses  bool   // its one instruction ends in the next page
	hosted   int32  // the number of its host code, plus 1
	p0       *uop   // of the precise ones
	_        [1]uint64
}

// The sentinels have no state: which one a block holds says which side to link.
var (
	unlinkedT = &block{n: math.MaxInt64, host: noHost}
	unlinkedF = &block{n: math.MaxInt64, host: noHost}
)

// rip returns the address of uop u's instruction.
func (b *block) rip(u *uop) uint64 { return b.start + uint64(u.off) }

// next returns the address behind uop u's instruction.
func (b *block) next(u *uop) uint64 { return b.start + uint64(u.off) + uint64(u.n) }
