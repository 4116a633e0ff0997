package ftrace

import (
	"fmt"
	"strings"

	"kscope/kernel"
)

// filterState is an open set_ftrace_filter or set_ftrace_notrace: a private copy of the hash that becomes the op's at
// close (ftrace_regex_open, ftrace_regex_release).
type filterState struct {
	hash  *Hash
	words words
}

func (s *filterState) fork(*Tracer) any {
	return &filterState{hash: s.hash.Clone(), words: words{buf: append([]byte(nil), s.words.buf...)}}
}

// filterOf is the hash that a file stands for.
func filterOf(h *Handle) **Hash {
	if h.File.Path == "set_ftrace_notrace" {
		return &h.T.ops.Notrace
	}
	return &h.T.ops.Filter
}

func openFilter(h *Handle) error {
	if !h.Writable() {
		return nil
	}
	s := &filterState{hash: (*filterOf(h)).Clone()}
	if s.hash == nil || h.Flags&oTrunc != 0 {
		s.hash = NewHash()
	}
	h.state = s
	return nil
}

func writeFilter(h *Handle, p []byte) (int, error) {
	s := h.state.(*filterState)
	err := s.words.write(p, func(word string) error {
		name, _, command := strings.Cut(word, ":")
		if command || !h.T.sites.enter(s.hash, name) {
			return kernel.EINVAL
		}
		return nil
	})
	return len(p), err
}

// closeFilter takes the last word, whose errors are lost, and makes the new hash the op's.
func closeFilter(h *Handle) error {
	s, ok := h.state.(*filterState)
	if !ok {
		return nil
	}
	if word := s.words.rest(); word != "" && !strings.Contains(word, ":") {
		h.T.sites.enter(s.hash, word)
	}
	*filterOf(h) = s.hash
	return h.T.shareFilter(h.File.Path)
}

// shareFilter gives function_graph the function tracer's hashes (global_ops has them for both) and patches.
func (t *Tracer) shareFilter(by string) error {
	t.graph.ops.Filter, t.graph.ops.Notrace = t.ops.Filter, t.ops.Notrace
	if !t.ops.Registered() && !t.graph.ops.Registered() {
		return nil
	}
	return t.sites.Update(by)
}

// filterText lists the functions in the order of their addresses, whatever the order in which they were written.
func filterText(h *Handle, b []byte) ([]byte, error) {
	hash := *filterOf(h)
	if hash.Len() == 0 {
		if h.File.Path == "set_ftrace_notrace" {
			return append(b, "#### no functions disabled ####\n"...), nil
		}
		return append(b, "#### all functions enabled ####\n"...), nil
	}
	recs := h.T.sites.recs
	for i := range recs {
		if hash.Has(recs[i].IP) {
			b = append(append(b, recs[i].symbol()...), '\n')
		}
	}
	return b, nil
}

func availableFunctions(h *Handle, b []byte) ([]byte, error) {
	recs := h.T.sites.recs
	for i := range recs {
		b = append(append(b, recs[i].symbol()...), '\n')
	}
	return b, nil
}

func enabledFunctions(h *Handle, b []byte) ([]byte, error) { return h.T.sites.enabledText(b), nil }

func totalInfo(h *Handle, b []byte) ([]byte, error) {
	s := h.T.sites
	return fmt.Appendf(b, "%d pages:%d groups: %d\n", len(s.recs), s.pages, s.group), nil
}
