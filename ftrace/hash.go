package ftrace

// Hash is a set of call sites: Linux's ftrace_hash. An empty filter means every function, an empty notrace none.
type Hash struct {
	ips     map[uint64]struct{}
	pending bool // functions of modules that are not loaded are asked for: FTRACE_HASH_FL_MOD
}

// NewHash makes a set of the given sites.
func NewHash(ips ...uint64) *Hash {
	h := &Hash{ips: make(map[uint64]struct{}, len(ips))}
	for _, ip := range ips {
		h.ips[ip] = struct{}{}
	}
	return h
}

// Len is the number of sites; 0 for a nil Hash.
func (h *Hash) Len() int {
	if h == nil {
		return 0
	}
	return len(h.ips)
}

// Empty says whether the set selects nothing: an empty filter then means every function.
func (h *Hash) Empty() bool { return h.Len() == 0 && (h == nil || !h.pending) }

// Has says whether ip is in the set.
func (h *Hash) Has(ip uint64) bool {
	if h == nil {
		return false
	}
	_, ok := h.ips[ip]
	return ok
}

// Add and Remove change the set.
func (h *Hash) Add(ip uint64)    { h.ips[ip] = struct{}{} }
func (h *Hash) Remove(ip uint64) { delete(h.ips, ip) }

// within says whether all of the set is in another.
func (h *Hash) within(other *Hash) bool {
	for ip := range h.ips {
		if !other.Has(ip) {
			return false
		}
	}
	return true
}

// Clone copies the set; nil stays nil.
func (h *Hash) Clone() *Hash {
	if h == nil {
		return nil
	}
	return &Hash{ips: cloneMap(h.ips), pending: h.pending}
}
