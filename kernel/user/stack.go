package user

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"kscope/kernel"
)

// stackInfo is what execve left on the user stack (see create_elf_tables in fs/binfmt_elf.c).
type stackInfo struct {
	argv, env []string
	execFn    string // AT_EXECFN: the path that was executed
}

const (
	atNull   = 0
	atExecFn = 31
	maxArgs  = 64 << 10  // as many as fit into the kernel's MAX_ARG_PAGES
	maxArg   = 128 << 10 // MAX_ARG_STRLEN
)

// stackReader reads user memory, what is left of a page at a time.
type stackReader struct {
	c    cpu
	page [4096]byte
	at   uint64 // page[:n] is what is there from here on
	n    uint64
}

// from is what is at va, to the end of its page.
func (r *stackReader) from(va uint64) ([]byte, error) {
	if va-r.at >= r.n {
		n := 4096 - va%4096
		if err := r.c.Read(va, r.page[:n]); err != nil {
			return nil, err
		}
		r.at, r.n = va, n
	}
	return r.page[va-r.at : r.n], nil
}

// stack reads argc, argv, envp and the auxiliary vector at sp.
func (r *stackReader) stack(sp uint64) (s stackInfo, err error) {
	word := func() uint64 {
		b, e := r.from(sp)
		if len(b) < 8 || err != nil { // a stack pointer that is no multiple of 8 is the guest's mistake
			err = cmp.Or(err, e, error(kernel.EFAULT))
			return 0
		}
		sp += 8
		return binary.LittleEndian.Uint64(b)
	}
	argc := word()
	if err == nil && argc > maxArgs {
		return s, fmt.Errorf("argc %d on the stack of a new program", argc)
	}
	var at []uint64 // of the strings
	for n := uint64(0); err == nil && n < argc; n++ {
		at = append(at, word())
	}
	for word(); err == nil && uint64(len(at)) < argc+maxArgs; {
		p := word()
		if p == 0 {
			break
		}
		at = append(at, p)
	}
	exec := uint64(0)
	for i := 0; err == nil && i < 64; i++ {
		key, v := word(), word()
		if key == atNull {
			break
		}
		if key == atExecFn {
			exec = v
		}
	}
	text := make([]string, len(at))
	for i, va := range at {
		text[i] = r.str(va)
	}
	argc = min(argc, uint64(len(at)))
	s.argv, s.env = text[:argc:argc], text[argc:]
	if exec != 0 {
		s.execFn = r.str(exec)
	}
	return s, err
}

// str reads a NUL-terminated string of at most maxArg bytes, as far as it is there.
func (r *stackReader) str(va uint64) string {
	var out []byte
	for len(out) < maxArg {
		b, err := r.from(va)
		if err != nil {
			break
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			if out == nil {
				return string(b[:i])
			}
			return string(append(out, b[:i]...))
		}
		out = append(out, b...)
		va += uint64(len(b))
	}
	return string(out)
}
