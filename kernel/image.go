package kernel

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"sort"

	"kscope/kernel/guest"
)

// Image is a guest kernel's ELF file, parsed once and shared by every machine that runs it. It never changes.
type Image struct {
	ELF   *elf.File
	Syms  *Symbols
	Types *Types
	Hash  [sha256.Size]byte

	segments           []segment
	end                uint64 // physical, of the last segment
	gates              map[string]uint64
	gateNames          []string
	gateStart, gateEnd uint64
	perCPUSize         uint64
	lay                *layouts
}

// segment is a PT_LOAD.
type segment struct {
	va, pa, size uint64 // size in memory
	data         []byte
	flags        elf.ProgFlag
}

const (
	maxImage  = 64 << 20
	loadStart = 0x01000000 // physical, of kernel text
)

// ImageError says what is wrong with an image.
type ImageError struct{ Msg string }

func (e *ImageError) Error() string { return "guest image: " + e.Msg }

func imageErrorf(format string, args ...any) error {
	return &ImageError{fmt.Sprintf(format, args...)}
}

// LoadImage parses an ELF file; nil is the embedded guest. Nothing in a corrupt or foreign file makes it panic.
func LoadImage(raw []byte) (img *Image, err error) {
	if raw == nil {
		raw = guest.Kernel()
	}
	// debug/elf promises no panics for the tables, but symbol and string tables of fuzzed files have found some.
	defer func() {
		if r := recover(); r != nil {
			img, err = nil, imageErrorf("corrupt: %v", r)
		}
	}()
	f, err := elf.NewFile(bytes.NewReader(raw))
	if err != nil {
		return nil, imageErrorf("not an ELF file: %v", err)
	}
	switch {
	case f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB:
		return nil, imageErrorf("%v %v: must be little-endian ELF64", f.Class, f.Data)
	case f.Machine != elf.EM_X86_64:
		return nil, imageErrorf("built for %v: must be x86-64", f.Machine)
	case f.Type != elf.ET_EXEC:
		return nil, imageErrorf("%v: must be a fully linked ET_EXEC", f.Type)
	}
	img = &Image{ELF: f, Hash: sha256.Sum256(raw), Types: NewTypes(f)}
	if err := img.readSegments(f, uint64(len(raw))); err != nil {
		return nil, err
	}
	if img.Syms, err = NewSymbols(f); err != nil {
		return nil, imageErrorf("%v", err)
	}
	if s := f.Section(PerCPUSection); s != nil {
		img.perCPUSize = s.Size
	}
	if err := img.readGates(); err != nil {
		return nil, err
	}
	return img, nil
}

// readSegments checks that every PT_LOAD lies where boot's page tables will show it.
func (img *Image) readSegments(f *elf.File, fileSize uint64) error {
	for i, p := range f.Progs {
		if p.Type != elf.PT_LOAD || p.Memsz == 0 {
			continue
		}
		switch {
		case p.Filesz > p.Memsz || p.Off > fileSize || p.Filesz > fileSize-p.Off:
			return imageErrorf("segment %d: %#x bytes at offset %#x do not fit a file of %#x", i, p.Filesz, p.Off, fileSize)
		case p.Memsz > maxImage || p.Paddr < loadStart || p.Paddr > loadStart+maxImage-p.Memsz:
			return imageErrorf("segment %d: physical %#x to %#x is outside %#x to %#x", i, p.Paddr, p.Paddr+p.Memsz,
				uint64(loadStart), uint64(loadStart+maxImage))
		case p.Vaddr >= kernelBase && p.Vaddr-kernelBase != p.Paddr:
			return imageErrorf("segment %d: virtual %#x must be physical %#x + %#x", i, p.Vaddr, p.Paddr, uint64(kernelBase))
		case p.Vaddr < kernelBase && p.Vaddr > maxImage:
			return imageErrorf("segment %d: virtual %#x is no kernel address", i, p.Vaddr)
		}
		data := make([]byte, p.Filesz)
		if _, err := p.ReadAt(data, 0); err != nil && p.Filesz > 0 {
			return imageErrorf("segment %d: %v", i, err)
		}
		s := segment{va: p.Paddr + kernelBase, pa: p.Paddr, size: p.Memsz, data: data, flags: p.Flags}
		img.segments = append(img.segments, s)
		img.end = max(img.end, s.pa+s.size)
	}
	if img.segments == nil {
		return imageErrorf("no PT_LOAD segment")
	}
	return nil
}

// readGates finds the gate page and its symbols.
func (img *Image) readGates() error {
	img.gates = map[string]uint64{}
	var ok, ok2 bool
	img.gateStart, ok = img.lookup("__gates_start")
	img.gateEnd, ok2 = img.lookup("__gates_end")
	if !ok || !ok2 || img.gateEnd < img.gateStart || img.gateEnd-img.gateStart > 64<<10 {
		return imageErrorf("no gate page (symbols __gates_start and __gates_end): not a kscope guest")
	}
	for _, s := range img.Syms.All() {
		if s.Addr < img.gateStart || s.Addr >= img.gateEnd || !s.Text() {
			continue
		}
		if s.Addr%16 != 0 {
			return imageErrorf("gate %s at %#x: must be a multiple of 16", s.Name, s.Addr)
		}
		if s.Name == "__gates_start" || s.Name == "__gates_end" {
			continue
		}
		img.gates[s.Name] = s.Addr
		img.gateNames = append(img.gateNames, s.Name)
	}
	sort.Strings(img.gateNames)
	return nil
}

