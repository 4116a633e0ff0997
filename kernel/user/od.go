package user

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

var odOptions = []option{{'A', "address-radix", true, 0}, {'j', "skip-bytes", true, 0}, {'N', "read-bytes", true, 0}, {'t', "format", true, 0}, {'v', "output-duplicates", false, 0},
	{'w', "width?", true, 0}, {'a', "", false, 0}, {'b', "", false, 0}, {'c', "", false, 0}, {'d', "", false, 0}, {'f', "", false, 0}, {'i', "", false, 0}, {'l', "", false, 0}, {'o', "", false, 0},
	{'s', "", false, 0}, {'x', "", false, 0}}

// odFormat is one -t: a letter, the size of an item, z for text at the end.
type odFormat struct {
	kind  byte // a c d o u x f
	size  int
	text  bool
	width int // of an item
}

// odShort is the old single-letter forms. Read-only.
var odShort = map[byte]string{'a': "a", 'b': "o1", 'c': "c", 'd': "u2", 'f': "fF", 'i': "dI", 'l': "dL", 'o': "o2", 's': "d2", 'x': "x2"}

func od(c *cmd) int {
	found, files, status, done := c.parse(odOptions, 1)
	if done {
		return status
	}
	radix, width, all := byte('o'), 16, false
	skip, limit := int64(0), int64(-1)
	var formats []odFormat
	add := func(text string) bool {
		fs, msg := odParse(text)
		if msg != "" {
			c.errorf("%s", msg)
			return false
		}
		formats = append(formats, fs...)
		return true
	}
	for _, o := range found {
		ok := true
		switch o.id {
		case 'A':
			if radix = o.value[0]; len(o.value) != 1 || strings.IndexByte("doxn", radix) < 0 {
				c.errorf("invalid output address radix '%s'; it must be one character from [doxn]", o.value)
				return 1
			}
		case 'j':
			skip, ok = odNumber(o.value)
		case 'N':
			limit, ok = odNumber(o.value)
		case 't':
			if !add(o.value) {
				return 1
			}
		case 'v':
			all = true
		case 'w':
			width = 32
			if o.value != "" {
				n, k := odNumber(o.value)
				width, ok = int(n), k && n > 0
			}
		default:
			add(odShort[o.id])
		}
		if !ok {
			c.errorf("invalid -%c argument %s", o.id, quoted(o.value))
			return 1
		}
	}
	if len(formats) == 0 {
		add("o2")
	}
	data, opened, status := odRead(c, orStdin(files), skip, limit)
	if opened == 0 {
		return status
	}
	if skip > int64(len(data)) {
		c.errorf("cannot skip past end of combined input")
		return 1
	}
	data = data[skip:]
	if limit >= 0 && int64(len(data)) > limit {
		data = data[:limit]
	}
	odDump(c, data, skip, formats, radix, width, all)
	return status
}

// odRead reads the files one behind the other, no more than needed.
func odRead(c *cmd, files []string, skip, limit int64) (data []byte, opened, status int) {
	for _, f := range files {
		in, ok := c.input(f, "")
		if !ok {
			status = 1
			continue
		}
		opened++
		for limit < 0 || int64(len(data)) < skip+limit {
			if !in.fill() {
				break
			}
			data, in.buf = append(data, in.buf...), nil
		}
		if in.err != 0 {
			c.fail(f, in.err)
			status = 1
		}
		in.close()
	}
	return data, opened, status
}

func odNumber(text string) (int64, bool) {
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X") {
		var n int64
		_, err := fmt.Sscanf(text[2:], "%x", &n)
		return n, err == nil
	}
	return sizeOf(text)
}

func odParse(text string) (out []odFormat, msg string) {
	for i := 0; i < len(text); {
		f := odFormat{kind: text[i]}
		i++
		switch f.kind {
		case 'a', 'c':
			f.size = 1
		case 'd', 'o', 'u', 'x', 'f':
			f.size = 4
			if f.kind == 'f' {
				f.size = 8
			}
			if i < len(text) {
				if n := map[byte]int{'C': 1, 'S': 2, 'I': 4, 'L': 8, 'F': 4, 'D': 8, '1': 1, '2': 2, '4': 4, '8': 8}[text[i]]; n > 0 {
					f.size = n
					i++
				}
			}
		default:
			return nil, fmt.Sprintf("invalid character '%c' in type string %s", f.kind, quoted(text))
		}
		if i < len(text) && text[i] == 'z' {
			f.text = true
			i++
		}
		f.width = map[byte][]int{'a': {1: 3}, 'c': {1: 3}, 'd': {1: 4, 2: 6, 4: 11, 8: 20}, 'u': {1: 3, 2: 5, 4: 10, 8: 20}, 'o': {1: 3, 2: 6, 4: 11, 8: 22},
			'x': {1: 2, 2: 4, 4: 8, 8: 16}, 'f': {4: 15, 8: 24, 1: 0, 2: 0}}[f.kind][f.size]
		out = append(out, f)
	}
	return out, ""
}

