package x86

import "kscope/kernel/mem"

// The fetch window.
//
// A CPU that is parked between slices has fetched a little ahead. Its window starts at RIP and ends at the first of
//   - an instruction that ends a block: a branch, taken or not, a serialising instruction, one that changes the
//     privilege level, the interruptibility or a segment, or one that makes Run return; it is the last of the window;
//   - the end of the 64-byte line: the last instruction is the last that starts in the line;
//   - 16 instructions, counted from the end of the previous window: windows lie end to end from the target of the last
//     branch on;
//   - the first instruction of a function that is counted, and an instruction that crosses a page: they start a window.
//
// HoldWindow copies the window's bytes as they are in memory now. While the CPU runs straight through them it decodes
// from the copy, whatever is written meanwhile. An instruction that straddles the line's end has its head from the copy
// and its tail from memory when it executes: this is how a torn instruction happens. Branches, interrupts, exceptions
// and the host's SetRIP drop the window. A CPU's own stores to its window are seen: that is not cross-modification.
//
// Nothing of this depends on how blocks are cached; window_test.go holds the rule's vectors.
type window struct {
	held       bool
	start, end uint64
	left       int8 // instructions
	bytes      [lineSize]byte
}

const (
	lineSize   = 64
	windowMax  = 16
	lineOffset = lineSize - 1
)

// HoldWindow is called on the other CPUs before text is written. A window that is held already stays as it is.
func (c *CPU) HoldWindow() {
	if c.win.held || c.InShadow() {
		return
	}
	pa, f := c.peekFetch(c.rip)
	if f {
		return
	}
	w := window{held: true, start: c.rip, left: int8(windowMax - c.sinceOrigin()%windowMax)}
	off := c.rip & lineOffset
	c.phys.ReadAt(pa, w.bytes[off:])
	w.end = c.extent(&w)
	c.win = w
}

// peekFetch translates va without touching the tables.
func (c *CPU) peekFetch(va uint64) (pa uint64, fault bool) {
	pa, f := c.peek(va)
	return pa, f != nil
}

// extent finds the window's end by decoding it.
func (c *CPU) extent(w *window) uint64 {
	var l lowering
	line := w.start &^ lineOffset
	off := w.start & lineOffset
	for i := range w.left {
		if i > 0 && c.env.EntryCounter(line+off) != nil {
			break
		}
		in := decodeInst(w.bytes[off:])
		if in.Len == truncated && i > 0 && (line+lineSize)%mem.PageSize == 0 {
			break
		}
		if in.Len == truncated || off+uint64(in.Len) >= lineSize {
			return line + lineSize
		}
		off += uint64(in.Len)
		if l.ends(&in) {
			break
		}
	}
	return line + off
}

// sinceOrigin counts the instructions executed since the last branch, or since the first one that starts in RIP's line.
func (c *CPU) sinceOrigin() int {
	b := c.cur
	if b == nil || c.ku == 0 || b.dead {
		return 0
	}
	n := 0
	at := c.rip
	us := b.code.precise
	idx := us[c.ku].idx
	for k := c.ku - 1; k >= 0; k-- {
		if us[k].idx == idx {
			continue
		}
		idx = us[k].idx
		if b.rip(&us[k])&^lineOffset != at&^lineOffset {
			break
		}
		n++
	}
	return n
}

// Window returns the held fetch window.
func (c *CPU) Window() (start, end uint64, held bool) { return c.win.start, c.win.end, c.win.held }

// Seen puts over b, which memory has at va, the bytes that the CPU has fetched already and will execute as they were then.
func (c *CPU) Seen(va uint64, b []byte) {
	w := &c.win
	if !w.held || c.rip < w.start {
		return
	}
	for i := range b {
		if at := va + uint64(i); at >= c.rip && at < w.end && at < w.start&^lineOffset+lineSize {
			b[i] = w.bytes[at&lineOffset]
		}
	}
}

// stepHeld executes one instruction from the held window.
func (c *CPU) stepHeld() int {
	w := &c.win
	if c.rip < w.start || c.rip >= w.end || w.left <= 0 || c.env.Gate(c.rip) {
		w.held = false
		return xResync
	}
	in, pfn, ok := c.decodeHeld()
	if !ok {
		w.held = false
		return xFault
	}
	rip := c.rip
	b := c.heldBlock(in, pfn)
	r := c.stepBlock(b, 0)
	c.cur = nil
	if c.rip == rip && r == xResync { // a repeated string instruction
		return r
	}
	w.left--
	if r != xResync || c.rip != rip+uint64(in.Len) || b.code.precise[len(b.code.precise)-1].op != o_next || c.rip >= w.end || w.left == 0 {
		w.held = false
	}
	return r
}

// decodeHeld decodes at RIP from the window's bytes, and from memory behind the line.
func (c *CPU) decodeHeld() (in inst, pfn uint64, ok bool) {
	w := &c.win
	line := c.rip&^lineOffset + lineSize
	held := w.bytes[c.rip&lineOffset:]
	pa, fault := c.peekFetch(c.rip)
	if !fault {
		pfn = pa / mem.PageSize
	}
	in = decodeInst(held)
	if in.Len == truncated {
		var buf [lineSize + 16]byte
		n := copy(buf[:], held)
		tail, ok := c.fetchPFN(line)
		if !ok {
			return in, 0, false
		}
		c.phys.ReadAt(tail*mem.PageSize+line%mem.PageSize, buf[n:n+15])
		in = decodeInst(buf[:n+15])
	}
	if !fault {
		var now [15]byte
		n := min(in.Len, int(line-c.rip))
		c.phys.ReadAt(pa, now[:n])
		if string(now[:n]) != string(held[:n]) {
			c.StaleInsns++
		}
	}
	return in, pfn, true
}

// heldBlock makes a block of one instruction that no cache knows.
func (c *CPU) heldBlock(in inst, pfn uint64) *block {
	co := &code{va: c.rip, pfn: pfn, pfn2: pfn, shadow: c.env.Shadow(c.rip)}
	var l lowering
	l.reset(co)
	in.hooked = c.hooks != nil && c.hooks.Hooked(c.rip)
	l.add(in)
	entry := c.env.EntryCounter(c.rip)
	l.lower(entry != nil)
	b := &block{entry: entry}
	b.init(co)
	b.entry = entry
	return b
}
