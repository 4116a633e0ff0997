package user

import (
	"kscope/kernel"
)

// truncate sets files' sizes.
func truncate(c *cmd) int {
	found, files, status, done := c.parse([]option{{'s', "size", true, 0}, {'c', "no-create", false, 1}}, 1)
	if done {
		return status
	}
	size, create, given := int64(0), true, false
	rel := byte(0)
	for _, o := range found {
		if o.id == 1 {
			create = false
			continue
		}
		text := o.value
		if text != "" && (text[0] == '+' || text[0] == '-') {
			rel, text = text[0], text[1:]
		}
		n, ok := sizeOf(text)
		if !ok {
			c.errorf("Invalid number: %s", quoted(o.value))
			return 1
		}
		size, given = n, true
	}
	switch {
	case !given:
		c.errorf("you must specify either %s or %s", quoted("--size"), quoted("--reference"))
		return c.tryHelp(1)
	case len(files) == 0:
		c.errorf("missing file operand")
		return c.tryHelp(1)
	}
	flags := oWronly
	if create {
		flags |= oCreat
	}
	for _, f := range files {
		fd, e := c.s.Open(f, flags|oNonblock, 0o666)
		if e == kernel.ENOENT && !create {
			continue
		}
		if e != 0 {
			c.errorf("cannot open %s for writing: %s", quoted(f), e.Error())
			status = 1
			continue
		}
		want := size
		if rel != 0 {
			st, _ := c.s.Fstat(fd)
			if want = int64(st.Size) + size; rel == '-' {
				want = max(0, int64(st.Size)-size)
			}
		}
		if e := c.s.do1("ftruncate", fd, int(want)); e != 0 {
			c.errorf("failed to truncate %s at %d bytes: %s", quoted(f), want, e.Error())
			status = 1
		}
		c.s.Close(fd)
	}
	return status
}
