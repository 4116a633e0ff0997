package event

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Filter is an event's filter: a tree of comparisons, compiled to closures. See predicate_parse and parse_pred in
// kernel/trace/trace_events_filter.c, whose errors, down to their odd errnos, are these.
type Filter struct {
	Text    string
	eval    func(r *Record) bool
	numbers []numTest // nil: not all that it asks for is numbers
}

// Record is what a filter looks at.
type Record struct {
	Data []byte
	CPU  int
	Comm func() []byte // of the current task, for the fields COMM and comm
	// Str reads a string for a field that is a pointer, of the kernel or of the task's user space; false: it faults. nil: none.
	Str func(va uint64, user bool) ([]byte, bool)
}

// Match says whether a record passes.
func (f *Filter) Match(r *Record) bool { return f.eval(r) }

// FilterError is why a filter is none: Msg is Linux's text ("" where it has no text), Pos an offset in the filter, Errno what
// the write returns.
type FilterError struct {
	Pos   int
	Msg   string
	Errno int
}

func (e *FilterError) Error() string {
	if e.Msg == "" {
		return "Error"
	}
	return e.Msg
}

// Report is what the filter file shows instead of the filter; see append_filter_err.
func (e *FilterError) Report(text string) string {
	if e.Msg == "" {
		return text + "\nError: (0)\n"
	}
	return fmt.Sprintf("%s\n%s^\nparse_error: %s\n", text, strings.Repeat(" ", min(e.Pos, len(text))), e.Msg)
}

const (
	eperm  = 1
	enoent = 2
	esrch  = 3
	einval = 22
)

// The texts of FILT_ERR_….
const (
	errInvalidOp    = "Invalid operator"
	errTooManyOpen  = "Too many '('"
	errTooManyClose = "Too few '('"
	errQuote        = "Missing matching quote"
	errTooLong      = "Operand too long"
	errWantString   = "Expecting string field"
	errWantDigit    = "Expecting numeric field"
	errFieldOp      = "Illegal operation for field type"
	errNoField      = "Field not found"
	errBadInt       = "Illegal integer value"
	errTooManyPreds = "Too many terms in predicate expression"
	errMeaningless  = "Meaningless filter expression"
	errBadValue     = "Invalid value (did you forget quotes)?"
	errNoFilter     = "No filter found"

	// ErrSubsystem is what a system's filter leaves in the filters of events that it does not fit.
	ErrSubsystem = "Couldn't find or set field in one of a subsystem's events"
)

// filterOps: the longer come first.
var filterOps = [...]string{"~", "!=", "==", "<=", "<", ">=", ">", "&"}

const (
	maxOperand = 256 // MAX_FILTER_STR_VAL
	maxNumber  = 24  // num_buf of parse_pred
)

// token is a predicate or one of ( ) ! & |.
type token struct {
	kind byte // 'p': eval
	eval func(r *Record) bool
	num  *numTest // that eval is
}

type filterParser struct {
	f *Format
	s string
	FilterEnv
	toks []token
	at   int
	num  *numTest // the comparison just read, of a number
}

// FilterEnv is what a filter needs of the kernel. The last two are of later kernels than 6.1; without them their syntax is an
// error, as it is there.
type FilterEnv struct {
	Glob     func(pattern string) func(s []byte) bool        // compiles the pattern of the operator ~
	Function func(text string) (start, end uint64, err bool) // FIELD.function (6.3): the bounds of a function, by name or address
	CPUs     bool                                            // CPUS{0-3,7} (6.6)
}

// ParseFilter compiles a filter on events of format f.
func ParseFilter(f *Format, text string, env FilterEnv) (*Filter, *FilterError) {
	preds, err := countPreds(text)
	if err != nil {
		return nil, err
	}
	if preds == 0 {
		return nil, &FilterError{Errno: einval}
	}
	p := &filterParser{f: f, s: text, FilterEnv: env}
	if err := p.scan(preds); err != nil {
		return nil, err
	}
	return &Filter{text, p.or(), p.numbers()}, nil
}

// countPreds is calc_stack: it counts the comparisons and finds unmatched quotes and parentheses.
func countPreds(s string) (preds int, err *FilterError) {
	inPred, open, quote, quoteAt := false, 0, byte(0), 0
	var opens []int
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isBlank(c):
			continue
		case quote != 0:
			if c == quote {
				quote = 0
			}
			continue
		case c == '\'' || c == '"':
			quote, quoteAt = c, i
		case (c == '&' || c == '|') && i+1 < len(s) && s[i+1] == c:
			inPred = false
			continue
		case c == '(':
			inPred = false
			open++
			opens = append(opens, i)
			continue
		case c == ')':
			inPred = false
			if open == 0 {
				return 0, &FilterError{i, errTooManyClose, eperm}
			}
			open--
			opens = opens[:open]
			continue
		}
		if !inPred {
			preds++
			inPred = true
		}
	}
	switch {
	case quote != 0:
		return 0, &FilterError{quoteAt, errQuote, esrch}
	case open != 0:
		return 0, &FilterError{opens[0], errTooManyOpen, enoent}
	}
	return preds, nil
}

