package ftrace

import (
	"kscope/ftrace/ring"
	"kscope/kernel"
)

// The snapshot: a second ring for each CPU (Linux's max_buffer), which changes places with the first at the moment of a
// snapshot. What was in it before becomes the content of the first, as on Linux.

// ringOf is a CPU's ring, or its snapshot's, nil when there is none.
func (t *Tracer) ringOf(cpu int, snap bool) *ring.Buffer {
	if snap {
		return t.cpu[cpu].snap
	}
	return t.cpu[cpu].ring
}

// allocSnapshot makes the snapshot's rings as large as the first, when it has its full size.
func (t *Tracer) allocSnapshot() error {
	if err := t.expand(); err != nil {
		return err
	}
	return t.snapshotRings()
}

// snapshotRings makes the snapshot's rings as large as the first: tracing_alloc_snapshot_instance.
func (t *Tracer) snapshotRings() error {
	total := uint64(0)
	for i := range t.cpu {
		total += 2 * ring.KB(t.cpu[i].ring.Len())
	}
	if total > maxTotalKB {
		return kernel.ENOMEM
	}
	for i := range t.cpu {
		p := &t.cpu[i]
		if p.readers[1] > 0 && (p.snap == nil || p.snap.Len() != p.ring.Len()) {
			return kernel.EBUSY
		}
		switch {
		case p.snap == nil:
			p.snap = ring.New(p.ring.Len())
			p.snap.SetOverwrite(t.opt(optOverwrite))
		case p.snap.Len() != p.ring.Len():
			p.snap.Resize(p.ring.Len())
		}
	}
	return nil
}

func (t *Tracer) freeSnapshot() {
	for i := range t.cpu {
		t.cpu[i].snap = nil
	}
}

// takeSnapshot is update_max_tr: nothing when there are no rings for it, or a reader has stopped tracing (stop_count, not
// tracing_on).
func (t *Tracer) takeSnapshot(*kernel.VCPU) {
	if t.stops > 0 || t.cpu[0].snap == nil {
		return
	}
	for i := range t.cpu {
		p := &t.cpu[i]
		p.ring, p.snap = p.snap, p.ring
		p.readers[0], p.readers[1] = p.readers[1], p.readers[0]
	}
	t.swaps++
	if t.lost != nil {
		t.OnLost(t.lost)
	}
}

// writeSnapshot is tracing_snapshot_write: 0 frees, 1 takes, anything else clears. Without CONFIG_RING_BUFFER_ALLOW_SWAP,
// as in Debian's kernel, one CPU's file can only clear.
func writeSnapshot(h *Handle, p []byte) (int, error) {
	t := h.T
	if err := t.expand(); err != nil {
		return 0, err
	}
	n, err := parseUint(p, 10)
	switch {
	case err != nil:
		return 0, err
	case t.cond != nil: // a histogram's action takes the snapshots
		return 0, kernel.EBUSY
	case n < 2 && h.CPU >= 0:
		return 0, kernel.EINVAL
	case n == 0:
		t.freeSnapshot()
	case n == 1:
		if err := t.allocSnapshot(); err != nil {
			return 0, err
		}
		t.takeSnapshot(h.VCPU)
	default:
		for i := range t.cpu {
			if r := t.cpu[i].snap; r != nil && (h.CPU < 0 || h.CPU == i) {
				r.Reset()
			}
		}
	}
	return len(p), nil
}

func openSnapshot(h *Handle) error {
	if h.Readable() {
		r := h.T.newTraceReader(h.CPU)
		r.snap = true
		h.T.hold(r, 1)
		h.state = r
	}
	return nil
}

// hold counts a reader in (by 1) or out (by -1) of the rings that it reads, wherever snapshots have taken them.
func (t *Tracer) hold(r *traceReader, by int) {
	if by > 0 {
		r.swaps = t.swaps
	}
	side := (uint64(b2i(r.snap)) + t.swaps - r.swaps) & 1
	for i := range t.cpu {
		if r.cpu < 0 || r.cpu == i {
			t.cpu[i].readers[side] += by
		}
	}
}

const snapshotHelp = `# Snapshot commands:
# echo 0 > snapshot : Clears and frees snapshot buffer
# echo 1 > snapshot : Allocates snapshot buffer, if not already allocated.
#                      Takes a snapshot of the main buffer.
# echo 2 > snapshot : Clears snapshot buffer (but does not allocate or free)
#                      (Doesn't have to be '2' works with any number that
#                       is not a '0' or '1')
`

const snapshotCPUHelp = `# Snapshot commands:
# echo 0 > snapshot : Invalid for this file.
# echo 1 > snapshot : Not supported with this kernel.
#                     Must use main snapshot file to allocate.
# echo 2 > snapshot : Clears this cpu's snapshot buffer (but does not allocate)
#                      (Doesn't have to be '2' works with any number that
#                       is not a '0' or '1')
`

// snapshotHeader is what stands in an empty snapshot: print_snapshot_help.
func (p *printer) snapshotHeader(cpu int) {
	state := "freed"
	if p.t.cpu[0].snap != nil {
		state = "allocated"
	}
	p.Buf = append(append(append(p.Buf, "#\n# * Snapshot is "...), state...), " *\n#\n"...)
	if cpu < 0 {
		p.Buf = append(p.Buf, snapshotHelp...)
	} else {
		p.Buf = append(p.Buf, snapshotCPUHelp...)
	}
}

func openSnapshotRaw(h *Handle) error {
	h.state = &rawReader{read: ring.PageSize, snap: true}
	h.T.pipes++
	return nil
}
