package user

import (
	"fmt"

	"kscope/kernel"
)

// Out asks CallNamed for a result buffer of that many bytes.
type Out int

// CallNamed does a system call by name with Go values for arguments: integers as they are, strings with a NUL behind
// them, []byte as the address of a copy, []string as a NULL-terminated array, Out as the address of a buffer whose bytes
// come back. A buffer that is followed by an integer no greater than its size (read's count) is cut to the result.
func (s *Sys) CallNamed(name string, values ...any) (ret int64, out [][]byte, err error) {
	nr, ok := SyscallNr(name)
	if !ok {
		var names []string
		for _, c := range syscallTable {
			names = append(names, c.Name)
		}
		return 0, nil, &kernel.SymbolError{Text: name, Msg: fmt.Sprintf("no system call %q", name),
			Hint: kernel.Suggest(name, names), Err: kernel.ENOSYS}
	}
	if len(values) > 6 {
		return 0, nil, fmt.Errorf("%s: %d arguments: at most 6", name, len(values))
	}
	r := &request{nr: nr}
	a := s.args()
	for i, v := range values {
		if r.args[i], err = s.value(a, r, v); err != nil {
			return 0, nil, fmt.Errorf("%s: argument %d: %w", name, i+1, err)
		}
		if v, ok := v.(Out); ok && (name == "read" || name == "pread64" || name == "readlink" || name == "getdents64" || name == "getcwd") {
			r.out[len(r.out)-1] = span{r.args[i], int(v), true}
		}
	}
	r.in = a.in
	resp, e := s.call(r)
	if e != 0 {
		return resp.ret, nil, e
	}
	return resp.ret, resp.out, nil
}

func (s *Sys) value(a *args, r *request, v any) (uint64, error) {
	var at uint64
	switch v := v.(type) {
	case int:
		return u64(v), nil
	case int64:
		return uint64(v), nil
	case uint64:
		return v, nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case nil:
		return 0, nil
	case Buf:
		return v.Addr, nil
	case string:
		at = a.str(v)
	case []byte:
		at = a.bytes(v)
	case []string:
		at = a.array(v)
	case Out:
		if at = a.space(int(v)); at == 0 && v > 0 {
			b, e := s.Alloc(int(v))
			if e != 0 {
				return 0, e
			}
			at = b.Addr
		}
		r.out = append(r.out, span{addr: at, n: int(v)})
		return at, nil
	default:
		return 0, fmt.Errorf("%T is no system call argument", v)
	}
	if at == 0 {
		return 0, kernel.E2BIG
	}
	return at, nil
}