// scan is predicate_parse: it cuts the text into tokens.
func (p *filterParser) scan(preds int) *FilterError {
	s, i, n := p.s, 0, 0
	pending := false
	for {
		for i < len(s) && isBlank(s[i]) {
			i++
		}
		if i == len(s) {
			break
		}
		if s[i] == '(' || s[i] == '!' && !(i+1 < len(s) && s[i+1] == '=') {
			p.toks = append(p.toks, token{kind: s[i]})
			i++
			continue
		}
		if n >= preds {
			return &FilterError{i, errTooManyPreds, einval}
		}
		p.num = nil
		eval, length, err := p.pred(s[i:], i)
		if err != nil {
			return err
		}
		p.toks = append(p.toks, token{'p', eval, p.num})
		n++
		i += length
		if i, pending, err = p.behind(i); err != nil {
			return err
		}
	}
	switch {
	case pending:
		return &FilterError{len(s), errMeaningless, einval}
	case n == 0:
		return &FilterError{len(s), errNoFilter, einval}
	}
	return nil
}

// behind takes what may follow a comparison: closing parentheses and one && or ||.
func (p *filterParser) behind(i int) (at int, pending bool, err *FilterError) {
	s := p.s
	for {
		for i < len(s) && isBlank(s[i]) {
			i++
		}
		switch {
		case i == len(s):
			return i, false, nil
		case s[i] == ')':
			p.toks = append(p.toks, token{kind: ')'})
			i++
		case (s[i] == '&' || s[i] == '|') && i+1 < len(s) && s[i+1] == s[i]:
			p.toks = append(p.toks, token{kind: s[i]})
			return i + 2, true, nil
		default:
			return i, false, &FilterError{i, errTooManyPreds, eperm}
		}
	}
}

// The tree: or, and, not, in order of binding. The tokens are known to fit.
func (p *filterParser) next(kind byte) bool {
	if p.at < len(p.toks) && p.toks[p.at].kind == kind {
		p.at++
		return true
	}
	return false
}

func (p *filterParser) or() func(r *Record) bool {
	x := p.and()
	for p.next('|') {
		a, b := x, p.and()
		x = func(r *Record) bool { return a(r) || b(r) }
	}
	return x
}

func (p *filterParser) and() func(r *Record) bool {
	x := p.not()
	for p.next('&') {
		a, b := x, p.not()
		x = func(r *Record) bool { return a(r) && b(r) }
	}
	return x
}

func (p *filterParser) not() func(r *Record) bool {
	if p.next('!') {
		x := p.not()
		return func(r *Record) bool { return !x(r) }
	}
	if p.next('(') {
		x := p.or()
		p.next(')')
		return x
	}
	if p.at < len(p.toks) {
		if t := p.toks[p.at]; t.kind == 'p' {
			p.at++
			return t.eval
		}
	}
	return func(*Record) bool { return true }
}

// pred is parse_pred: one comparison at the start of s, which begins at offset base. Its errors point one further than the
// text that they are about, as Linux's do.
func (p *filterParser) pred(s string, base int) (eval func(r *Record) bool, n int, err *FilterError) {
	fail := func(i int, msg string) (func(r *Record) bool, int, *FilterError) {
		return nil, 0, &FilterError{base + i + 1, msg, einval}
	}
	i := 0
	for i < len(s) && (isAlnum(s[i]) || s[i] == '_') {
		i++
	}
	if i == 0 {
		return nil, 0, &FilterError{Errno: eperm}
	}
	field, ok := p.field(s[:i])
	if !ok {
		return fail(i, errNoField)
	}
	if strings.HasPrefix(s[i:], ".ustring") { // where it stands, a pointer is to user space; elsewhere it means nothing
		i += len(".ustring")
		field.user = true
	}
	function := p.Function != nil && strings.HasPrefix(s[i:], ".function")
	if function {
		i += len(".function")
	}
	i = skipBlanks(s, i)
	op := ""
	for _, o := range filterOps {
		if strings.HasPrefix(s[i:], o) {
			op = o
			break
		}
	}
	if op == "" {
		return fail(i, errInvalidOp)
	}
	i = skipBlanks(s, i+len(op))
	switch {
	case function:
		return p.functionPred(field, op, s, i, fail)
	case p.CPUs && strings.HasPrefix(s[i:], "CPUS"):
		return p.cpusPred(field, op, s, i, fail)
	case i < len(s) && (s[i] == '\'' || s[i] == '"'):
		switch {
		case op != "~" && op != "==" && op != "!=":
			return fail(i, errFieldOp)
		case !field.text:
			return fail(i, errWantDigit)
		}
		end := strings.IndexByte(s[i+1:], s[i])
		if end < 0 {
			return fail(len(s), errQuote)
		}
		if end >= maxOperand {
			return fail(i+1+end, errTooLong)
		}
		return p.textPred(field, op, s[i+1:i+1+end]), i + 1 + end + 1, nil
	case i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '-'):
		start := i
		switch {
		case field.text:
			return fail(i, errWantString)
		case op == "~":
			return fail(i, errFieldOp)
		}
		for i++; i < len(s) && isAlnum(s[i]); i++ {
		}
		if i-start >= maxNumber {
			return fail(i-1, errTooLong)
		}
		x, ok := parseNumber(s[start:i], field.signed)
		if !ok {
			return fail(start, errBadInt)
		}
		return p.numPred(field, op, x), i, nil
	}
	return fail(i, errBadValue)
}

