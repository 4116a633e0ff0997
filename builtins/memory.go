package builtins

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/lang"
)

// sourceLine is a place by its source: "read_write.c:160".
var sourceLine = regexp.MustCompile(`^([\w./-]+\.[chS]):(\d+)$`)

// lineAddrs are the addresses of a source line; ok is false when text is none.
func (c *call) lineAddrs(text string) (addrs []uint64, ok bool, err error) {
	m := sourceLine.FindStringSubmatch(text)
	if m == nil {
		return nil, false, nil
	}
	line, _ := strconv.Atoi(m[2])
	addrs, near := c.g.M.Types().LineAddrs(m[1], line)
	if len(addrs) > 0 {
		return addrs, true, nil
	}
	e := c.errorf("%s: no code of this line", text)
	e.At, e.Code, e.Hint = text, "ENOENT", "kernel.func(name).file and .line tell where a function is"
	if near > 0 {
		e.Hint = fmt.Sprintf("the next line with code is %s:%d", m[1], near)
	}
	return nil, true, e
}

// address resolves what names a place in the guest: an int, "sym", "sym+0x10", "mod:sym", "file.c:160", a Sym or an object.
func (c *call) address(v starlark.Value) (uint64, error) {
	switch v := v.(type) {
	case starlark.Int:
		n, ok := v.Uint64()
		if !ok {
			return 0, c.errorf("%s is no 64-bit address", v)
		}
		return n, nil
	case starlark.String:
		if addrs, ok, err := c.lineAddrs(string(v)); ok {
			if err != nil {
				return 0, err
			}
			return addrs[0], nil
		}
		a, err := c.g.M.Symbols().Resolve(string(v))
		return a, c.fail(err, string(v), nil)
	case *record:
		if a, ok, _ := v.Get(starlark.String("addr")); ok {
			return c.address(a)
		}
	case *object:
		return v.obj.Addr, nil
	}
	return 0, c.errorf("got %s, want an address, a symbol's name or a Sym", v.Type())
}

// unpackAddr unpacks a first argument that is an address, and more.
func (c *call) unpackAddr(name string, more ...any) (uint64, error) {
	var v starlark.Value
	if err := c.unpack(append([]any{name, &v}, more...)...); err != nil {
		return 0, err
	}
	addr, err := c.address(v)
	return addr, about(name, err)
}

// about says which parameter an error is about that says no more than what it is.
func about(param string, err error) error {
	if e, ok := err.(*lang.Error); ok && e.At == "" {
		e.Arg = param
		if fn, what, ok := strings.Cut(e.Msg, ": got "); ok {
			e.Msg = fn + ": " + param + ": got " + what
		}
	}
	return err
}

// maxRead keeps one read from eating the host's memory.
const maxRead = 64 << 20

func kernelRead(c *call) (starlark.Value, error) {
	var n int
	var of starlark.Value = starlark.None
	phys := false
	addr, err := c.unpackAddr("addr", "n", &n, "task?", &of, "phys?", &phys)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > maxRead {
		return nil, c.errorf("%d bytes: want 0 to %d", n, maxRead)
	}
	b := make([]byte, n)
	switch t, isTask := of.(*task); {
	case of != starlark.None && (!isTask || phys):
		return nil, c.errorf("task = %s: want a Task, and no phys beside it", of)
	case phys:
		err = c.g.M.ReadPhys(addr, b)
	case isTask:
		err = t.read(addr, b)
	default:
		err = c.g.M.Read(addr, b)
	}
	if err != nil {
		return nil, c.fault(addr, err)
	}
	return starlark.Bytes(b), nil
}

