package ftrace

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"kscope/ftrace/event"
	"kscope/kernel"
)

// Synthetic events: events that actions of histograms make happen, with fields that the user defines; see
// kernel/trace/trace_events_synth.c.

const synthSystem = "synthetic"

// synthEvent is struct synth_event.
type synthEvent struct {
	ev     *TraceEvent
	fields []synthField
	words  int // of 8 bytes, without strings of any length
	ref    int // actions that make it happen, and its own histograms
	seq    uint64
}

// synthField is struct synth_field.
type synthField struct {
	typ, name string // typ as it is listed
	size      int
	signed    bool
	text      bool
	dynamic   bool
	at        int // offset in the record
}

// synthTypes are the types that synth_field_size knows, and the formats of synth_field_fmt.
var synthTypes = map[string]struct {
	size int
	verb string
}{
	"s64": {8, "%lld"}, "u64": {8, "%llu"}, "s32": {4, "%d"}, "u32": {4, "%u"}, "s16": {2, "%d"}, "u16": {2, "%u"}, "s8": {1, "%d"}, "u8": {1, "%u"},
	"char": {1, "%d"}, "unsigned char": {1, "%u"}, "int": {4, "%d"}, "unsigned int": {4, "%u"}, "long": {8, "%ld"}, "unsigned long": {8, "%lu"},
	"bool": {1, "%d"}, "pid_t": {4, "%d"}, "gfp_t": {4, "%x"},
}

// synth is find_synth_event; of the machine's tracer.
func (t *Tracer) synth(name string) *synthEvent {
	for _, s := range t.synths {
		if s.ev.Name == name {
			return s
		}
	}
	return nil
}

// takes is check_synth_field: whether a variable may be the field i.
func (s *synthEvent) takes(i int, v *histField) bool {
	if i >= len(s.fields) {
		return false
	}
	f := &s.fields[i]
	if strings.Contains(v.typ, "char[") && f.text && f.dynamic {
		return true
	}
	return f.fullType() == v.typ || f.size == v.size && (f.text || f.signed == v.signed)
}

func (f *synthField) fullType() string {
	if f.dynamic {
		return "__data_loc " + f.typ
	}
	return f.typ
}

// text is a synthetic event's line of synthetic_events.
func (s *synthEvent) text() string {
	var list []string
	for i := range s.fields {
		list = append(list, s.fields[i].typ+" "+s.fields[i].name)
	}
	return s.ev.Name + "\t" + strings.Join(list, "; ")
}

// fire makes the event happen: the values are those of the references. It is traced within another event, which Linux's preempt
// count shows: a reservation and a nesting more.
func (s *synthEvent) fire(x *histHit, refs []int) {
	n := event.HeaderSize + 8*s.words
	for i, r := range refs {
		if s.fields[i].dynamic {
			n += len(x.refs[r].Str) + 1
		}
	}
	s.ev.depth = x.depth + 2
	s.ev.Fire(x.c, n, func(d []byte) { s.fill(d, x, refs) })
}

func (s *synthEvent) fill(d []byte, x *histHit, refs []int) {
	clear(d[event.HeaderSize:])
	end := event.HeaderSize + 8*s.words
	for i, r := range refs {
		f, v := &s.fields[i], &x.refs[r]
		switch {
		case f.dynamic:
			k := copy(d[end:], v.Str) + 1
			binary.LittleEndian.PutUint32(d[f.at:], uint32(k)<<16|uint32(end))
			end += k
		case f.text:
			copy(d[f.at:f.at+histText-1], v.Str)
		default:
			for b := range f.size {
				d[f.at+b] = byte(v.Num >> (8 * b))
			}
		}
	}
}

// number is a field's value as print_synth_event_num_val shows it: of small signed types without their sign.
func (f *synthField) number(b, d []byte) []byte {
	var word [8]byte
	copy(word[:], d[f.at:f.at+f.size])
	n := binary.LittleEndian.Uint64(word[:])
	switch {
	case f.typ == "gfp_t":
		return strconv.AppendUint(b, n, 16)
	case f.signed && f.size == 8:
		return strconv.AppendInt(b, int64(n), 10)
	case f.signed && f.size == 4:
		return strconv.AppendInt(b, int64(int32(n)), 10)
	}
	return strconv.AppendUint(b, n, 10)
}

