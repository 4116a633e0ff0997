package kernel

import (
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
)

// disk is the medium of /dev/vda: blocks of 4 KiB, shared copy-on-write among forks; a nil block is all zeros. A new
// machine's disk holds an empty ext4 file system.
type disk struct {
	blocks []*diskBlock
	owned  []bool // blocks that no fork has
	shared bool   // both slices are a fork's too: to be copied before a change
}

type diskBlock [diskBlockSize]byte

const (
	diskBlockSize = 4096
	sectorSize    = 512
	defaultDisk   = 16 << 20
)

func newDisk(size uint64) *disk {
	d := &disk{blocks: make([]*diskBlock, size/diskBlockSize), owned: make([]bool, size/diskBlockSize)}
	d.format()
	return d
}

func (d *disk) size() uint64 { return uint64(len(d.blocks)) * diskBlockSize }

func (d *disk) fork() *disk {
	d.shared = true
	return &disk{blocks: d.blocks, shared: true}
}

// own makes block n writable.
func (d *disk) own(n int) *diskBlock {
	if d.shared {
		d.blocks, d.owned, d.shared = slices.Clone(d.blocks), make([]bool, len(d.blocks)), false
	}
	switch old := d.blocks[n]; {
	case old == nil:
		d.blocks[n] = new(diskBlock)
	case !d.owned[n]:
		b := *old
		d.blocks[n] = &b
	}
	d.owned[n] = true
	return d.blocks[n]
}

// readAt and writeAt move bytes; the range is within the disk.
func (d *disk) readAt(off uint64, b []byte) {
	for len(b) > 0 {
		from := off % diskBlockSize
		n := min(len(b), int(diskBlockSize-from))
		if blk := d.blocks[off/diskBlockSize]; blk != nil {
			copy(b[:n], blk[from:])
		} else {
			clear(b[:n])
		}
		off, b = off+uint64(n), b[n:]
	}
}

func (d *disk) writeAt(off uint64, b []byte) {
	for len(b) > 0 {
		n := copy(d.own(int(off / diskBlockSize))[off%diskBlockSize:], b)
		off, b = off+uint64(n), b[n:]
	}
}

func (d *disk) hash(h hash.Hash) {
	for i, b := range d.blocks {
		if b != nil && *b != (diskBlock{}) {
			put(h, uint64(i))
			h.Write(b[:])
		}
	}
}

// DiskImage is a copy of the contents of /dev/vda.
func (m *Machine) DiskImage() []byte {
	b := make([]byte, m.virtio.disk.size())
	m.virtio.disk.readAt(0, b)
	return b
}

// SetDiskImage replaces the contents from the start on, as if another disk of the same size were put in. Nothing of it may
// be in the guest's caches: do it before a mount.
func (m *Machine) SetDiskImage(b []byte) error {
	if uint64(len(b)) > m.virtio.disk.size() {
		return fmt.Errorf("kernel: image of %d bytes for a disk of %d: %w", len(b), m.virtio.disk.size(), ENOSPC)
	}
	m.virtio.disk.writeAt(0, b)
	return nil
}

// The layout of the file system that format makes, in blocks: super block, group descriptors, two bitmaps, inodes, the root
// directory, lost+found. See guest/fs/ext4/ext4.h; the numbers are mke2fs's for such a disk, but for the journal.
const (
	extInodes    = 1024
	extInodeSize = 256
	extTable     = 4
	extRoot      = extTable + extInodes*extInodeSize/diskBlockSize
	extLost      = extRoot + 1
	extUsed      = extLost + 4
	extFirstIno  = 11 // lost+found's
)

// format makes an empty ext4 of one block group: no journal, 4 KiB blocks, extents.
func (d *disk) format() {
	n := len(d.blocks)
	le := binary.LittleEndian
	sb := d.own(0)[1024:]
	for off, x := range map[int]int{0: extInodes, 4: n, 8: n / 20, 12: n - extUsed, 16: extInodes - extFirstIno, 24: 2, 28: 2, 32: 32768, 36: 32768,
		40: extInodes, 48: bootTime, 64: bootTime, 76: 1, 84: extFirstIno, 96: 0x42, 100: 0x63, 264: bootTime} {
		le.PutUint32(sb[off:], uint32(x))
	}
	for off, x := range map[int]int{54: 0xffff, 56: 0xef53, 58: 1, 60: 1, 88: extInodeSize, 348: 32, 350: 32} {
		le.PutUint16(sb[off:], uint16(x))
	}
	copy(sb[104:], "kscope disk vda\x01") // the UUID
	copy(sb[120:], "kscope")
	gd := d.own(1)
	for i, x := range []uint32{2, 3, extTable} {
		le.PutUint32(gd[4*i:], x)
	}
	for i, x := range []int{n - extUsed, extInodes - extFirstIno, 2} {
		le.PutUint16(gd[12+2*i:], uint16(x))
	}
	bitmap := func(b *diskBlock, used, size int) {
		for i := range 8 * diskBlockSize {
			if i < used || i >= size {
				b[i/8] |= 1 << (i % 8)
			}
		}
	}
	bitmap(d.own(2), extUsed, n)
	bitmap(d.own(3), extFirstIno, extInodes)
	d.formatDir(2, 0o40755, 3, extRoot, 1, 2)
	d.formatDir(extFirstIno, 0o40700, 2, extLost, 4, 2)
	root := d.own(extRoot)
	le.PutUint16(root[16:], 12)
	dirEntry(root[24:], extFirstIno, diskBlockSize-24, "lost+found")
}

// formatDir writes a directory's inode and its blocks.
func (d *disk) formatDir(ino int, mode, links uint16, block, count, parent int) {
	le := binary.LittleEndian
	at := (ino - 1) * extInodeSize
	in := d.own(extTable + at/diskBlockSize)[at%diskBlockSize:]
	le.PutUint16(in, mode)
	le.PutUint32(in[4:], uint32(count*diskBlockSize))
	for _, off := range []int{8, 12, 16, 144} {
		le.PutUint32(in[off:], bootTime)
	}
	le.PutUint16(in[26:], links)
	le.PutUint32(in[28:], uint32(count*diskBlockSize/sectorSize))
	le.PutUint32(in[32:], 0x80000)
	for i, x := range []uint16{0xf30a, 1, 4, 0} { // the extent header
		le.PutUint16(in[40+2*i:], x)
	}
	le.PutUint16(in[56:], uint16(count))
	le.PutUint32(in[60:], uint32(block))
	le.PutUint16(in[128:], 32)
	b := d.own(block)
	dirEntry(b[:], ino, 12, ".")
	dirEntry(b[12:], parent, diskBlockSize-12, "..")
	for i := 1; i < count; i++ {
		le.PutUint16(d.own(block + i)[4:], diskBlockSize)
	}
}

func dirEntry(b []byte, ino, length int, name string) {
	binary.LittleEndian.PutUint32(b, uint32(ino))
	binary.LittleEndian.PutUint16(b[4:], uint16(length))
	b[6], b[7] = byte(len(name)), 2
	copy(b[8:], name)
}
