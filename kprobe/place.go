package kprobe

import (
	"fmt"
	"slices"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// area is a range of text that is not probed.
type area struct {
	lo, hi uint64
	why    string
}

// blacklist lists what the guest keeps free of probes: see kprobe_blacklist in kernel/kprobes.c and arch_populate_kprobe_blacklist.
func blacklist(m *kernel.Machine) []area {
	syms := m.Symbols()
	var out []area
	if lo, ok := syms.Lookup("__start_kprobe_blacklist"); ok {
		hi, _ := syms.Lookup("__stop_kprobe_blacklist")
		for ; lo+8 <= hi; lo += 8 { // NOKPROBE_SYMBOL
			if fn, err := m.U64(lo); err == nil {
				s, _ := syms.At(fn)
				out = append(out, area{fn, fn + s.Size, "a function marked NOKPROBE_SYMBOL"})
			}
		}
	}
	add := func(from, to, why string) {
		lo, ok1 := syms.Lookup(from)
		hi, ok2 := syms.Lookup(to)
		if ok1 && ok2 && lo < hi {
			out = append(out, area{lo, hi, why})
		}
	}
	add("__kprobes_text_start", "__kprobes_text_end", "code of kprobes")
	add("__noinstr_text_start", "__noinstr_text_end", "noinstr code")
	add("__entry_text_start", "__entry_text_end", "entry code")
	return out
}

// initText is what is gone behind boot.
func initText(syms *kernel.Symbols) area {
	lo, _ := syms.Lookup("_sinittext")
	hi, _ := syms.Lookup("_einittext")
	return area{lo, hi, "init code"}
}

// Blocked lists the blacklist as debugfs's kprobes/blacklist does: a line for each function, in Linux's order: those marked
// NOKPROBE_SYMBOL, then the sections. Some are in both.
func (k *Kprobes) Blocked() string {
	var b []byte
	for _, a := range k.black {
		for at := a.lo; at < a.hi; {
			s, off := k.m.Symbols().At(at)
			if s.Name == "" || s.Size == 0 {
				at++
				continue
			}
			if off == 0 {
				b = fmt.Appendf(b, "0x%016x-0x%016x\t%s\n", s.Addr, s.Addr+s.Size, s.Name)
			}
			at = s.Addr + s.Size
		}
	}
	return string(b)
}

// blocked says why an address is not probed; "" when it may be.
func (k *Kprobes) blocked(addr uint64) string {
	for _, a := range k.black {
		if a.lo <= addr && addr < a.hi {
			return a.why
		}
	}
	switch s, _ := k.m.Symbols().At(addr); {
	case s.Section == ".shadow":
		return "a trampoline"
	case s.Section == ".gates" || k.m.VCPU(0).Gate(addr):
		return "a gate"
	case addr-k.init.lo < k.init.hi-k.init.lo:
		return k.init.why
	case s.Name == "ftrace_caller" || s.Name == "ftrace_regs_caller" || s.Name == "ftrace_stub" || s.Name == "__fentry__":
		return "ftrace's own"
	}
	return ""
}

// PlaceError says why an address cannot be probed. Err is what Linux answers.
type PlaceError struct {
	Addr uint64
	Why  string
	Err  kernel.Errno
}

func (e *PlaceError) Error() string {
	return fmt.Sprintf("cannot probe %#x: %s: %v", e.Addr, e.Why, e.Err)
}
func (e *PlaceError) Unwrap() error { return e.Err }

// check is check_kprobe_address_safe and can_probe.
func (k *Kprobes) check(addr uint64) error {
	s, off := k.m.Symbols().At(addr)
	switch {
	case s.Name == "":
		return &PlaceError{addr, "it is in no function", kernel.ENOENT}
	case !s.Text():
		return &PlaceError{addr, "it is data, not code", kernel.EINVAL}
	}
	if why := k.blocked(addr); why != "" {
		return &PlaceError{addr, why + " is not probed", kernel.EINVAL}
	}
	if k.inSite(addr) {
		return &PlaceError{addr, "it is within a function's call of __fentry__", kernel.EILSEQ}
	}
	if k.inJumpLabel(addr) {
		return &PlaceError{addr, "it is a jump label", kernel.EINVAL}
	}
	if _, ok := slices.BinarySearch(k.Boundaries(s), uint16(off)); !ok || off > 0xffff {
		return &PlaceError{addr, "it is not an instruction boundary", kernel.EILSEQ}
	}
	return nil
}

// Boundary says why an offset of a function is none of its instructions' ("": it is one).
func (k *Kprobes) Boundary(s kernel.Sym, off uint64) string {
	if _, ok := slices.BinarySearch(k.Boundaries(s), uint16(off)); !ok || off > 0xffff {
		return "it is not an instruction boundary"
	}
	return ""
}

// inSite says whether addr is behind the first byte of a call site.
func (k *Kprobes) inSite(addr uint64) bool {
	for i := uint64(1); i < 5; i++ {
		if _, ok := k.t.Sites().At(addr - i); ok {
			return true
		}
	}
	return false
}

// inJumpLabel says whether addr is within an instruction that static keys patch: struct jump_entry holds the distance from
// itself to the code in its first word (include/linux/jump_label.h).
func (k *Kprobes) inJumpLabel(addr uint64) bool {
	labels := k.shared().labels
	for i := range uint64(5) {
		if labels[addr-i] {
			return true
		}
	}
	return false
}

// Boundaries are the offsets at which a function's instructions begin, as decoded from its first byte on.
func (k *Kprobes) Boundaries(s kernel.Sym) []uint16 {
	if b, ok := k.bounds[s.Addr]; ok {
		return b
	}
	text := make([]byte, min(s.Size, 0xffff))
	if k.original(s.Addr, text) != nil {
		return nil
	}
	var out []uint16
	for off := 0; off < len(text); {
		_, n, err := x86.Disasm(text[off:min(off+15, len(text))], s.Addr+uint64(off), nil)
		if err != nil {
			break
		}
		out = append(out, uint16(off))
		off += n
	}
	k.bounds[s.Addr] = out
	return out
}

// original reads text as it is without int3s; see recover_probed_instruction.
func (k *Kprobes) original(addr uint64, b []byte) error {
	n := len(b)
	for k.m.Read(addr, b[:n]) != nil { // the end of the text may be near
		if n--; n == 0 {
			return kernel.EFAULT
		}
	}
	clear(b[n:])
	for at := addr - jumpSize + 1; at != addr+uint64(n); at++ {
		s := k.sites[at]
		if s == nil || s.ftrace {
			continue
		}
		for i := range uint64(max(len(s.orig), 1)) {
			if off := at + i - addr; off < uint64(n) {
				if i == 0 {
					b[off] = s.insn.bytes[0]
				} else {
					b[off] = s.orig[i]
				}
			}
		}
	}
	return nil
}