func kernelBytesSeen(c *call) (starlark.Value, error) {
	n := 5
	var of starlark.Value = starlark.None
	addr, err := c.unpackAddr("addr", "n?", &n, "cpu?", &of)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > maxRead {
		return nil, c.errorf("%d bytes: want 0 to %d", n, maxRead)
	}
	one := func(cpu int) (starlark.Value, error) {
		b, err := c.g.M.BytesSeen(cpu, addr, n)
		if err != nil {
			return nil, c.fault(addr, err)
		}
		return starlark.Bytes(b), nil
	}
	if of != starlark.None {
		cpu, err := starlark.AsInt32(of)
		if err != nil || cpu < 0 || cpu >= c.g.M.NumCPU() {
			return nil, c.errorf("cpu = %s: want 0 to %d", of, c.g.M.NumCPU()-1)
		}
		return one(cpu)
	}
	var all []starlark.Value
	for cpu := range c.g.M.NumCPU() {
		v, err := one(cpu)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return starlark.NewList(all), nil
}

// read reads memory as the task sees it; a kernel thread has the kernel's only.
func (t *task) read(addr uint64, b []byte) error {
	mm, err := kernel.NewObj(t.g.M, t.g.M.Types().Struct("task_struct"), t.addr).Field("mm")
	if err != nil {
		return err
	}
	if at, err := mm.Uint(); err != nil || at == 0 {
		return t.g.M.Read(addr, b)
	}
	if mm, err = mm.Field("pgd"); err != nil {
		return err
	}
	pgd, err := mm.Uint()
	if err != nil {
		return err
	}
	return t.g.M.ReadAs(pgd, addr, b)
}

// fault is the error for memory that is not there.
func (c *call) fault(addr uint64, err error) error {
	e := &lang.Error{Msg: fmt.Sprintf("%s: %#x: no such memory", c.name, addr), Code: "EFAULT", Cause: err}
	switch {
	case addr < 4096:
		e.Hint = "this is a null pointer, or an offset from one"
	case addr < 1<<47 && strings.HasPrefix(c.name, "Ctx."):
		e.Hint = "the task has no such page yet, and a handler cannot fault it in: look when the function has returned, or with attempt(ctx.str, addr)"
	case addr < 1<<47:
		e.Hint = "this is a user address; it has a meaning in a task only: kernel.read(addr, n, task = t)"
	}
	return e
}

// data takes bytes or a string.
func (c *call) data(v starlark.Value) ([]byte, error) {
	switch v := v.(type) {
	case starlark.Bytes:
		return []byte(v), nil
	case starlark.String:
		return []byte(v), nil
	case starlark.Iterable:
		var out []byte
		it := v.Iterate()
		defer it.Done()
		var x starlark.Value
		for it.Next(&x) {
			n, err := starlark.AsInt32(x)
			if err != nil || n < 0 || n > 255 {
				return nil, c.errorf("%s is no byte", x)
			}
			out = append(out, byte(n))
		}
		return out, nil
	}
	return nil, c.errorf("got %s, want bytes, a string or a list of ints", v.Type())
}

func kernelWrite(c *call) (starlark.Value, error) {
	var v starlark.Value
	addr, err := c.unpackAddr("addr", "data", &v)
	if err != nil {
		return nil, err
	}
	b, err := c.data(v)
	if err != nil {
		return nil, about("data", err)
	}
	if err := c.g.M.Write(addr, b); err != nil {
		return nil, c.fault(addr, err)
	}
	return starlark.None, nil
}

// readUint makes kernel.u8 to u64.
func readUint(size int) func(c *call) (starlark.Value, error) {
	return func(c *call) (starlark.Value, error) {
		n, err := c.word(size)
		if err != nil {
			return nil, err
		}
		return unum(n), nil
	}
}

func readSigned(c *call) (starlark.Value, error) {
	n, err := c.word(8)
	if err != nil {
		return nil, err
	}
	return num(int64(n)), nil
}

func (c *call) word(size int) (uint64, error) {
	addr, err := c.unpackAddr("addr")
	if err != nil {
		return 0, err
	}
	var b [8]byte
	if err := c.g.M.Read(addr, b[:size]); err != nil {
		return 0, c.fault(addr, err)
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

func kernelStr(c *call) (starlark.Value, error) {
	limit := 64
	addr, err := c.unpackAddr("addr", "max?", &limit)
	if err != nil {
		return nil, err
	}
	if limit < 0 || limit > maxRead {
		return nil, c.errorf("max = %d: want 0 to %d", limit, maxRead)
	}
	s, err := c.g.M.Str(addr, limit)
	if err != nil {
		return nil, c.fault(addr, err)
	}
	return str(s), nil
}

func kernelAddr(c *call) (starlark.Value, error) {
	addr, err := c.unpackAddr("x")
	if err != nil {
		return nil, err
	}
	return unum(addr), nil
}

// variable is a global variable as an object; a per-CPU one is CPU cpu's.
func (g *Guest) variable(name string, cpu int) (kernel.Obj, error) {
	syms := g.M.Symbols().ByName(name)
	if len(syms) == 0 {
		_, err := g.M.Symbols().Resolve(name)
		return kernel.Obj{}, err
	}
	addr := syms[0].Addr
	if syms[0].PerCPU() {
		addr = g.M.PerCPU(name, cpu)
	}
	t, err := g.M.Types().Var(name)
	if err != nil {
		return kernel.Obj{}, err
	}
	return kernel.NewObj(g.M, t, addr), nil
}

func kernelVar(c *call) (starlark.Value, error) {
	var name string
	var cpu starlark.Value = starlark.None
	if err := c.unpack("name", &name, "cpu?", &cpu); err != nil {
		return nil, err
	}
	id := 0
	if cpu != starlark.None {
		n, err := starlark.AsInt32(cpu)
		if err != nil || n < 0 || n >= c.g.M.NumCPU() {
			return nil, c.errorf("cpu = %s: the machine has CPUs 0 to %d", cpu, c.g.M.NumCPU()-1)
		}
		id = n
	}
	o, err := c.g.variable(name, id)
	if err != nil {
		err = c.fail(err, name, nil)
		var e *lang.Error
		if _, fn := c.g.M.Types().Func(name, 0); fn && errors.As(err, &e) {
			e.Hint = fmt.Sprintf("it is a function: kernel.func(%q), kernel.disasm(%q)", name, name)
		}
		return nil, err
	}
	return &object{c.g, o}, nil
}

func kernelType(c *call) (starlark.Value, error) {
	var name string
	if err := c.unpack("name", &name); err != nil {
		return nil, err
	}
	t, err := c.g.M.Types().ByName(name)
	if err != nil {
		return nil, c.fail(err, name, nil)
	}
	return &record{typ: "Type", text: t.Layout(), fields: []field{
		{"name", str(t.String())}, {"size", num(t.Size)}, {"fields", list(t.FieldNames(), str)},
	}}, nil
}

func kernelPoke(c *call) (starlark.Value, error) {
	var v starlark.Value
	naive := false
	addr, err := c.unpackAddr("addr", "data", &v, "naive?", &naive)
	if err != nil {
		return nil, err
	}
	b, err := c.data(v)
	if err != nil {
		return nil, about("data", err)
	}
	if err := c.ready(); err != nil || len(b) == 0 {
		return starlark.None, err
	}
	err = c.g.guard(func() error { return c.g.M.Poke(addr, b, naive) })
	return starlark.None, c.fail(err, "", nil)
}