// filterField is a field that a filter may name: one of the event's, or CPU, COMM, comm.
type filterField struct {
	*Field
	text, pointer, dynamic bool
	user                   bool // the pointer is to user space
	cpu, comm              bool
	signed                 bool
}

func (p *filterParser) field(name string) (x filterField, ok bool) {
	f, ok := p.f.Field(name)
	switch {
	case ok:
		x = filterField{Field: f, signed: f.Signed, dynamic: strings.HasPrefix(f.Type, "__data_loc ")}
		x.text = strings.HasPrefix(strings.TrimPrefix(f.Type, "__data_loc "), "char[")
		if f.Type == "char *" || f.Type == "const char *" {
			x.text, x.pointer = true, true
		}
		return x, true
	case name == "CPU" || name == "cpu" || name == "common_cpu":
		return filterField{cpu: true, signed: true}, true
	case name == "COMM" || name == "comm":
		return filterField{comm: true, text: true}, true
	}
	return x, false
}

func (p *filterParser) textPred(f filterField, op, want string) func(r *Record) bool {
	if f.pointer {
		return p.pointerPred(f, op, want)
	}
	if op != "~" && !f.comm && !f.dynamic && strings.IndexByte(want, 0) < 0 {
		return func(r *Record) bool { return textIs(f.bytes(r.Data), want) == (op == "==") }
	}
	get := f.text8()
	switch op {
	case "~":
		glob := p.Glob(want)
		return func(r *Record) bool { return glob(get(r)) }
	case "!=":
		return func(r *Record) bool { return string(get(r)) != want }
	}
	return func(r *Record) bool { return string(get(r)) == want }
}

// pointerPred is a comparison of the string that a field points to; one that faults is equal to nothing, and not different
// from anything (filter_pred_pchar).
func (p *filterParser) pointerPred(f filterField, op, want string) func(r *Record) bool {
	num, user := f.reader(), f.user
	same := func(s []byte) bool { return string(s) == want }
	if op == "~" {
		same = p.Glob(want)
	}
	return func(r *Record) bool {
		if r.Str == nil {
			return false
		}
		s, ok := r.Str(num(r.Data), user)
		return ok && same(s) == (op != "!=")
	}
}

// text8 gives a function that finds the text of a field in a record, without its NUL and without allocation.
func (f filterField) text8() func(r *Record) []byte {
	switch {
	case f.comm:
		return func(r *Record) []byte {
			if r.Comm == nil {
				return nil
			}
			return r.Comm()
		}
	case f.dynamic:
		return func(r *Record) []byte { return untilNUL(f.located(r.Data)) }
	}
	return func(r *Record) []byte { return untilNUL(f.bytes(r.Data)) }
}

// textIs says whether the text in b, up to a NUL or its end, is want, without a search for its end.
func textIs(b []byte, want string) bool {
	n := len(want)
	return len(b) >= n && string(b[:n]) == want && (len(b) == n || b[n] == 0)
}

func untilNUL(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

func (p *filterParser) numPred(f filterField, op string, want uint64) func(r *Record) bool {
	t := newNumTest(f, op, want)
	p.num = &t
	return func(r *Record) bool { return t.pass(r.Data, r.CPU) }
}

// parseNumber is kstrtoll or kstrtoull with base 0.
func parseNumber(s string, signed bool) (uint64, bool) {
	if strings.ContainsRune(s, '_') {
		return 0, false
	}
	base := s
	if rest, neg := strings.CutPrefix(s, "-"); neg {
		if !signed {
			return 0, false
		}
		base = rest
	}
	digits, radix := base, 10
	switch {
	case strings.HasPrefix(base, "0x") || strings.HasPrefix(base, "0X"):
		digits, radix = base[2:], 16
	case len(base) > 1 && base[0] == '0':
		digits, radix = base[1:], 8
	}
	x, err := strconv.ParseUint(digits, radix, 64)
	if err != nil || signed && x > 1<<63-1 {
		return 0, false
	}
	if base != s {
		x = -x
	}
	return x, true
}

func skipBlanks(s string, i int) int {
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	return i
}

func isBlank(c byte) bool { return c == ' ' || c >= 9 && c <= 13 }

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
