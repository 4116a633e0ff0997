package ftrace

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"kscope/kernel"
)

// File is a row of the tracefs table. Path may hold one "*", for which Each gives the names: CPUs, options, events.
//
// A row has either Text (the whole content, made when reading begins) or Open and Read (a reader of its own). Write gets
// each write; what a row does at open with O_TRUNC, and at close, is in Open and Close.
type File struct {
	Path    string
	Mode    uint16 // permission bits
	Doc     string
	Partial string // what is missing against Linux 6.1; "" when nothing is
	Each    func(t *Tracer) []string
	Open    func(h *Handle) error
	Text    func(h *Handle, b []byte) ([]byte, error)
	Read    func(h *Handle, buf []byte) (int, error)
	Ready   func(h *Handle) bool // a read of a blocking file would not wait
	Write   func(h *Handle, p []byte) (int, error)
	Close   func(h *Handle) error
	Top     bool // only at the top, not in instances
	Once    bool // a read that does not begin at 0 gets nothing
	Whole   bool // a read with no room for the text and a NUL is EINVAL

	// Splice fills a page with what splice(2) of so many bytes gets next, as gateSplice says; SpliceReady: it would not wait.
	Splice      func(h *Handle, page []byte, n uint64, waited bool) (int, error)
	SpliceReady func(h *Handle) bool
}

// Flags of open; see include/uapi/asm-generic/fcntl.h.
const (
	oAccess   = 3
	oWronly   = 1
	oTrunc    = 0o1000
	oAppend   = 0o2000
	oNonblock = 0o4000
)

// Handle is an open file.
type Handle struct {
	T     *Tracer
	File  *File
	Arg   string       // what the row's "*" stands for
	CPU   int          // per_cpu files: the CPU; else -1
	VCPU  *kernel.VCPU // the CPU that makes the current call
	Flags uint32

	pos   uint64 // of the current read
	text  []byte // of a Text row, once read
	fresh bool   // text is there
	waits bool   // the last read had to wait
	ended bool   // see EndReaders
	state any    // of the row; forker when it must follow a fork of the machine
}

// forker is a Handle's state that holds references to its tracer.
type forker interface{ fork(t *Tracer) any }

// Readable and Writable tell how the file was opened.
func (h *Handle) Readable() bool { return h.Flags&oAccess != oWronly }
func (h *Handle) Writable() bool { return h.Flags&oAccess != 0 }

// node is a file or directory.
type node struct {
	t      *Tracer // whose file it is
	name   string
	id     uint64
	parent *node
	file   *File // nil: a directory
	arg    string
	cpu    int
	kids   []*node // sorted by name
}

const (
	modeDir = 0o040000
	modeReg = 0o100000

	rootID      = 1
	debugRootID = 2 // of debugfs, which the guest serves by the same gates: DEBUGFS_ROOT_ID in its fs/tracefs.c
)

func (n *node) mode() uint32 {
	if n.file != nil {
		return modeReg | uint32(n.file.Mode)
	}
	if n.parent == nil {
		return modeDir | 0o700
	}
	return modeDir | 0o750
}

func (n *node) child(name string) *node {
	i := sort.Search(len(n.kids), func(i int) bool { return n.kids[i].name >= name })
	if i < len(n.kids) && n.kids[i].name == name {
		return n.kids[i]
	}
	return nil
}

// FS is a tracefs: the tree that the table makes, and what is open in it.
type FS struct {
	t      *Tracer
	nodes  map[uint64]*node
	lastID uint64
	open   map[uint64]*Handle
	lastFD uint64
}

// newFS builds the tree of the whole table.
func newFS(t *Tracer) *FS {
	fs := &FS{t: t, nodes: map[uint64]*node{}, open: map[uint64]*Handle{}}
	fs.add(nil, "").t = t
	fs.add(nil, "").t = t
	fs.add(fs.nodes[debugRootID], "tracing") // where the guest mounts tracefs a second time
	fs.add(fs.nodes[rootID], "instances")
	for i := range files {
		fs.AddFile(&files[i])
	}
	return fs
}

// addInstance makes the directory of an instance.
func (fs *FS) addInstance(t *Tracer) {
	dir := fs.add(fs.find("instances"), t.name)
	dir.t = t
	for i := range files {
		if f := &files[i]; !f.Top {
			fs.addRow(dir, f)
		}
	}
	for _, ev := range t.root().catalog {
		t.addEventFiles(ev)
	}
}

// rootOf is the directory of a tracer.
func (fs *FS) rootOf(t *Tracer) *node {
	if t.top == nil {
		return fs.nodes[rootID]
	}
	return fs.find("instances/" + t.name)
}

