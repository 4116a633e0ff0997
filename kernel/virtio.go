package kernel

import (
	"cmp"
	"encoding/binary"
	"hash"
	"slices"

	"kscope/kernel/mem"
)

// virtio is the disk's controller: a virtio-blk device with a split ring for each CPU (virtio 1.0, sections 2.6 and 5.2; the
// guest's side is guest/drivers/virtio/virtio_ring.c). Its registers are gates. A request takes a seeded time; then its
// queue's CPU is interrupted, and when that CPU takes the interrupt the data moves and the chain appears in the used ring.
type virtio struct {
	disk   *disk
	queues []virtQueue // by index: that of a CPU
}

type virtQueue struct {
	desc, avail, used uint64 // physical
	lastAvail         uint16
	inflight          []diskRequest // by due time
}

// diskRequest is a chain that the device has taken.
type diskRequest struct {
	due  uint64
	head uint16
}

const (
	virtioVector = 0x22 // arch/idt.c: VIRTIO_VECTOR
	vringSize    = 128

	descNext  = 1
	descWrite = 2

	blkIn    = 0
	blkOut   = 1
	blkFlush = 4

	blkOK, blkIOErr = 0, 1
)

// A request's time: what the device needs at least, a seeded part, and the transfer at 2 GB/s. The order of an NVMe disk
// behind virtio.
const (
	diskLatency = 12_000
	diskJitter  = 8_192
)

func (d *virtio) fork() *virtio {
	n := &virtio{disk: d.disk.fork(), queues: slices.Clone(d.queues)}
	for i := range n.queues {
		n.queues[i].inflight = slices.Clone(n.queues[i].inflight)
	}
	return n
}

func (d *virtio) hash(h hash.Hash) {
	d.disk.hash(h)
	for i := range d.queues {
		q := &d.queues[i]
		put(h, q.desc, q.avail, q.used, uint64(q.lastAvail))
		for _, r := range q.inflight {
			put(h, r.due, uint64(r.head))
		}
	}
}

// gateVirtioConfig: u64 vp_config(u64 which).
func (m *Machine) gateVirtioConfig(v *VCPU) uint64 {
	if v.Arg(0) == 0 {
		return m.virtio.disk.size() / sectorSize
	}
	return 0
}

// gateVirtioSetup: void vp_setup_vq(u64 index, u64 desc, u64 avail, u64 used).
func (m *Machine) gateVirtioSetup(v *VCPU) uint64 {
	ok := m.dma(v.Arg(1), vringSize*16) && m.dma(v.Arg(2), mem.PageSize) && m.dma(v.Arg(3), mem.PageSize)
	if i := v.Arg(0); ok && i < uint64(len(m.virtio.queues)) {
		m.virtio.queues[i] = virtQueue{desc: v.Arg(1), avail: v.Arg(2), used: v.Arg(3)}
	}
	return 0
}

// gateDoorbell: void vp_doorbell(u64 index). The device takes the chains that are new in the available ring.
func (m *Machine) gateDoorbell(v *VCPU) uint64 {
	i := v.Arg(0)
	if i >= uint64(len(m.virtio.queues)) || m.virtio.queues[i].desc == 0 {
		return 0
	}
	q := &m.virtio.queues[i]
	for n := 0; q.lastAvail != m.phys16(q.avail+2) && n < vringSize; n++ {
		r := diskRequest{head: m.phys16(q.avail+4+uint64(q.lastAvail%vringSize)*2) % vringSize}
		q.lastAvail++
		bytes := uint64(0)
		for _, d := range m.chain(q, r.head) {
			bytes += uint64(d.len)
		}
		r.due = v.Now() + diskLatency + m.rng.next()%diskJitter + bytes/2
		at, _ := slices.BinarySearchFunc(q.inflight, r, func(a, b diskRequest) int { return cmp.Compare(a.due, b.due+1) })
		q.inflight = slices.Insert(q.inflight, at, r)
		m.Inject(int(i), virtioVector, r.due)
	}
	return 0
}

// dma says whether the device may touch n bytes of memory at pa: RAM that is the guest's.
func (m *Machine) dma(pa, n uint64) bool {
	end := m.phys.Size() - shadowSize
	return pa < end && n <= end-pa
}

func (m *Machine) phys16(pa uint64) uint16 {
	if !m.dma(pa, 2) {
		return 0
	}
	return m.phys.U16(pa)
}

// vringDesc is one descriptor.
type vringDesc struct {
	addr  uint64
	len   uint32
	flags uint16
}

// chain follows a chain of descriptors; a broken one ends.
func (m *Machine) chain(q *virtQueue, head uint16) (out []vringDesc) {
	var b [16]byte
	for range vringSize {
		if !m.dma(q.desc+uint64(head)*16, 16) {
			break
		}
		m.phys.ReadAt(q.desc+uint64(head)*16, b[:])
		d := vringDesc{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint16(b[12:])}
		if !m.dma(d.addr, uint64(d.len)) {
			break
		}
		out = append(out, d)
		if d.flags&descNext == 0 {
			break
		}
		head = binary.LittleEndian.Uint16(b[14:]) % vringSize
	}
	return out
}

// completeDisk does what is due of a CPU's queue: it has taken the interrupt.
func (m *Machine) completeDisk(v *VCPU) {
	q := &m.virtio.queues[v.ID]
	for len(q.inflight) > 0 && q.inflight[0].due <= v.Now() {
		r := q.inflight[0]
		q.inflight = slices.Delete(q.inflight, 0, 1)
		n := m.transfer(m.chain(q, r.head))
		idx := m.phys16(q.used + 2)
		var b [8]byte
		binary.LittleEndian.PutUint32(b[:], uint32(r.head))
		binary.LittleEndian.PutUint32(b[4:], n)
		m.writeCode(q.used+4+uint64(idx%vringSize)*8, b[:])
		m.writeCode(q.used+2, binary.LittleEndian.AppendUint16(nil, idx+1))
	}
}

// transfer carries a request out: header, data, status byte. It returns the number of bytes written to memory.
func (m *Machine) transfer(chain []vringDesc) (n uint32) {
	if len(chain) < 2 || chain[0].len < 16 {
		return 0
	}
	var head [16]byte
	m.phys.ReadAt(chain[0].addr, head[:])
	op, off := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint64(head[8:])*sectorSize
	status := byte(blkOK)
	for _, d := range chain[1 : len(chain)-1] {
		in := d.flags&descWrite != 0
		if op == blkFlush || off+uint64(d.len) > m.virtio.disk.size() || in != (op == blkIn) {
			status = blkIOErr
			break
		}
		b := make([]byte, d.len)
		if in {
			m.virtio.disk.readAt(off, b)
			m.writeCode(d.addr, b)
			n += d.len
		} else {
			m.phys.ReadAt(d.addr, b)
			m.virtio.disk.writeAt(off, b)
		}
		off += uint64(d.len)
	}
	if op != blkIn && op != blkOut && op != blkFlush {
		status = blkIOErr
	}
	m.writeCode(chain[len(chain)-1].addr, []byte{status})
	return n + 1
}
