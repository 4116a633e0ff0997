package ftrace

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"kscope/kernel"
)

func graphHash(h *Handle) **Hash {
	if h.File.Path == "set_graph_notrace" {
		return &h.T.graph.notrace
	}
	return &h.T.graph.function
}

// openGraph is ftrace_graph_open: a writer works on a copy, which counts at close.
func openGraph(h *Handle) error {
	if !h.Writable() {
		return nil
	}
	s := &filterState{hash: (*graphHash(h)).Clone()}
	if s.hash == nil || h.Flags&oTrunc != 0 {
		s.hash = NewHash()
	}
	h.state = s
	return nil
}

func writeGraph(h *Handle, p []byte) (int, error) {
	s := h.state.(*filterState)
	return len(p), s.words.write(p, func(word string) error { return h.T.sites.enterGraph(s.hash, word) })
}

func closeGraph(h *Handle) error {
	s, ok := h.state.(*filterState)
	if !ok {
		return nil
	}
	var err error
	if word := s.words.rest(); word != "" {
		err = h.T.sites.enterGraph(s.hash, word)
	}
	*graphHash(h) = s.hash
	return err
}

// enterGraph is ftrace_graph_set_hash: no index numbers; a "!name" that takes nothing out is an error.
func (s *Sites) enterGraph(h *Hash, text string) error {
	p, found := parsePattern(text), false
	for i := range s.recs {
		r := &s.recs[i]
		if !p.match(r.Name) {
			continue
		}
		if !p.not {
			h.Add(r.IP)
			found = true
		} else if h.Has(r.IP) {
			h.Remove(r.IP)
			found = true
		}
	}
	if !found {
		return kernel.EINVAL
	}
	return nil
}

// graphText lists the functions in the order of Linux's hash: its buckets are the high bits of hash_64(), as many as half
// the number of functions needs, and each takes its entries from the 1024 buckets of the hash that was written to, the last
// in front (dup_hash in kernel/trace/ftrace.c).
func graphText(h *Handle, b []byte) ([]byte, error) {
	hash := *graphHash(h)
	if hash.Len() == 0 {
		if h.File.Path == "set_graph_notrace" {
			return append(b, "#### no functions disabled ####\n"...), nil
		}
		return append(b, "#### all functions enabled ####\n"...), nil
	}
	const golden, maxBits = 0x61C8864680B583EB, 12
	n := min(bits.Len(uint(hash.Len()/2)), maxBits)
	var list []*Record
	recs := h.T.sites.recs
	for i := range recs {
		if hash.Has(recs[i].IP) {
			list = append(list, &recs[i])
		}
	}
	slices.SortFunc(list, func(x, y *Record) int {
		hx, hy := x.IP*golden, y.IP*golden
		if c := cmp.Compare(hx>>(64-n), hy>>(64-n)); c != 0 {
			return c
		}
		if c := cmp.Compare(hy>>54, hx>>54); c != 0 {
			return c
		}
		return cmp.Compare(x.IP, y.IP)
	})
	for _, r := range list {
		b = append(append(b, r.symbol()...), '\n')
	}
	return b, nil
}

func graphDepthText(h *Handle, b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%d\n", int32(h.T.graph.maxDepth)), nil
}

func writeGraphDepth(h *Handle, p []byte) (int, error) {
	n, err := parseUint(p, 10)
	if err == nil {
		h.T.graph.maxDepth = uint32(n)
	}
	return len(p), err
}

func threshText(h *Handle, b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%d\n", h.T.graph.thresh/1000), nil
}

// writeThresh is tracing_thresh_write: microseconds; the tracer starts again with it (graph_trace_update_thresh).
func writeThresh(h *Handle, p []byte) (int, error) {
	n, err := parseUint(p, 10)
	if err == nil {
		g := h.T.graph
		g.thresh, g.threshOps = n*1000, n != 0
	}
	return len(p), err
}