// fork copies the tree and the open files for a copy of the tracer. The ids stay: the guest knows them.
func (fs *FS) fork(t *Tracer) *FS {
	n := &FS{t: t, nodes: make(map[uint64]*node, len(fs.nodes)), lastID: fs.lastID, open: make(map[uint64]*Handle, len(fs.open)), lastFD: fs.lastFD}
	n.copyTree(fs.nodes[rootID], nil)
	n.copyTree(fs.nodes[debugRootID], nil)
	for fd, h := range fs.open {
		c := *h
		c.T, c.VCPU = n.forkOf(h.T), nil
		c.text = slices.Clone(h.text)
		if s, ok := h.state.(forker); ok {
			c.state = s.fork(c.T)
		}
		n.open[fd] = &c
	}
	return n
}

// forkOf is the fork of a tracer of the tree that is copied.
func (fs *FS) forkOf(t *Tracer) *Tracer {
	if t.top == nil {
		return fs.t
	}
	n, _ := fs.t.Instance(t.name)
	return n
}

func (fs *FS) copyTree(from, parent *node) *node {
	c := *from
	c.t = fs.forkOf(from.t)
	c.parent, c.kids = parent, make([]*node, len(from.kids))
	fs.nodes[c.id] = &c
	for i, k := range from.kids {
		c.kids[i] = fs.copyTree(k, &c)
	}
	return &c
}

// add makes a node; there must be none of that name.
func (fs *FS) add(dir *node, name string) *node {
	fs.lastID++
	n := &node{name: name, id: fs.lastID, parent: dir, cpu: -1}
	fs.nodes[n.id] = n
	if dir != nil {
		n.t = dir.t
		i := sort.Search(len(dir.kids), func(i int) bool { return dir.kids[i].name >= name })
		dir.kids = slices.Insert(dir.kids, i, n)
	}
	return n
}

// AddFile adds a row to the tree, with its directories, at the top.
func (fs *FS) AddFile(f *File) { fs.addRow(fs.nodes[rootID], f) }

// AddDebugFile adds a row to debugfs, whose path is below /sys/kernel/debug. Its files are the guest's only: Open and find do
// not see them.
func (fs *FS) AddDebugFile(f *File) { fs.addRow(fs.nodes[debugRootID], f) }

func (fs *FS) addRow(root *node, f *File) {
	if f.Each == nil {
		fs.place(root, f, f.Path, "", -1)
		return
	}
	before, after, _ := strings.Cut(f.Path, "*")
	for i, name := range f.Each(root.t) {
		cpu := -1
		if strings.HasPrefix(f.Path, "per_cpu/") || strings.HasPrefix(f.Path, "trace_stat/") {
			cpu = i
		}
		fs.place(root, f, before+name+after, name, cpu)
	}
}

func (fs *FS) place(dir *node, f *File, path, arg string, cpu int) {
	names := strings.Split(path, "/")
	for i, name := range names {
		n := dir.child(name)
		if n == nil {
			n = fs.add(dir, name)
		}
		if i == len(names)-1 {
			n.file, n.arg, n.cpu = f, arg, cpu
		}
		dir = n
	}
}

// Remove takes a file or directory out of the tree, with all below. Open files stay open.
func (fs *FS) Remove(path string) error {
	n := fs.find(path)
	if n == nil || n.parent == nil {
		return kernel.ENOENT
	}
	fs.drop(n)
	return nil
}

func (fs *FS) drop(n *node) {
	n.parent.kids = slices.DeleteFunc(n.parent.kids, func(k *node) bool { return k == n })
	fs.forget(n)
}

func (fs *FS) forget(n *node) {
	delete(fs.nodes, n.id)
	for _, k := range n.kids {
		fs.forget(k)
	}
}

func (fs *FS) find(path string) *node { return fs.nodes[rootID].find(path) }

// find follows a path from n down; nil when it leads nowhere.
func (n *node) find(path string) *node {
	for _, name := range strings.Split(strings.Trim(path, "/"), "/") {
		if name == "" {
			continue
		}
		if n = n.child(name); n == nil {
			return nil
		}
	}
	return n
}

// DirEntry is one name of a directory.
type DirEntry struct {
	Name string
	Dir  bool
	Mode uint32
	Row  *File // nil for a directory
}

// List gives a directory's names, sorted.
func (fs *FS) List(path string) ([]DirEntry, error) {
	n := fs.find(path)
	switch {
	case n == nil:
		return nil, kernel.ENOENT
	case n.file != nil:
		return nil, kernel.ENOTDIR
	}
	var out []DirEntry
	for _, k := range n.kids {
		out = append(out, DirEntry{k.name, k.file == nil, k.mode(), k.file})
	}
	return out, nil
}

// Open opens a file by path. c is the CPU on whose behalf the calls are made.
func (fs *FS) Open(c *kernel.VCPU, path string, flags uint32) (*Handle, error) {
	n := fs.find(path)
	if n == nil {
		return nil, kernel.ENOENT
	}
	return fs.openNode(c, n, flags)
}