func odDump(c *cmd, data []byte, at int64, formats []odFormat, radix byte, width int, all bool) {
	unit := 1 // bytes of the widest item; columns of all formats line up on it
	cell := 0
	for _, f := range formats {
		unit = max(unit, f.size)
	}
	for _, f := range formats {
		cell = max(cell, (f.width+1)*unit/f.size)
	}
	address := func(n int64) string {
		switch radix {
		case 'd':
			return fmt.Sprintf("%07d", n)
		case 'x':
			return fmt.Sprintf("%06x", n)
		case 'n':
			return ""
		}
		return fmt.Sprintf("%07o", n)
	}
	var last []byte
	starred := false
	for len(data) > 0 {
		n := min(width, len(data))
		row := data[:n]
		if !all && n == width && last != nil && bytes.Equal(row, last) {
			if !starred {
				c.printf("*\n")
			}
			starred = true
		} else {
			starred = false
			for i, f := range formats {
				head := address(at)
				if i > 0 {
					head = strings.Repeat(" ", len(head))
				}
				c.printf("%s%s\n", head, odRow(row, f, width, unit, cell))
			}
		}
		last, data, at = row, data[n:], at+int64(n)
	}
	if radix != 'n' {
		c.printf("%s\n", address(at))
	}
}

func odRow(row []byte, f odFormat, width, unit, cell int) string {
	var out strings.Builder
	per := unit / f.size // items to a cell
	for i := 0; i < len(row); i += f.size {
		item := make([]byte, 8)
		copy(item, row[i:min(i+f.size, len(row))])
		// The cell's spare columns go in front of its items as evenly as od's pad() does.
		k := i / f.size % per
		spare := cell - per*(f.width+1)
		pad := spare*(k+1)/per - spare*k/per
		if f.kind == 'x' { // the usual one, without fmt
			for range pad + 1 {
				out.WriteByte(' ')
			}
			for k := f.size - 1; k >= 0; k-- {
				out.WriteByte("0123456789abcdef"[item[k]>>4])
				out.WriteByte("0123456789abcdef"[item[k]&15])
			}
			continue
		}
		fmt.Fprintf(&out, "%*s", f.width+1+pad, f.item(item))
	}
	if f.text {
		out.WriteString(strings.Repeat(" ", (width-len(row))/unit*cell) + "  >")
		for _, b := range row {
			if b < 32 || b > 126 {
				b = '.'
			}
			out.WriteByte(b)
		}
		out.WriteByte('<')
	}
	return out.String()
}

