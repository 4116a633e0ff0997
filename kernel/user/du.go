package user

import (
	"fmt"
	"strconv"
)

var duOptions = []option{{'a', "all", false, 0}, {'b', "bytes", false, 0}, {'c', "total", false, 0}, {'d', "max-depth", true, 0}, {'h', "human-readable", false, 0},
	{'k', "", false, 0}, {'s', "summarize", false, 0}}

// duRun is one run of du.
type duRun struct {
	c    *cmd
	on   [256]bool
	max  int
	seen map[[2]uint64]bool // files with several names
	bad  bool
}

// du tells what directories take: blocks of 1024 bytes, or bytes with -b.
func du(c *cmd) int {
	found, files, status, done := c.parse(duOptions, 1)
	if done {
		return status
	}
	r := &duRun{c: c, max: -1, seen: map[[2]uint64]bool{}}
	for _, o := range found {
		if r.on[o.id] = true; o.id == 'd' {
			n, err := strconv.Atoi(o.value)
			if err != nil || n < 0 {
				c.errorf("invalid maximum depth %s", quoted(o.value))
				return c.tryHelp(1)
			}
			r.max = n
		}
	}
	if r.on['s'] && r.on['a'] {
		c.errorf("cannot both summarize and show all entries")
		return c.tryHelp(1)
	}
	if r.on['s'] {
		r.max = 0
	}
	total := uint64(0)
	if len(files) == 0 {
		files = []string{"."}
	}
	for _, f := range files {
		total += r.walk(f, 0)
	}
	if r.on['c'] {
		r.show(total, "total")
	}
	return map[bool]int{true: 1}[r.bad]
}

// walk shows what is below a file, and then itself.
func (r *duRun) walk(file string, depth int) (size uint64) {
	st, e := r.c.s.Lstat(file)
	if e != 0 {
		r.c.errorf("cannot access %s: %s", quoted(file), e.Error())
		r.bad = true
		return 0
	}
	isDir := st.Mode&modeType == modeDir
	if !isDir && st.Nlink > 1 {
		if id := [2]uint64{st.Dev, st.Ino}; r.seen[id] {
			return 0
		} else {
			r.seen[id] = true
		}
	}
	if size = uint64(st.Blocks) * 512; r.on['b'] {
		size = uint64(st.Size)
	}
	if isDir {
		entries, e := r.c.s.ReadDir(file)
		if e != 0 {
			r.c.errorf("cannot read directory %s: %s", quoted(file), e.Error())
			r.bad = true
		}
		for _, entry := range entries {
			if entry.Name != "." && entry.Name != ".." {
				size += r.walk(joinPath(file, entry.Name), depth+1)
			}
		}
	}
	if (isDir || r.on['a'] || depth == 0) && (r.max < 0 || depth <= r.max) {
		r.show(size, file)
	}
	return size
}

func (r *duRun) show(size uint64, name string) {
	text := strconv.FormatUint(size, 10)
	switch {
	case r.on['h']:
		text = humanSize(size)
	case !r.on['b']:
		text = fmt.Sprint((size + 1023) / 1024)
	}
	r.c.printf("%s\t%s\n", text, name)
}