// gateName is the gate at an address, "" for none.
func (img *Image) gateName(va uint64) string {
	for _, name := range img.gateNames {
		if img.gates[name] == va {
			return name
		}
	}
	return ""
}

// lookup is the address of a symbol, ok false when there is none.
func (img *Image) lookup(name string) (uint64, bool) {
	rows := img.Syms.ByName(name)
	if len(rows) == 0 {
		return 0, false
	}
	return rows[0].Addr, true
}

// layouts are the addresses and offsets that the machine itself needs, read once from symbols and DWARF.
type layouts struct {
	currentTask, preemptCount                         uint64 // per-CPU offsets
	perCPUOffset                                      uint64 // physical address of __per_cpu_offset
	taskPid, taskTgid, taskComm, taskSize, taskParent uint64
	taskState, taskOnRq                               uint64
	startup, secondary, stackTop                      uint64
	initialStack, initialGS                           uint64 // physical addresses
	bootParams                                        uint64 // physical address
	params                                            map[string]field
	req                                               struct{ id, op, flags, ret, pos, len, arg, path, buf uint64 }
	taskTasks, initTask                               uint64 // offset of list_head tasks; address of init_task
	taskSP                                            uint64 // offset of thread.sp, 0 = unknown
}

type field struct{ off, size uint64 }

func (img *Image) layouts() (_ *layouts, err error) {
	defer func() {
		if r := recover(); r != nil { // debug/dwarf, on a corrupt file
			err = imageErrorf("corrupt DWARF: %v", r)
		}
	}()
	if img.lay != nil {
		return img.lay, nil
	}
	l := &layouts{params: map[string]field{}}
	for _, row := range []struct {
		name string
		phys bool
		to   *uint64
	}{
		{"current_task", false, &l.currentTask}, {"__preempt_count", false, &l.preemptCount},
		{"__per_cpu_offset", true, &l.perCPUOffset}, {"startup_64", false, &l.startup},
		{"secondary_startup_64", false, &l.secondary}, {"init_stack_top", false, &l.stackTop},
		{"initial_stack", true, &l.initialStack}, {"initial_gs", true, &l.initialGS},
		{"boot_params", true, &l.bootParams}, {"init_task", false, &l.initTask},
	} {
		va, ok := img.lookup(row.name)
		if !ok {
			return nil, imageErrorf("no symbol %s: not a kscope guest", row.name)
		}
		if row.phys {
			if va < kernelBase || va-kernelBase >= img.end {
				return nil, imageErrorf("symbol %s at %#x is outside the image", row.name, va)
			}
			va -= kernelBase
		}
		*row.to = va
	}
	if err := img.structs(l); err != nil {
		return nil, err
	}
	img.lay = l
	return l, nil
}

// structs reads the offsets from DWARF.
func (img *Image) structs(l *layouts) error {
	task, params := img.Types.Struct("task_struct"), img.Types.Struct("boot_params")
	req := img.Types.Struct("kscope_req")
	if task == nil || params == nil || req == nil {
		return imageErrorf("no DWARF of task_struct, boot_params and kscope_req: built without -g?")
	}
	l.taskSize = uint64(task.Size)
	for _, row := range []struct {
		t    *Type
		name string
		to   *uint64
	}{
		{task, "pid", &l.taskPid}, {task, "tgid", &l.taskTgid}, {task, "comm", &l.taskComm}, {task, "real_parent", &l.taskParent},
		{task, "__state", &l.taskState}, {task, "on_rq", &l.taskOnRq}, {task, "tasks", &l.taskTasks},
		{req, "id", &l.req.id}, {req, "op", &l.req.op}, {req, "flags", &l.req.flags}, {req, "ret", &l.req.ret},
		{req, "pos", &l.req.pos}, {req, "len", &l.req.len}, {req, "arg", &l.req.arg}, {req, "path", &l.req.path},
		{req, "buf", &l.req.buf},
	} {
		f := row.t.Field(row.name)
		if f.Type == nil {
			return imageErrorf("%s has no member %s", row.t.Name, row.name)
		}
		*row.to = uint64(f.Offset)
	}
	if thread := task.Field("thread"); thread.Type != nil {
		if sp := thread.Type.Field("sp"); sp.Type != nil {
			l.taskSP = uint64(thread.Offset + sp.Offset)
		}
	}
	for _, f := range params.Fields {
		l.params[f.Name] = field{uint64(f.Offset), uint64(f.Type.Size)}
	}
	return nil
}
