package user

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"kscope/kernel"
)

// ddRun is one run of dd.
type ddRun struct {
	c                       *cmd
	in, out                 string
	ibs, obs                int64
	count, skip, seek       int64 // count -1: to the end
	notrunc, fsync          bool
	status                  string
	fdIn, fdOut             int
	pending                 []byte // short of an output block
	inFull, inPart          int64
	outFull, outPart, bytes int64
}

func dd(c *cmd) int {
	d := &ddRun{c: c, ibs: 512, obs: 512, count: -1, fdOut: 1}
	for _, a := range c.argv[1:] {
		if a == "--help" {
			c.help()
			return 0
		}
		if !d.operand(a) {
			return 1
		}
	}
	if !d.open() {
		return 1
	}
	start, _ := c.s.ClockGettime(1)
	ok := d.copy()
	if d.fsync && ok {
		const sysFsync = 74
		if _, e := c.s.Call(sysFsync, u64(d.fdOut)); e != 0 {
			c.errorf("fsync failed for %s: %s", quoted(d.out), e.Error())
			ok = false
		}
	}
	end, _ := c.s.ClockGettime(1)
	d.report(end - start)
	if !ok {
		return 1
	}
	return 0
}

// operand takes one NAME=VALUE.
func (d *ddRun) operand(a string) bool {
	name, value, ok := strings.Cut(a, "=")
	if !ok || strings.HasPrefix(a, "-") {
		d.c.errorf("unrecognized operand %s", quoted(a))
		d.c.tryHelp(1)
		return false
	}
	switch name {
	case "if":
		d.in = value
		return true
	case "of":
		d.out = value
		return true
	case "status":
		d.status = value
		if value != "none" && value != "noxfer" && value != "progress" {
			d.c.errorf("invalid status level: %s", quoted(value))
			d.c.tryHelp(1)
			return false
		}
		return true
	case "conv":
		return d.conv(value)
	}
	n, ok := ddNumber(value)
	switch name {
	case "bs":
		d.ibs, d.obs = n, n
	case "ibs":
		d.ibs = n
	case "obs":
		d.obs = n
	case "count":
		d.count = n
	case "skip", "iseek":
		d.skip = n
	case "seek", "oseek":
		d.seek = n
	default:
		d.c.errorf("unrecognized operand %s", quoted(a))
		d.c.tryHelp(1)
		return false
	}
	if !ok || strings.HasSuffix(name, "bs") && n <= 0 {
		d.c.errorf("invalid number: %s", quoted(value))
		return false
	}
	return true
}

func (d *ddRun) conv(list string) bool {
	for _, v := range strings.Split(list, ",") {
		switch v {
		case "notrunc":
			d.notrunc = true
		case "fsync", "fdatasync":
			d.fsync = true
		default:
			d.c.errorf("invalid conversion: %s", quoted(v))
			d.c.tryHelp(1)
			return false
		}
	}
	return true
}

// ddNumber parses NxM… of sizes.
func ddNumber(text string) (int64, bool) {
	product := int64(1)
	for _, part := range strings.Split(text, "x") {
		n, ok := sizeOf(part)
		if !ok || n != 0 && product > math.MaxInt64/n {
			return 0, false
		}
		product *= n
	}
	return product, true
}

func (d *ddRun) open() bool {
	var e kernel.Errno
	if d.in != "" {
		if d.fdIn, e = d.c.s.Open(d.in, oRdonly, 0); e != 0 {
			d.c.errorf("failed to open %s: %s", quoted(d.in), e.Error())
			return false
		}
	}
	if d.out != "" {
		flags := oWronly | oCreat
		if !d.notrunc && d.seek == 0 {
			flags |= oTrunc
		}
		if d.fdOut, e = d.c.s.Open(d.out, flags, 0o666); e != 0 {
			d.c.errorf("failed to open %s: %s", quoted(d.out), e.Error())
			return false
		}
	}
	if d.skip > 0 {
		if _, e := d.c.s.Lseek(d.fdIn, d.skip*d.ibs, 1); e != 0 {
			for range d.skip { // a pipe: read and drop
				if b, e := d.c.s.Read(d.fdIn, int(d.ibs)); e != 0 || len(b) == 0 {
					break
				}
			}
		}
	}
	if d.seek > 0 {
		d.c.s.Lseek(d.fdOut, d.seek*d.obs, 1)
	}
	return true
}