// string is the text of a field.
func (f *synthField) string(d []byte) []byte {
	at, n := f.at, histText
	if f.dynamic {
		loc := binary.LittleEndian.Uint32(d[f.at:])
		at, n = int(loc&0xffff), int(loc>>16)
	}
	d = d[min(at, len(d)):min(at+n, len(d))]
	return d[:nul(d)]
}

// format makes the event's descriptor: synth_event_define_fields and __set_synth_event_print_fmt.
func (s *synthEvent) format(r *Tracer, name string, id uint16) *event.Format {
	f := &event.Format{System: synthSystem, Name: name, ID: id}
	var verbs, args []string
	gfp := map[string]func(p *event.Printer, d []byte){}
	at := event.HeaderSize
	for i := range s.fields {
		x := &s.fields[i]
		x.at = at
		e := event.Field{Type: x.fullType(), Name: x.name, Offset: at, Size: x.size, Signed: x.signed}
		verb, arg := synthTypes[x.typ].verb, "REC->"+x.name
		at += 8
		if x.text {
			verb = "%s"
			if x.dynamic {
				arg = "__get_str(" + x.name + ")"
			} else {
				e.Type = "char[]" // 6.1 gives it no length in the format file
				at += histText - 8
			}
		}
		if x.typ == "gfp_t" {
			gfp[x.name] = r.gfpText(e)
		}
		f.Fields = append(f.Fields, e)
		verbs, args = append(verbs, x.name+"="+verb), append(args, ", "+arg)
	}
	s.words = (at - event.HeaderSize) / 8
	f.Print = `"` + strings.Join(verbs, ", ") + `"` + strings.Join(args, "")
	f.Text = func(p *event.Printer, d []byte) {
		p.Buf = append(append(p.Buf, name...), ": "...)
		for i := range s.fields {
			x := &s.fields[i]
			p.Buf = append(append(p.Buf, x.name...), '=')
			if x.text {
				p.Buf = append(p.Buf, x.string(d)...)
			} else {
				p.Buf = x.number(p.Buf, d)
			}
			if i < len(s.fields)-1 {
				p.Buf = append(p.Buf, ' ')
			}
			if g := gfp[x.name]; g != nil {
				g(p, d)
			}
		}
		p.Buf = append(p.Buf, '\n')
	}
	return f
}

// gfpText shows a field as flags of an allocation, by the list that the image's event kmem:kmalloc has.
func (t *Tracer) gfpText(x event.Field) func(p *event.Printer, d []byte) {
	ev, ok := t.TraceEvent("kmem", "kmalloc")
	if !ok {
		return nil
	}
	from := strings.Index(ev.Print, "__print_flags((unsigned long)(REC->gfp_flags), ")
	to := strings.Index(ev.Print, `) : "none"`)
	if from < 0 || to < from {
		return nil
	}
	f := &event.Format{System: synthSystem, Name: "gfp", Fields: []event.Field{x}, Names: ev.Names}
	f.Print = `" (%s)", ` + strings.ReplaceAll(ev.Print[from:to+1], "REC->gfp_flags", "REC->"+x.Name)
	text, err := event.CompilePrint(f)
	if err != nil {
		return nil
	}
	return func(p *event.Printer, d []byte) {
		before := len(p.Buf)
		text(p, d)
		got := strings.TrimSuffix(strings.TrimPrefix(string(p.Buf[before:]), "gfp:"), "\n")
		p.Buf = append(p.Buf[:before], got...)
	}
}

// synthParser parses one command; its errors are logged where the command has the text in question first.
type synthParser struct {
	t   *Tracer
	now uint64
	cmd string
}

func (p *synthParser) fail(msg, text string) error {
	pos := 0
	if text != "" {
		pos = max(strings.Index(p.cmd, text), 0)
	}
	p.t.LogError(p.now, "synthetic_events", msg, p.cmd, pos)
	return kernel.EINVAL
}

const synthForm = "Command must be of the form: <name> field[;field] ..."

// SynthCommand is create_or_delete_synth_event: "NAME FIELDS", or "!NAME…".
func (t *Tracer) SynthCommand(c *kernel.VCPU, text string) error {
	text = strings.TrimLeft(text, blanks)
	if text == "" {
		return nil
	}
	r := t.root()
	p := &synthParser{r, r.stamp(c), text}
	if err := p.check(text); err != nil {
		return err
	}
	at := strings.IndexAny(text, " \t")
	if name, ok := strings.CutPrefix(text, "!"); ok {
		if at > 0 {
			name = text[1:at]
		}
		return r.deleteSynth(name)
	}
	if at < 0 {
		return p.fail(synthForm, "")
	}
	return p.create(text[:at], text[at:])
}

