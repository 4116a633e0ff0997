// Package export writes what the rings hold in the files of other programs, and reads such files back.
//
// Main type: [Dat], the contents of a trace.dat of version 6, trace-cmd's and KernelShark's file: formats, symbols, names of
// tasks, and the rings' pages as they are. [Dat.Write] writes one; [ReadDat] reads one, of any kernel; [Dat.Report] prints
// its events by the formats that are in it.
//
// The package knows no kernel and no tracer: who exports fills in a Dat (see builtins/exportmod.go).
package export

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"kscope/ftrace/ring"
)

// Dat is a trace.dat: texts as tracefs has them, and pages as trace_pipe_raw gives them.
type Dat struct {
	HeaderPage  string
	HeaderEvent string
	Ftrace      []string // format files of events/ftrace
	Systems     []System
	Kallsyms    string // as /proc/kallsyms
	Printk      string // as printk_formats
	Cmdlines    string // as saved_cmdlines: "PID COMM"
	Clock       string // as trace_clock: "[local] global …"
	Uname       string
	Stats       []string   // per CPU: "CPU: N" and per_cpu/cpuN/stats
	Pages       [][]byte   // per CPU: whole pages
	Instances   []Instance // the other rings
}

// System is a directory of events/.
type System struct {
	Name    string
	Formats []string
}

// Instance is a ring of its own, with a name.
type Instance struct {
	Name  string
	Pages [][]byte
}

// The ids of options; see Documentation/trace-cmd/trace-cmd.dat.v6.5.txt of trace-cmd.
const (
	optDone       = 0
	optCPUStat    = 2
	optBuffer     = 3
	optTraceClock = 4
	optUname      = 5
)

const (
	datMagic  = "\x17\x08\x44tracing"
	flyrecord = "flyrecord\x00"
	optionsID = "options  \x00"
)

// datWriter collects the file: its parts point to each other by offset.
type datWriter struct{ bytes.Buffer }

func (w *datWriter) u16(x uint16)    { w.Write(binary.LittleEndian.AppendUint16(nil, x)) }
func (w *datWriter) u32(x uint32)    { w.Write(binary.LittleEndian.AppendUint32(nil, x)) }
func (w *datWriter) u64(x uint64)    { w.Write(binary.LittleEndian.AppendUint64(nil, x)) }
func (w *datWriter) text32(s string) { w.u32(uint32(len(s))); w.WriteString(s) }
func (w *datWriter) text64(s string) { w.u64(uint64(len(s))); w.WriteString(s) }
func (w *datWriter) name(s string)   { w.WriteString(s); w.WriteByte(0) }

func (w *datWriter) option(id uint16, data string) {
	w.u16(id)
	w.text32(data)
}

// Write writes the file. Its parts, in order:
//
//	magic "tracing" "6\0"   u8 0: little endian   u8 8: sizeof(long)   u32 page size
//	"header_page\0" u64 n, text   "header_event\0" u64 n, text
//	u32 n, formats of events/ftrace   u32 n, systems: name, u32 n, formats
//	u32 n, kallsyms   u32 n, printk_formats   u64 n, saved_cmdlines
//	u32 CPUs   "options  \0" options   "flyrecord\0" { u64 offset, u64 size } for each CPU   pages, each CPU's at a page's start
//	for each instance: a flyrecord of its own, found by an option
func (d *Dat) Write(to io.Writer) error {
	w := &datWriter{}
	w.WriteString(datMagic)
	w.name("6")
	w.Write([]byte{0, 8})
	w.u32(ring.PageSize)
	w.name("header_page")
	w.text64(d.HeaderPage)
	w.name("header_event")
	w.text64(d.HeaderEvent)
	w.u32(uint32(len(d.Ftrace)))
	for _, f := range d.Ftrace {
		w.text64(f)
	}
	w.u32(uint32(len(d.Systems)))
	for _, s := range d.Systems {
		w.name(s.Name)
		w.u32(uint32(len(s.Formats)))
		for _, f := range s.Formats {
			w.text64(f)
		}
	}
	w.text32(d.Kallsyms)
	w.text32(d.Printk)
	w.text64(d.Cmdlines)
	w.u32(uint32(len(d.Pages)))
	w.WriteString(optionsID)
	for _, s := range d.Stats {
		w.option(optCPUStat, s+"\x00")
	}
	w.option(optTraceClock, d.Clock+"\x00")
	w.option(optUname, d.Uname+"\x00")
	patch := make([]int, len(d.Instances)) // where each instance's offset goes
	for i, x := range d.Instances {
		patch[i] = w.Len() + 6
		w.option(optBuffer, "\x00\x00\x00\x00\x00\x00\x00\x00"+x.Name+"\x00")
	}
	w.u16(optDone)
	w.WriteString(flyrecord)
	w.pages(d.Pages)
	for i, x := range d.Instances {
		binary.LittleEndian.PutUint64(w.Bytes()[patch[i]:], uint64(w.Len()))
		w.WriteString(flyrecord)
		w.pages(x.Pages)
	}
	_, err := to.Write(w.Bytes())
	return err
}

// pages writes the table of each CPU's part and the parts.
func (w *datWriter) pages(cpus [][]byte) {
	const size = ring.PageSize
	at := (w.Len() + 16*len(cpus) + size - 1) &^ (size - 1)
	for _, p := range cpus {
		w.u64(uint64(at))
		w.u64(uint64(len(p)))
		at += (len(p) + size - 1) &^ (size - 1)
	}
	for _, p := range cpus {
		w.align()
		w.Write(p)
	}
	w.align()
}

func (w *datWriter) align() {
	if n := w.Len() % ring.PageSize; n != 0 {
		w.Write(make([]byte, ring.PageSize-n))
	}
}

// RingPages are the pages of a ring as trace_pipe_raw would give them; the ring keeps them.
func RingPages(b *ring.Buffer) []byte {
	if b == nil {
		return nil
	}
	c := b.Clone()
	var out []byte
	var page [ring.PageSize]byte
	for {
		if _, ok := c.ReadPage(&page); !ok {
			return out
		}
		out = append(out, page[:]...)
	}
}

// KernelSymbol is a line of kallsyms.
func KernelSymbol(b []byte, addr uint64, kind byte, name, module string) []byte {
	b = fmt.Appendf(b, "%016x %c %s", addr, kind, name)
	if module != "" {
		b = append(append(append(b, "\t["...), module...), ']')
	}
	return append(b, '\n')
}

// split cuts text into lines without the last newline.
func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
