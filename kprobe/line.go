package kprobe

import (
	"fmt"
	"strings"

	"kscope/kernel"
)

// Line is a parsed line of kprobe_events: p[:[GRP/][EVENT]] PLACE [ARGS] or r[MAXACTIVE]... .
type Line struct {
	Return    bool
	MaxActive int
	Group     string
	Name      string
	Symbol    string // "" when Addr is the place
	Offset    uint64
	Addr      uint64
	Args      []*Program
	src       source
}

const (
	maxName      = 64   // MAX_EVENT_NAME_LEN
	maxEvent     = 3072 // MAX_PROBE_EVENT_SIZE: all arguments in a record
	defaultGroup = "kprobes"
)

// parseLine is __trace_kprobe_create up to the registration.
func (k *Kprobes) parseLine(words []string) (*Line, *SyntaxError) {
	l := &Line{Group: defaultGroup, src: source{words}}
	head := words[0]
	switch {
	case head[0] == 'r':
		l.Return = true
	case head[0] != 'p':
		return nil, l.src.silent(kernel.EINVAL)
	}
	if len(words) < 2 {
		return nil, l.src.silent(kernel.EINVAL)
	}
	event, hasEvent := "", false
	if i := strings.IndexByte(head[1:], ':'); i >= 0 {
		event, hasEvent = head[i+2:], true
	}
	if err := l.maxActive(head); err != nil {
		return nil, err
	}
	flags, err := k.place(l)
	if err != nil {
		return nil, err
	}
	flags.byName = k.m.Feature(featureProbeArgs)
	if hasEvent {
		if err := l.eventName(event, len(head)-len(event)); err != nil {
			return nil, err
		}
	}
	if l.Name == "" {
		l.Name = l.defaultName()
	}
	if words, err = l.expand(words, k.m.Feature(featureProbeArgs), flags); err != nil {
		return nil, err
	}
	l.src.words = words
	for i := 2; i < len(words) && i < 2+maxArgs; i++ {
		p, err := parseArg(l.src, i, i-2, flags, l.Args)
		if err != nil {
			return nil, err
		}
		flags.used += p.size()
		l.Args = append(l.Args, p)
	}
	return l, nil
}

// maxActive reads the number behind r.
func (l *Line) maxActive(head string) *SyntaxError {
	if len(head) < 2 || !isDigit(head[1]) {
		return nil
	}
	if !l.Return {
		return l.src.fail(0, 1, msgBadMaxactType, kernel.EINVAL)
	}
	text, _, _ := strings.Cut(head[1:], ":")
	n, ok := parseUnsigned(text, 0)
	if !ok || len(text) >= maxName || n == 0 || n > 1<<32-1 {
		return l.src.fail(0, 1, msgBadMaxact, kernel.EINVAL)
	}
	if n > maxActive {
		return l.src.fail(0, 1, msgMaxactTooBig, kernel.EINVAL)
	}
	l.MaxActive = int(n)
	return nil
}

// place reads the second word: an address, or a symbol with an offset and perhaps %return.
func (k *Kprobes) place(l *Line) (argFlags, *SyntaxError) {
	text := l.src.words[1]
	if addr, ok := parseUnsigned(text, 0); ok {
		l.Addr = addr
		return argFlags{ret: false}, nil
	}
	if strings.Contains(text, "/") && strings.Contains(text, ":") {
		return argFlags{}, l.src.silent(kernel.EINVAL) // a uprobe
	}
	if i := strings.IndexByte(text, '%'); i >= 0 {
		if text[i:] != "%return" {
			return argFlags{}, l.src.fail(1, i, msgBadSuffix, kernel.EINVAL)
		}
		text, l.Return = text[:i], true
	}
	sym, off := text, int64(0)
	if i := strings.IndexAny(text, "+-"); i >= 0 {
		var ok bool
		if off, ok = parseSigned(text[i:]); !ok || off < 0 || off > 1<<32-1 {
			return argFlags{}, l.src.fail(1, 0, msgBadProbeAddr, kernel.EINVAL)
		}
		sym = text[:i]
	}
	l.Symbol, l.Offset = sym, uint64(off)
	flags := argFlags{ret: l.Return}
	rows := k.m.Symbols().ByName(sym)
	if !strings.Contains(sym, ":") {
		switch {
		case len(rows) == 0:
			return flags, l.src.fail(1, 0, msgBadProbeAddr, kernel.ENOENT)
		case rows[0].Addr != rows[len(rows)-1].Addr:
			return flags, l.src.fail(1, 0, msgNonUniq, kernel.EADDRNOTAVAIL)
		}
	}
	flags.fentry = len(rows) > 0 && k.onEntry(rows[0].Addr+l.Offset)
	if flags.fentry {
		flags.proto = k.protoOf(rows[0].Addr + l.Offset)
	}
	if len(rows) > 0 && !flags.fentry && l.Return {
		return flags, l.src.fail(1, 0, msgBadRetprobe, kernel.EINVAL)
	}
	return flags, nil
}

// onEntry is kprobe_on_func_entry.
func (k *Kprobes) onEntry(addr uint64) bool {
	_, off := k.m.Symbols().At(addr)
	return off == 0
}

// eventName is traceprobe_parse_event_name: [GROUP/][EVENT].
func (l *Line) eventName(text string, off int) *SyntaxError {
	i := strings.IndexByte(text, '/')
	if i < 0 {
		i = strings.IndexByte(text, '.')
	}
	fail := func(m message) *SyntaxError { return l.src.fail(0, off, m, kernel.EINVAL) }
	if i >= 0 {
		switch {
		case i == 0:
			return fail(msgNoGroup)
		case i+1 > maxName:
			return fail(msgGroupTooLong)
		case !isName(text[:i]):
			return fail(msgBadGroup)
		}
		l.Group, text = text[:i], text[i+1:]
		off += i + 1
		if text == "" {
			return nil
		}
	}
	switch {
	case text == "":
		return fail(msgNoEvent)
	case len(text) >= maxName:
		return fail(msgEventTooLong)
	case !isName(text):
		return fail(msgBadEvent)
	}
	l.Name = text
	return nil
}

// defaultName is what Linux makes of the place.
func (l *Line) defaultName() string {
	letter := "p"
	if l.Return {
		letter = "r"
	}
	name := fmt.Sprintf("%s_%s_%d", letter, l.Symbol, l.Offset)
	if l.Symbol == "" {
		name = letter + "_" + pointer(l.Addr)
	}
	name = name[:min(len(name), maxName-1)]
	return strings.NewReplacer(":", "_", ".", "_").Replace(name)
}

// pointer is 0x%p: Linux prints a hash of an address. This one is a fixed mix, as secret as a deterministic kernel can be.
func pointer(addr uint64) string {
	if addr >= ^uint64(4094) { // IS_ERR
		return fmt.Sprintf("0x%016x", addr)
	}
	x := addr * 0x9e3779b97f4a7c15
	x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
	return fmt.Sprintf("0x%016x", x>>32)
}

// where is the place as listings show it.
func (l *Line) where() string {
	switch {
	case l.Symbol == "":
		return pointer(l.Addr)
	case l.Offset != 0:
		return fmt.Sprintf("%s+%d", l.Symbol, l.Offset)
	}
	return l.Symbol
}

// argsText is " name=expr ..." as listings show it.
func (l *Line) argsText() string {
	var s strings.Builder
	for _, a := range l.Args {
		s.WriteString(" " + a.Name + "=" + a.Text)
	}
	return s.String()
}

// fields are the words of a line (argv_split).
func fields(line string) []string {
	return strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c >= 9 && c <= 13 })
}
