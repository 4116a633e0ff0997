package export

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"kscope/ftrace/event"
	"kscope/ftrace/ring"
)

// DatError is a trace.dat that cannot be read: where, and why.
type DatError struct {
	Pos int
	Msg string
}

func (e *DatError) Error() string { return fmt.Sprintf("trace.dat: at byte %d: %s", e.Pos, e.Msg) }

// datReader reads the parts in order; the first error stays.
type datReader struct {
	b   []byte
	at  int
	err error
}

func (r *datReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &DatError{r.at, fmt.Sprintf(format, args...)}
	}
}

func (r *datReader) take(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.b)-r.at) {
		r.fail("%d bytes wanted, the file has %d more", n, len(r.b)-r.at)
		return make([]byte, min(n, 8))
	}
	b := r.b[r.at : r.at+int(n)]
	r.at += int(n)
	return b
}

func (r *datReader) u16() uint16    { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *datReader) u32() uint32    { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *datReader) u64() uint64    { return binary.LittleEndian.Uint64(r.take(8)) }
func (r *datReader) text32() string { return string(r.take(uint64(r.u32()))) }
func (r *datReader) text64() string { return string(r.take(r.u64())) }

func (r *datReader) want(s string) {
	if at := r.at; string(r.take(uint64(len(s)))) != s && r.err == nil {
		r.at = at
		r.fail("want %q", strings.TrimRight(s, "\x00"))
	}
}

func (r *datReader) name() string {
	for i := r.at; i < len(r.b); i++ {
		if r.b[i] == 0 {
			s := string(r.b[r.at:i])
			r.at = i + 1
			return s
		}
	}
	r.fail("name without end")
	return ""
}

// list reads n texts; n is checked against what the file can hold.
func (r *datReader) list(n uint32) (out []string) {
	for ; n > 0 && r.err == nil; n-- {
		out = append(out, r.text64())
	}
	return out
}

// ReadDat reads a trace.dat of version 6 whose pages are ring.PageSize long.
func ReadDat(b []byte) (*Dat, error) {
	r, d := &datReader{b: b}, &Dat{}
	if !bytes.HasPrefix(b, []byte(datMagic)) {
		return nil, errors.New("this is no trace.dat (kscope record writes one, and so does trace-cmd record)")
	}
	r.want(datMagic)
	if v := r.name(); v != "6" {
		r.fail("version %q, want 6", v)
	}
	if e := r.take(2); r.err == nil && (e[0] != 0 || e[1] != 8) {
		r.fail("not of a 64-bit little-endian machine")
	}
	if n := r.u32(); n != ring.PageSize {
		r.fail("pages of %d bytes", n)
	}
	r.want("header_page\x00")
	d.HeaderPage = r.text64()
	r.want("header_event\x00")
	d.HeaderEvent = r.text64()
	d.Ftrace = r.list(r.u32())
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		d.Systems = append(d.Systems, System{r.name(), r.list(r.u32())})
	}
	d.Kallsyms, d.Printk, d.Cmdlines = r.text32(), r.text32(), r.text64()
	cpus := r.u32()
	r.want(optionsID)
	buffers := r.options(d)
	r.want(flyrecord)
	d.Pages = r.pages(cpus)
	for i, at := range buffers {
		if r.err != nil || at > uint64(len(b)) {
			r.fail("instance %s at %#x", d.Instances[i].Name, at)
			break
		}
		r.at = int(at)
		r.want(flyrecord)
		d.Instances[i].Pages = r.pages(cpus)
	}
	if r.err != nil {
		return nil, r.err
	}
	return d, nil
}

// options reads the options and says where the instances are.
func (r *datReader) options(d *Dat) (buffers []uint64) {
	for r.err == nil {
		id := r.u16()
		if id == optDone {
			break
		}
		data := r.text32()
		text := strings.TrimRight(data, "\x00")
		switch id {
		case optCPUStat:
			d.Stats = append(d.Stats, text)
		case optTraceClock:
			d.Clock = text
		case optUname:
			d.Uname = text
		case optBuffer:
			if len(data) < 8 {
				r.fail("instance without offset")
				break
			}
			buffers = append(buffers, binary.LittleEndian.Uint64([]byte(data)))
			d.Instances = append(d.Instances, Instance{Name: strings.TrimRight(data[8:], "\x00")})
		}
	}
	return buffers
}

func (r *datReader) pages(cpus uint32) (out [][]byte) {
	for ; cpus > 0 && r.err == nil; cpus-- {
		at, n := r.u64(), r.u64()
		if r.err == nil && (at > uint64(len(r.b)) || n > uint64(len(r.b))-at) {
			r.fail("pages at %#x, %d bytes: beyond the end", at, n)
			break
		}
		if r.err == nil {
			out = append(out, r.b[at:at+n])
		}
	}
	return out
}

// Record is an event of a Dat.
type Record struct {
	TS     uint64
	CPU    int
	Lost   int64 // events lost before it; -1: an unknown number
	Header event.Header
	Format *event.Format // nil: no event of the file has its id
	Data   []byte
	Comm   string
}

// Records decodes the pages of all CPUs, in order of time; at equal times the lower CPU goes first.
func (d *Dat) Records() ([]Record, error) {
	formats, err := d.formats()
	if err != nil {
		return nil, err
	}
	comm := map[int32]string{0: "<idle>"}
	for _, line := range split(d.Cmdlines) {
		if pid, name, ok := strings.Cut(line, " "); ok {
			if n, err := strconv.ParseInt(pid, 10, 32); err == nil {
				comm[int32(n)] = name
			}
		}
	}
	var out []Record
	for cpu, b := range d.Pages {
		for len(b) >= ring.PageSize {
			page, lost := b[:ring.PageSize], int64(0)
			b = b[ring.PageSize:]
			start := len(out)
			lost, err := ring.DecodePage(page, func(e ring.Entry) bool {
				if h, ok := event.Parse(e.Data); e.Kind == ring.Data && ok {
					name, known := comm[h.PID]
					if !known {
						name = "<...>"
					}
					out = append(out, Record{TS: e.TS, CPU: cpu, Header: h, Format: formats[h.Type], Data: e.Data, Comm: name})
				}
				return true
			})
			if err != nil {
				return nil, fmt.Errorf("trace.dat: CPU %d: %w", cpu, err)
			}
			if start < len(out) {
				out[start].Lost = lost
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].TS < out[j].TS })
	return out, nil
}

// formats are the file's events by id.
func (d *Dat) formats() (map[uint16]*event.Format, error) {
	out := map[uint16]*event.Format{}
	add := func(system string, texts []string) error {
		for _, text := range texts {
			f, err := event.ParseFormat(system, text)
			if f == nil {
				return fmt.Errorf("trace.dat: %w", err)
			}
			for i := range event.Core { // the kernel's own way is better than their print fmt: stacks, trace_printk
				if c := &event.Core[i]; system == "ftrace" && c.Name == f.Name {
					f.Text = c.Text
				}
			}
			out[f.ID] = f // one whose print fmt is not understood prints its fields
		}
		return nil
	}
	if err := add("ftrace", d.Ftrace); err != nil {
		return nil, err
	}
	for _, s := range d.Systems {
		if err := add(s.Name, s.Formats); err != nil {
			return nil, err
		}
	}
	return out, nil
}
