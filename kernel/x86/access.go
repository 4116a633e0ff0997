package x86

import (
	"encoding/binary"

	"kscope/kernel/mem"
)

// raise records an exception; the instruction has changed nothing.
func (c *CPU) raise(vec uint8, err uint32, hasErr bool) int {
	c.Exc = Exception{Vec: vec, Err: err, HasErr: hasErr}
	return stFault
}

func (c *CPU) raiseGP(err uint32) int { return c.raise(VecGP, err, true) }

// memFault records the exception that a failed walk means.
func (c *CPU) memFault(f *mem.Fault) {
	if f.NonCanonical {
		c.Exc = Exception{Vec: VecGP, HasErr: true, odd: true}
		return
	}
	c.Exc = Exception{Vec: VecPF, Err: f.Code, HasErr: true, CR2: f.VA}
}

// readPtr translates va for a read of the current privilege level, to the memory from there to the end of the page. nil
// with ok: not memory.
func (c *CPU) readPtr(va uint64) (p []byte, ok bool) {
	e := &c.tl.R[mem.Index(va)]
	if va-e.VA < mem.PageSize {
		return (*mem.Frame)(e.P)[va-e.VA:], true
	}
	if host, ok := c.tl.ReadWritten(va); ok {
		return (*mem.Frame)(host)[va%mem.PageSize:], true
	}
	pa, flags, f := mem.Walk(c.phys, c.cr3, va, mem.Read, c.user(), c.mode())
	if f != nil {
		c.memFault(f)
		return nil, false
	}
	c.tl.Sync(c.phys)
	if !c.phys.Contains(pa) {
		return nil, true
	}
	return (*mem.Frame)(c.tl.FillR(c.phys, va, pa, flags))[pa%mem.PageSize:], true
}

// writePtr translates va for a write. code: the frame holds decoded code at pa, so the write goes through storeCode.
func (c *CPU) writePtr(va uint64) (p []byte, pa uint64, code, ok bool) {
	e := &c.tl.W[mem.Index(va)]
	if va-e.VA < mem.PageSize {
		return (*mem.Frame)(e.P)[va-e.VA:], 0, false, true
	}
	pa, flags, f := mem.Walk(c.phys, c.cr3, va, mem.Write, c.user(), c.mode())
	if f != nil {
		c.memFault(f)
		return nil, 0, false, false
	}
	c.tl.Sync(c.phys)
	if !c.phys.Contains(pa) {
		return nil, pa, false, true
	}
	if c.phys.Code(pa / mem.PageSize) {
		return nil, pa, true, true
	}
	return (*mem.Frame)(c.tl.FillW(c.phys, va, pa, flags))[pa%mem.PageSize:], pa, false, true
}

// readN reads the first n bytes of p; what is not memory reads as ones.
func readN(p []byte, n uint64) uint64 {
	if p == nil {
		return ^uint64(0) >> (64 - 8*n)
	}
	switch n {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(p))
	case 4:
		return uint64(binary.LittleEndian.Uint32(p))
	}
	return binary.LittleEndian.Uint64(p)
}

