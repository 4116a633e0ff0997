package event

import (
	"strconv"
	"strings"
)

// What filters can do in later kernels than 6.1: see parse_pred in kernel/trace/trace_events_filter.c of 6.6.

const (
	errNoFunction = "Function not found"
	errBraceOpen  = "Missing '{'"
	errBraceClose = "Missing '}'"
)

// failAt makes an error at an offset of the comparison.
type failAt func(i int, msg string) (func(r *Record) bool, int, *FilterError)

// functionPred is FIELD.function == NAME: the field holds an address within a function.
func (p *filterParser) functionPred(f filterField, op, s string, i int, fail failAt) (func(r *Record) bool, int, *FilterError) {
	switch {
	case f.Field == nil || f.Size != 8:
		return fail(i, errFieldOp)
	case op != "==" && op != "!=":
		return fail(i, errInvalidOp)
	}
	end := i
	if number := i < len(s) && s[i] >= '0' && s[i] <= '9'; number {
		for end < len(s) && isAlnum(s[end]) {
			end++
		}
		if end-i >= maxNumber {
			return fail(end, errTooLong)
		}
	} else {
		for end < len(s) && !isBlank(s[end]) {
			end++
		}
	}
	start, stop, bad := p.Function(s[i:end])
	if bad {
		return fail(end, errNoFunction)
	}
	num, not := f.reader(), op == "!="
	return func(r *Record) bool {
		x := num(r.Data)
		return (start <= x && x < stop) != not
	}, end, nil
}

// cpusPred is FIELD OP CPUS{LIST}: OP is ==, != or &; the field is a CPU's number or a mask of CPUs.
func (p *filterParser) cpusPred(f filterField, op, s string, i int, fail failAt) (func(r *Record) bool, int, *FilterError) {
	mask := f.Field != nil && f.DataLoc() && strings.Contains(f.Type, "cpumask_t")
	if f.text && !mask || f.comm || op != "==" && op != "!=" && op != "&" {
		return fail(i, errFieldOp)
	}
	i += len("CPUS")
	if i == len(s) || s[i] != '{' {
		return fail(i, errBraceOpen)
	}
	end := strings.IndexByte(s[i:], '}')
	if end < 0 {
		return fail(len(s), errBraceClose)
	}
	want, ok := parseCPUs(s[i+1 : i+end])
	if !ok {
		return fail(i+1, errBadInt)
	}
	end += i + 1
	have := func(r *Record) []uint64 { return []uint64{1 << (uint64(r.CPU) & 63)} }
	switch {
	case mask:
		have = func(r *Record) (out []uint64) {
			for b := f.located(r.Data); len(b) >= 8; b = b[8:] {
				out = append(out, u64(b))
			}
			return out
		}
	case !f.cpu:
		num := f.reader()
		have = func(r *Record) []uint64 {
			n := num(r.Data)
			out := make([]uint64, len(want))
			if n/64 < uint64(len(out)) {
				out[n/64] = 1 << (n % 64)
			}
			return out
		}
	}
	return func(r *Record) bool {
		h := have(r)
		same, both := true, false
		for k := range max(len(h), len(want)) {
			var a, b uint64
			if k < len(h) {
				a = h[k]
			}
			if k < len(want) {
				b = want[k]
			}
			same, both = same && a == b, both || a&b != 0
		}
		switch op {
		case "==":
			return same
		case "!=":
			return !same
		}
		return both
	}, end, nil
}

// parseCPUs reads a list of CPUs, "0-3,7", as words of a mask of 64 CPUs.
func parseCPUs(list string) ([]uint64, bool) {
	out := make([]uint64, 1)
	for _, part := range strings.Split(list, ",") {
		lo, hi, ranged := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.ParseUint(lo, 10, 16)
		if err != nil || a > 63 {
			return nil, false
		}
		b := a
		if ranged {
			if b, err = strconv.ParseUint(hi, 10, 16); err != nil || b < a || b > 63 {
				return nil, false
			}
		}
		for ; a <= b; a++ {
			out[0] |= 1 << a
		}
	}
	return out, true
}
