package ftrace

import (
	"fmt"
	"slices"
	"strings"

	"kscope/kernel"
)

// filterState is an open set_ftrace_filter or set_ftrace_notrace: a private copy of the hash that becomes the op's at
// close (ftrace_regex_open, ftrace_regex_release).
type filterState struct {
	hash  *Hash
	mods  []pendingMod
	words words
}

func (s *filterState) fork(*Tracer) any {
	return &filterState{hash: s.hash.Clone(), mods: slices.Clone(s.mods), words: words{buf: append([]byte(nil), s.words.buf...)}}
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
	s := &filterState{hash: (*filterOf(h)).Clone(), mods: slices.Clone(h.T.mods[modsOf(h)])}
	if s.hash == nil || h.Flags&oTrunc != 0 {
		s.hash, s.mods = NewHash(), nil
		h.T.mods[modsOf(h)] = nil
	}
	h.state = s
	return nil
}

// modsOf is the index of a file's pending modules.
func modsOf(h *Handle) int { return b2i(h.File.Path == "set_ftrace_notrace") }

func writeFilter(h *Handle, p []byte) (int, error) {
	s := h.state.(*filterState)
	return len(p), s.words.write(p, func(word string) error { return h.filterWord(s, word) })
}

// filterWord is ftrace_process_regex.
func (h *Handle) filterWord(s *filterState, word string) error {
	if strings.Contains(word, ":") {
		err := h.T.command(s, word, h.File.Path == "set_ftrace_filter")
		h.T.mods[modsOf(h)] = s.mods // unlike the functions these count at once
		return err
	}
	if !h.T.sites.enter(s.hash, word) {
		return kernel.EINVAL
	}
	return nil
}

// closeFilter takes the last word, whose errors are lost, and makes the new hash the op's.
func closeFilter(h *Handle) error {
	s, ok := h.state.(*filterState)
	if !ok {
		return nil
	}
	if word := s.words.rest(); word != "" {
		_ = h.filterWord(s, word)
	}
	s.hash.pending = len(s.mods) > 0
	*filterOf(h) = s.hash
	return h.T.shareFilter(h.File.Path)
}

// shareFilter gives function_graph and the profiler the function tracer's hashes (global_ops has them for both) and patches.
func (t *Tracer) shareFilter(by string) error {
	used := t.ops.Registered()
	for _, u := range t.graphers() {
		u.ops.Filter, u.ops.Notrace = t.ops.Filter, t.ops.Notrace
		used = used || u.ops.Registered()
	}
	if !used {
		return nil
	}
	return t.sites.Update(by)
}

// graphers are the users of the shadow stacks that share this tracer's filters.
func (t *Tracer) graphers() []*graphUser {
	if t.top != nil {
		return []*graphUser{t.grapher}
	}
	return []*graphUser{t.grapher, t.prof.user}
}

// filterText lists the functions in the order of their addresses, whatever the order in which they were written.
func filterText(h *Handle, b []byte) ([]byte, error) {
	hash := *filterOf(h)
	filter := h.File.Path == "set_ftrace_filter"
	switch {
	case filter && hash.Empty():
		b = append(b, "#### all functions enabled ####\n"...)
	case !filter && hash.Len() == 0: // pending modules or not
		b = append(b, "#### no functions disabled ####\n"...)
	}
	b = h.T.sites.namesText(b, hash)
	for _, m := range h.T.mods[modsOf(h)] {
		b = append(append(append(append(b, m.fn...), ":mod:"...), m.module...), '\n')
	}
	if filter {
		b = h.T.commandsText(b)
	}
	return b, nil
}

// namesText lists the functions of a hash, a line each.
func (s *Sites) namesText(b []byte, hash *Hash) []byte {
	for i := range s.recs {
		if hash.Has(s.recs[i].IP) {
			b = append(append(b, s.recs[i].symbol()...), '\n')
		}
	}
	return b
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