func (d *ddRun) copy() bool {
	buf, e := d.c.s.Alloc(int(min(d.ibs, 1<<30)))
	if e != 0 {
		d.c.errorf("memory exhausted by input buffer of size %d bytes", d.ibs)
		return false
	}
	for d.count < 0 || d.inFull+d.inPart < d.count {
		var n int
		var data []byte
		if d.ibs == d.obs {
			n, e = d.c.s.ReadInto(d.fdIn, buf)
		} else {
			data, e = d.c.s.ReadData(d.fdIn, buf)
			n = len(data)
		}
		if e != 0 {
			d.c.errorf("error reading %s: %s", quoted(nameOr(d.in, "standard input")), e.Error())
			return false
		}
		if n == 0 {
			break
		}
		if int64(n) == d.ibs {
			d.inFull++
		} else {
			d.inPart++
		}
		if d.ibs == d.obs {
			if !d.wrote(d.c.s.WriteFrom(d.fdOut, buf, n)) {
				return false
			}
			continue
		}
		d.pending = append(d.pending, data...)
		for int64(len(d.pending)) >= d.obs {
			if !d.wrote(d.c.s.Write(d.fdOut, d.pending[:d.obs])) {
				return false
			}
			d.pending = d.pending[d.obs:]
		}
	}
	return len(d.pending) == 0 || d.wrote(d.c.s.Write(d.fdOut, d.pending))
}

func (d *ddRun) wrote(n int, e kernel.Errno) bool {
	d.bytes += int64(n)
	switch {
	case int64(n) == d.obs:
		d.outFull++
	case n > 0:
		d.outPart++
	}
	if e != 0 {
		d.c.errorf("error writing %s: %s", quoted(nameOr(d.out, "standard output")), e.Error())
	}
	return e == 0
}

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// report prints the records and, unless noxfer, the transfer, as print_stats() of src/dd.c.
func (d *ddRun) report(ns uint64) {
	if d.status == "none" {
		return
	}
	text := fmt.Sprintf("%d+%d records in\n%d+%d records out\n", d.inFull, d.inPart, d.outFull, d.outPart)
	if d.status != "noxfer" {
		si, iec := human(float64(d.bytes), 1000, "B"), human(float64(d.bytes), 1024, "iB")
		size := fmt.Sprintf("%d bytes", d.bytes)
		switch {
		case d.bytes == 1:
			size = "1 byte"
		case d.bytes >= 1024:
			size += " (" + si + ", " + iec + ")"
		case d.bytes >= 1000:
			size += " (" + si + ")"
		}
		rate := "Infinity B"
		if ns > 0 {
			rate = human(float64(d.bytes)*1e9/float64(ns), 1000, "B")
		}
		text += fmt.Sprintf("%s copied, %s s, %s/s\n", size, strconv.FormatFloat(float64(ns)/1e9, 'g', 6, 64), rate)
	}
	d.c.s.Write(2, []byte(text))
}

// human is human_readable() of gnulib with autoscaling: one decimal below 10, none above.
func human(v, base float64, suffix string) string {
	units := []string{"", "k", "M", "G", "T", "P", "E"}
	if base == 1024 {
		units[1] = "K"
	}
	i := 0
	for v >= base && i < len(units)-1 {
		v /= base
		i++
	}
	switch {
	case i == 0:
		return fmt.Sprintf("%.0f B", v)
	case math.Round(v*10) < 100:
		return fmt.Sprintf("%.1f %s%s", v, units[i], suffix)
	}
	return fmt.Sprintf("%.0f %s%s", v, units[i], suffix)
}