func writeN(p []byte, v, n uint64) {
	if p == nil {
		return
	}
	switch n {
	case 1:
		p[0] = uint8(v)
	case 2:
		binary.LittleEndian.PutUint16(p, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(p, uint32(v))
	default:
		binary.LittleEndian.PutUint64(p, v)
	}
}

func crosses(va, n uint64) bool { return va%mem.PageSize > mem.PageSize-n }

// load reads n bytes at va, zero-extended; false leaves the exception in c.Exc.
func (c *CPU) load(va, n uint64) (uint64, bool) {
	if !crosses(va, n) {
		p, ok := c.readPtr(va)
		if !ok {
			return 0, false
		}
		return readN(p, n), true
	}
	var v uint64
	for i := range n {
		p, ok := c.readPtr(va + i)
		if !ok {
			return 0, false
		}
		v |= readN(p, 1) << (8 * i)
	}
	return v, true
}

// store writes n bytes at va. It changes nothing when it fails.
func (c *CPU) store(va, v, n uint64) bool {
	if !crosses(va, n) {
		p, pa, code, ok := c.writePtr(va)
		if !ok {
			return false
		}
		if code {
			c.storeCode(pa, v, n)
			return true
		}
		writeN(p, v, n)
		return true
	}
	if _, _, _, ok := c.writePtr(va); !ok {
		return false
	}
	if _, _, _, ok := c.writePtr((va | (mem.PageSize - 1)) + 1); !ok {
		return false
	}
	for i := range n {
		p, pa, code, _ := c.writePtr(va + i)
		if code {
			c.storeCode(pa, v>>(8*i)&255, 1)
			continue
		}
		writeN(p, v>>(8*i), 1)
	}
	return true
}

// loadW reads n bytes at va that a store will overwrite: it faults as a write does.
func (c *CPU) loadW(va, n uint64) (uint64, bool) {
	p, pa, code, ok := c.writePtr(va)
	if !ok {
		return 0, false
	}
	if crosses(va, n) {
		if _, _, _, ok := c.writePtr((va | (mem.PageSize - 1)) + 1); !ok {
			return 0, false
		}
		return c.load(va, n)
	}
	if code {
		return readN(c.phys.Page(pa / mem.PageSize)[pa%mem.PageSize:], n), true
	}
	return readN(p, n), true
}

// storeCode writes to a frame that holds decoded code: the machine is told first, then the blocks go.
func (c *CPU) storeCode(pa, v, n uint64) {
	if c.b != nil {
		c.sync()
	}
	c.env.CodeWrite(c, pa, int(n))
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	c.phys.WriteAt(pa, b[:n])
	c.tl.Sync(c.phys)
	c.cache.invalidate(pa, n)
	c.smc = true
}

// asKernel runs f with supervisor rights, for the accesses that exceptions and descriptor loads make.
func (c *CPU) asKernel(f func()) {
	cpl := c.cpl
	c.setCPL(0)
	f()
	c.setCPL(cpl)
}

// sysLoad reads n bytes at va with supervisor rights.
func (c *CPU) sysLoad(va, n uint64) (v uint64, ok bool) {
	c.asKernel(func() { v, ok = c.load(va, n) })
	return
}

// peek translates va with the current tables and leaves no trace in them.
func (c *CPU) peek(va uint64) (pa uint64, f *mem.Fault) {
	if !mem.Canonical(va) {
		return 0, &mem.Fault{VA: va, NonCanonical: true}
	}
	const addr = (1<<mem.PhysBits - 1) &^ (mem.PageSize - 1)
	table := c.cr3 & addr
	for shift := 39; ; shift -= 9 {
		if !c.phys.Contains(table) {
			return 0, &mem.Fault{VA: va}
		}
		e := c.phys.U64(table + va>>shift&511*8)
		if e&mem.P == 0 {
			return 0, &mem.Fault{VA: va}
		}
		if shift == 12 || shift < 39 && e&mem.PS != 0 {
			in := uint64(1)<<shift - 1
			pa = e&addr&^in | va&in
			if !c.phys.Contains(pa) {
				return 0, &mem.Fault{VA: va}
			}
			return pa, nil
		}
		table = e & addr
	}
}

// Read copies guest memory at va with supervisor rights. It sets no accessed bits, so that a handler that looks at
// memory leaves no trace.
func (c *CPU) Read(va uint64, b []byte) error {
	for len(b) > 0 {
		n := min(len(b), int(mem.PageSize-va%mem.PageSize))
		e := &c.tlb[0].R[mem.Index(va)]
		if d := va - e.VA; d < mem.PageSize && c.cpl != 3 {
			c.tlb[0].Sync(c.phys)
			copy(b[:n], (*mem.Frame)(e.P)[d:])
		} else {
			pa, f := c.peek(va)
			if f != nil {
				return f
			}
			c.phys.ReadAt(pa, b[:n])
		}
		b, va = b[n:], va+uint64(n)
	}
	return nil
}

// Write stores b at va with supervisor rights, as the guest's kernel could.
func (c *CPU) Write(va uint64, b []byte) error {
	for len(b) > 0 {
		n := min(len(b), int(mem.PageSize-va%mem.PageSize))
		pa, _, f := mem.Walk(c.phys, c.cr3, va, mem.Write, false, c.mode())
		if f != nil {
			return f
		}
		if !c.phys.Contains(pa) {
			return &mem.Fault{VA: va, Code: mem.CodeW}
		}
		if c.phys.Code(pa / mem.PageSize) {
			c.env.CodeWrite(nil, pa, n)
			c.phys.WriteAt(pa, b[:n])
			c.cache.invalidate(pa, uint64(n))
		} else {
			c.phys.WriteAt(pa, b[:n])
		}
		c.tl.Sync(c.phys)
		b, va = b[n:], va+uint64(n)
	}
	return nil
}

// U64 and PutU64 are Read and Write of a number.
func (c *CPU) U64(va uint64) (uint64, error) {
	if e := &c.tlb[0].R[mem.Index(va)]; va-e.VA <= mem.PageSize-8 && c.cpl != 3 {
		c.tlb[0].Sync(c.phys)
		if d := va - e.VA; d <= mem.PageSize-8 {
			return binary.LittleEndian.Uint64((*mem.Frame)(e.P)[d:]), nil
		}
	}
	var b [8]byte
	err := c.Read(va, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

func (c *CPU) PutU64(va, v uint64) error {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return c.Write(va, b[:])
}

// Str reads a string up to its NUL, or max bytes.
func (c *CPU) Str(va uint64, max int) (string, error) {
	var s []byte
	for len(s) < max {
		n := min(max-len(s), int(mem.PageSize-va%mem.PageSize), 256)
		buf := make([]byte, n)
		if err := c.Read(va, buf); err != nil {
			return string(s), err
		}
		for i, ch := range buf {
			if ch == 0 {
				return string(append(s, buf[:i]...)), nil
			}
		}
		s, va = append(s, buf...), va+uint64(n)
	}
	return string(s), nil
}