// SynthDynamic is create_synth_event: "s:[synthetic/]NAME FIELDS" of dynamic_events; ok is false when it is no such command.
func (t *Tracer) SynthDynamic(c *kernel.VCPU, text string) (ok bool, err error) {
	text = strings.TrimLeft(text, blanks)
	name, ok := strings.CutPrefix(text, "s:")
	if !ok {
		return false, nil
	}
	r := t.root()
	p := &synthParser{r, r.stamp(c), text}
	if !strings.ContainsAny(text, " \t") {
		return true, p.fail(synthForm, "")
	}
	if strings.Contains(name, "/") {
		if name, ok = strings.CutPrefix(name, synthSystem+"/"); !ok {
			return true, p.fail("Command must be of the form: s or -:[synthetic/]<name> field[;field] ...", "")
		}
	}
	if err := p.check(name); err != nil {
		return true, err
	}
	at := strings.IndexAny(name, " \t")
	return true, p.create(name[:at], name[at:])
}

// check is check_command: a name, and at least a type and a name before the first semicolon.
func (p *synthParser) check(text string) error {
	first, _, _ := strings.Cut(text, ";")
	if !strings.HasPrefix(first, "!") && len(strings.Fields(first)) < 3 {
		return p.fail(synthForm, "")
	}
	return nil
}

// create is __create_synth_event.
func (p *synthParser) create(name, fields string) error {
	r := p.t
	switch {
	case name == "":
		return p.fail(synthForm, "")
	case !isGoodName(name):
		return p.fail("Illegal name", name)
	case r.synth(name) != nil:
		_ = p.fail("Event already exists", name)
		return kernel.EEXIST
	}
	s := &synthEvent{}
	for _, part := range strings.Split(fields, ";") {
		for words := strings.Fields(part); len(words) > 0; {
			f, n, err := p.field(words)
			switch {
			case err != nil:
				return err
			case len(s.fields) == synthMaxFields:
				return p.fail("Too many fields", "")
			}
			s.fields, words = append(s.fields, f), words[n:]
		}
	}
	if len(s.fields) == 0 {
		return p.fail(synthForm, "")
	}
	if _, ok := r.TraceEvent(synthSystem, name); ok {
		return kernel.EEXIST
	}
	s.ev = &TraceEvent{Format: s.format(r, name, r.NextEventID())}
	s.seq = r.NextDynamic()
	r.AddEvent(s.ev)
	r.synths = append(slices.Clip(r.synths), s)
	return nil
}

// field is parse_synth_field: a type and a name of words, and how many they are.
func (p *synthParser) field(words []string) (f synthField, n int, err error) {
	typ, prefix := words[0], ""
	if n = 2; typ == "unsigned" {
		if len(words) < 3 {
			return f, 0, p.fail("Incomplete type", typ)
		}
		typ, prefix, n = words[1], "unsigned ", 3
	}
	if len(words) < n {
		return f, 0, p.fail("Invalid field", typ)
	}
	name := words[n-1]
	array := ""
	if i := strings.IndexByte(name, '['); i >= 0 {
		array = name[i:]
	}
	f.name = name[:len(name)-len(array)]
	if !isGoodName(f.name) {
		return f, 0, p.fail("Illegal name", name)
	}
	f.typ = prefix + typ + array
	f.size = synthSizes(f.typ)
	switch {
	case f.size < 0 && array != "":
		return f, 0, p.fail("Invalid array specification", name)
	case f.size < 0:
		return f, 0, p.fail("Invalid type", typ)
	case f.size == 0 && !strings.Contains(f.typ, "char["):
		return f, 0, p.fail("Invalid type", typ)
	}
	f.text = strings.Contains(f.typ, "char[")
	f.signed = !strings.HasPrefix(f.typ, "u") && f.typ != "gfp_t"
	if f.size == 0 {
		f.dynamic, f.size, f.signed = true, 8, true
	}
	return f, n, nil
}