func (fs *FS) openNode(c *kernel.VCPU, n *node, flags uint32) (*Handle, error) {
	if n.file == nil {
		if flags&oAccess != 0 {
			return nil, kernel.EISDIR
		}
		return nil, kernel.EINVAL // reading a directory is tracefs_iterate's work
	}
	h := &Handle{T: n.t, File: n.file, Arg: n.arg, CPU: n.cpu, VCPU: c, Flags: flags}
	if n.file.Open != nil {
		if err := n.file.Open(h); err != nil {
			return nil, err
		}
	}
	h.T.opens++
	return h, nil
}

// Read reads at pos; 0 bytes are the end. EAGAIN: a blocking file has nothing yet.
func (h *Handle) Read(buf []byte, pos uint64) (int, error) {
	f := h.File
	h.pos = pos
	switch {
	case !h.Readable():
		return 0, kernel.EBADF
	case f.Read != nil:
		return f.Read(h, buf)
	case f.Text == nil:
		return 0, kernel.EINVAL
	}
	if !h.fresh || pos == 0 {
		text, err := f.Text(h, h.text[:0])
		if err != nil {
			return 0, err
		}
		h.text, h.fresh = text, true
	}
	switch {
	case f.Whole && len(h.text) >= len(buf):
		return 0, kernel.EINVAL
	case pos >= uint64(len(h.text)) || f.Once && pos > 0:
		return 0, nil
	}
	return copy(buf, seqRead(h.text[pos:], len(buf))), nil
}

// seqSize is the buffer of a seq_file: a read of so much or more returns whole lines, as many as fit, or a part of one longer line. It
// is what decides how many reads a cat takes, and so what a trace of vfs_read shows of it.
const seqSize = 4096

// seqRead is what a read of size bytes gets of b: a smaller one is filled, while the line that it breaks off in fits into the
// buffer (seq_read_iter).
func seqRead(b []byte, size int) []byte {
	if size >= seqSize || size == 0 || len(b) <= size {
		return wholeLines(b, min(size, seqSize))
	}
	if end := size + bytes.IndexByte(b[size-1:], '\n'); end <= seqSize {
		return b[:size]
	}
	return wholeLines(b, size)
}

// wholeLines cuts b to the lines that fit into size bytes.
func wholeLines(b []byte, size int) []byte {
	if len(b) <= size {
		return b
	}
	if i := bytes.LastIndexByte(b[:size], '\n'); i >= 0 {
		return b[:i+1]
	}
	return b[:size]
}

// Write writes; a short count means that the rest must be written again, as trace_marker asks for.
func (h *Handle) Write(p []byte) (int, error) {
	switch {
	case !h.Writable():
		return 0, kernel.EBADF
	case h.File.Write == nil:
		return 0, kernel.EINVAL
	}
	return h.File.Write(h, p)
}

// Close closes. Its error is lost to a close(2), as on Linux; what the file could not do is undone or partly done.
func (h *Handle) Close() error {
	h.T.opens--
	if h.File.Close != nil {
		return h.File.Close(h)
	}
	return nil
}

// ReadFile reads a whole file on c's behalf; a blocking one up to where it would wait.
func (fs *FS) ReadFile(c *kernel.VCPU, path string) ([]byte, error) {
	h, err := fs.Open(c, path, oNonblock)
	if err != nil {
		return nil, err
	}
	var out []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := h.Read(buf, uint64(len(out)))
		out = append(out, buf[:n]...)
		if n == 0 || err != nil {
			if err == kernel.EAGAIN {
				err = nil
			}
			if cerr := h.Close(); err == nil {
				err = cerr
			}
			return out, err
		}
	}
}

// WriteFile does what the shell's `> path` or, with app, `>> path` does with data. It must run where pokes are flushed
// afterwards: in a gate, or in kernel.Machine.Do.
func (fs *FS) WriteFile(c *kernel.VCPU, path string, data []byte, app bool) error {
	flags := uint32(oWronly | oTrunc)
	if app {
		flags = oWronly | oAppend
	}
	h, err := fs.Open(c, path, flags)
	if err != nil {
		return err
	}
	for len(data) > 0 && err == nil {
		var n int
		if n, err = h.Write(data); n == 0 && err == nil {
			break
		}
		data = data[n:]
	}
	if cerr := h.Close(); err == nil {
		err = cerr
	}
	return err
}

// Rows is the table, with the rows of other packages that were added to the tree (in order of path).
func (fs *FS) Rows() []*File {
	seen := map[*File]bool{}
	var out []*File
	var walk func(n *node)
	walk = func(n *node) {
		if n.file != nil && !seen[n.file] {
			seen[n.file] = true
			out = append(out, n.file)
		}
		for _, k := range n.kids {
			walk(k)
		}
	}
	walk(fs.nodes[rootID])
	return out
}