func (f *odFormat) item(b []byte) string {
	le := binary.LittleEndian
	v := le.Uint64(b)
	shift := 64 - 8*f.size
	signed := int64(v<<shift) >> shift
	switch f.kind {
	case 'a':
		return odNames[b[0]&0x7f]
	case 'c':
		if i := strings.IndexByte("\x00\a\b\f\n\r\t\v", b[0]); i >= 0 {
			return `\` + "0abfnrtv"[i:i+1]
		}
		if b[0] < 32 || b[0] > 126 {
			return fmt.Sprintf("%03o", b[0])
		}
		return string(rune(b[0]))
	case 'd':
		return fmt.Sprint(signed)
	case 'u':
		return fmt.Sprint(v)
	case 'o':
		return fmt.Sprintf("%0*o", f.width, v)
	case 'x':
		return fmt.Sprintf("%0*x", f.width, v)
	}
	if f.size == 4 {
		return fmt.Sprintf("%.8g", math.Float32frombits(uint32(v)))
	}
	return fmt.Sprintf("%.17g", math.Float64frombits(v))
}

// odNames are the names of -t a: ASCII's control characters, then the characters. Read-only.
var odNames = func() (out [128]string) {
	copy(out[:], strings.Fields("nul soh stx etx eot enq ack bel bs ht nl vt ff cr so si dle dc1 dc2 dc3 dc4 nak syn etb can em sub esc fs gs rs us sp"))
	for i := 33; i < 127; i++ {
		out[i] = string(rune(i))
	}
	out[127] = "del"
	return out
}()

var hexdumpOptions = []option{{'b', "one-byte-octal", false, 0}, {'c', "one-byte-char", false, 0}, {'C', "canonical", false, 0}, {'d', "two-bytes-decimal", false, 0},
	{'n', "length", true, 0}, {'o', "two-bytes-octal", false, 0}, {'s', "skip", true, 0}, {'v', "no-squeezing", false, 0}, {'x', "two-bytes-hex", false, 0},
	{'e', "format", true, 0}, {'f', "format-file", true, 0}}

// hexdump is util-linux's, without formats of one's own.
func hexdump(c *cmd) int {
	found, files, status, done := c.parse(hexdumpOptions, 1)
	if done {
		return status
	}
	kind, all := byte(0), false
	skip, limit := int64(0), int64(-1)
	for _, o := range found {
		ok := true
		switch o.id {
		case 'n':
			limit, ok = odNumber(o.value)
		case 's':
			skip, ok = odNumber(o.value)
		case 'v':
			all = true
		case 'e', 'f':
			c.errorf("option -%c is not supported", o.id)
			return 1
		default:
			kind = o.id
		}
		if !ok {
			c.errorf("failed to parse %s: '%s'", map[byte]string{'n': "length", 's': "offset"}[o.id], o.value)
			return 1
		}
	}
	var data []byte
	opened := 0
	for _, f := range orStdin(files) {
		in, e := c.tryInput(f)
		if e != 0 {
			c.errorf("%s: %s", f, e.Error())
			status = 1
			continue
		}
		opened++
		data = append(data, in.all()...)
		in.close()
	}
	if opened == 0 {
		c.errorf("all input file arguments failed")
		return 1
	}
	data = data[min(skip, int64(len(data))):]
	if limit >= 0 && int64(len(data)) > limit {
		data = data[:limit]
	}
	hexdumpOut(c, data, skip, kind, all)
	return status
}

func hexdumpOut(c *cmd, data []byte, at int64, kind byte, all bool) {
	var last []byte
	starred := false
	address := map[bool]string{true: "%08x", false: "%07x"}[kind == 'C']
	for len(data) > 0 {
		row := data[:min(16, len(data))]
		if !all && len(row) == 16 && last != nil && bytes.Equal(row, last) {
			if !starred {
				c.printf("*\n")
			}
			starred = true
		} else {
			starred = false
			c.printf(address+"%s\n", at, hexdumpRow(row, kind))
		}
		last, data, at = row, data[len(row):], at+int64(len(row))
	}
	if at > 0 {
		c.printf(address+"\n", at)
	}
}

func hexdumpRow(row []byte, kind byte) string {
	var out strings.Builder
	word := func(i int) uint16 {
		w := uint16(row[i])
		if i+1 < len(row) {
			w |= uint16(row[i+1]) << 8
		}
		return w
	}
	size, format, width := 2, "", 5
	switch kind {
	case 'C':
		for i := range 16 {
			if i%8 == 0 {
				out.WriteByte(' ')
			}
			if i < len(row) {
				fmt.Fprintf(&out, " %02x", row[i])
			} else {
				out.WriteString("   ")
			}
		}
		out.WriteString("  |")
		for _, b := range row {
			if b < 32 || b > 126 {
				b = '.'
			}
			out.WriteByte(b)
		}
		return out.String() + "|"
	case 'b':
		size, format, width = 1, " %03o", 4
	case 'c':
		size, width = 1, 4
	case 'd':
		format, width = "   %05d", 8
	case 'o':
		format, width = "  %06o", 8
	case 'x':
		format, width = "    %04x", 8
	default:
		format = " %04x"
	}
	for i := 0; i < 16; i += size {
		switch {
		case i >= len(row):
			out.WriteString(strings.Repeat(" ", width))
		case kind == 'c':
			f := odFormat{kind: 'c', size: 1}
			fmt.Fprintf(&out, "%4s", f.item([]byte{row[i], 0, 0, 0, 0, 0, 0, 0}))
		case size == 1:
			fmt.Fprintf(&out, format, row[i])
		default:
			fmt.Fprintf(&out, format, word(i))
		}
	}
	return out.String()
}