// synthSizes is synth_field_size: 0 for a string of any length, and for types that are none.
func synthSizes(typ string) int {
	if t, ok := synthTypes[typ]; ok {
		return t.size
	}
	_, rest, ok := strings.Cut(typ, "char[")
	if !ok {
		return 0
	}
	number, after, ok := strings.Cut(rest, "]")
	if !ok || after != "" || len(number) > 3 {
		return -1
	}
	if number == "" {
		return 0
	}
	n, err := kstrtoul(number, 0)
	if err != nil || n > histText {
		return -1
	}
	return int(n)
}

// isGoodName is is_good_name.
func isGoodName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < '0' || c > '9' || i == 0) && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

// deleteSynth is synth_event_delete.
func (t *Tracer) deleteSynth(name string) error {
	s := t.synth(name)
	switch {
	case s == nil:
		return kernel.ENOENT
	case s.ref > 0:
		return kernel.EBUSY
	}
	if err := t.RemoveEvent(s.ev); err != nil {
		return err
	}
	t.synths = slices.DeleteFunc(slices.Clone(t.synths), func(x *synthEvent) bool { return x == s })
	return nil
}

// DeleteSynth takes a synthetic event out, as "-:[synthetic/]NAME" of dynamic_events does; ENOENT: there is none.
func (t *Tracer) DeleteSynth(name string) error {
	err := t.root().deleteSynth(name)
	if err == nil {
		t.ClearStale()
	}
	return err
}

// DeleteSynths is `> synthetic_events`: EBUSY when one is used.
func (t *Tracer) DeleteSynths() error {
	r := t.root()
	for _, s := range r.synths {
		if s.ref > 0 {
			return kernel.EBUSY
		}
	}
	for len(r.synths) > 0 {
		if err := r.deleteSynth(r.synths[0].ev.Name); err != nil {
			return err
		}
	}
	r.ClearStale()
	return nil
}

// NextDynamic numbers the dynamic events, of all kinds, in the order of their making, in which dynamic_events lists them.
func (t *Tracer) NextDynamic() uint64 {
	r := t.root()
	r.dynSeq++
	return r.dynSeq
}

// DynamicLine is a line of dynamic_events.
type DynamicLine struct {
	Seq  uint64
	Text string
	Name string // of a synthetic event
}

// SynthLines are the synthetic events as dynamic_events lists them.
func (t *Tracer) SynthLines() (out []DynamicLine) {
	for _, s := range t.root().synths {
		out = append(out, DynamicLine{s.seq, "s:" + synthSystem + "/" + s.text(), s.ev.Name})
	}
	return out
}

func openSynths(h *Handle) error {
	if h.Writable() && h.Flags&oTrunc != 0 {
		return h.T.DeleteSynths()
	}
	return nil
}

func synthsText(h *Handle, b []byte) ([]byte, error) {
	for _, s := range h.T.root().synths {
		b = append(append(b, s.text()...), '\n')
	}
	return b, nil
}

func writeSynths(h *Handle, p []byte) (int, error) {
	return RunCommands(p, func(line string) error { return h.T.SynthCommand(h.VCPU, line) })
}

// commandRoom is the buffer of a command (WRITE_BUFSIZE).
const commandRoom = 4096

// RunCommands is trace_parse_run_command: a command a line, comments cut off. The first bad line ends it; those before stay.
func RunCommands(p []byte, run func(line string) error) (int, error) {
	done := 0
	for done < len(p) {
		text := string(p[done:min(len(p), done+commandRoom-1)])
		line, _, whole := strings.Cut(text, "\n")
		switch {
		case whole:
			done += len(line) + 1
		case done+len(text) < len(p):
			return 0, kernel.EINVAL
		default:
			done = len(p)
		}
		line, _, _ = strings.Cut(line, "\x00")
		line, _, _ = strings.Cut(line, "#")
		if err := run(line); err != nil {
			return 0, err
		}
	}
	return done, nil
}

// forkSynths copies the synthetic events for a fork: their text is of no machine, so the formats are shared.
func (n *Tracer) forkSynths(t *Tracer) map[*synthEvent]*synthEvent {
	forks := map[*synthEvent]*synthEvent{}
	n.synths = nil
	for _, s := range t.synths {
		c := *s
		c.ev = n.eventForks[s.ev]
		forks[s] = &c
		n.synths = append(n.synths, &c)
	}
	return forks
}
