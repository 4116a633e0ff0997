package user

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"strings"

	"kscope/kernel"
)

var sumOptions = []option{{'b', "binary", false, 0}, {'c', "check", false, 0}, {'t', "text", false, 0}, {'z', "zero", false, 0}, {0, "quiet", false, 1}, {0, "status", false, 2},
	{'w', "warn", false, 0}, {0, "tag", false, 3}}

// checksums is md5sum and sha256sum.
func checksums(c *cmd) int {
	found, files, status, done := c.parse(sumOptions, 1)
	if done {
		return status
	}
	var on [256]bool
	for _, o := range found {
		on[o.id] = true
	}
	for _, file := range orStdin(files) {
		if on['c'] {
			status = max(status, checkSums(c, file, on[1] || on[2], on[2]))
			continue
		}
		sum, ok := c.sum(file)
		switch {
		case !ok:
			status = 1
		case on[3]:
			c.printf("%s (%s) = %s\n", map[bool]string{true: "SHA256", false: "MD5"}[c.name == "sha256sum"], file, sum)
		default:
			c.printf("%s %s%s%s", sum, map[bool]string{true: "*", false: " "}[on['b']], file, map[bool]string{true: "\x00", false: "\n"}[on['z']])
		}
	}
	return status
}

func (c *cmd) sum(file string) (string, bool) {
	in, e := c.tryInput(file)
	h := c.hash()
	if e == 0 {
		for in.fill() {
			h.Write(in.buf)
			in.buf = nil
		}
		in.close()
		e = in.err
	}
	if e != 0 {
		c.fail(file, e)
		return "", false
	}
	return hex.EncodeToString(h.Sum(nil)), true
}

// hash is the command's.
func (c *cmd) hash() hash.Hash {
	if c.name == "sha256sum" {
		return sha256.New()
	}
	return md5.New()
}

func checkSums(c *cmd, file string, quiet, silent bool) int {
	in, e := c.tryInput(file)
	if e != 0 {
		c.fail(file, e)
		return 1
	}
	good, unread, wrong := 0, 0, 0
	for _, l := range in.lines('\n') {
		sum, name, ok := strings.Cut(string(l), " ")
		if !ok || len(sum) != 2*c.hash().Size() || len(name) < 2 {
			continue
		}
		good++
		name = name[1:]
		got, ok := c.sum(name)
		verdict := "OK"
		switch {
		case !ok:
			verdict = "FAILED open or read"
			unread++
		case got != strings.ToLower(sum):
			verdict = "FAILED"
			wrong++
		}
		if !silent && (!quiet || verdict != "OK") {
			c.printf("%s: %s\n", name, verdict)
		}
	}
	in.close()
	if good == 0 {
		c.errorf("%s: no properly formatted checksum lines found", shellName(file))
		return 1
	}
	warn := func(n int, one, many string) {
		if n > 0 && !silent {
			c.errorf("WARNING: %d %s", n, map[bool]string{true: one, false: many}[n == 1])
		}
	}
	warn(unread, "listed file could not be read", "listed files could not be read")
	warn(wrong, "computed checksum did NOT match", "computed checksums did NOT match")
	if unread+wrong > 0 {
		return 1
	}
	return 0
}

// zcat is gzip's: it looks for FILE and for FILE.gz.
func zcat(c *cmd) int {
	found, files, status, done := c.parse([]option{{'f', "force", false, 0}, {'q', "quiet", false, 0}}, 1)
	if done {
		return status
	}
	force := false
	for _, o := range found {
		force = force || o.id == 'f'
	}
	for _, file := range orStdin(files) {
		in, e := c.tryInput(file)
		if e == kernel.ENOENT && !strings.HasSuffix(file, ".gz") {
			file += ".gz"
			in, e = c.tryInput(file)
		}
		if e == 0 {
			if st, _ := c.s.Fstat(in.fd); st.Mode&modeType == modeDir {
				c.errorf2("gzip", "%s is a directory -- ignored", file)
				status = 2
				in.close()
				continue
			}
		}
		if e != 0 {
			c.errorf2("gzip", "%s: %s", file, e.Error())
			status = 1
			continue
		}
		text := in.all()
		in.close()
		show := map[bool]string{true: "stdin", false: file}[file == "-"]
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil && force {
			c.print(text...)
			continue
		}
		if err != nil {
			c.gzipError("\ngzip: "+show+": ", "not in gzip format\n", err, len(text))
			status = 1
			continue
		}
		out, err := io.ReadAll(z)
		c.print(out...)
		if err != nil {
			c.flush()
			c.gzipError("\ngzip: "+show+": ", "invalid compressed data--format violated\n", err, len(text))
			status = 1
		}
	}
	return status
}

func (c *cmd) gzipError(head, text string, err error, n int) {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) && n < 18 {
		text = "unexpected end of file\n"
	}
	c.s.Write(2, []byte(head+text))
}

// errorf2 is errorf for a command that speaks under another name.
func (c *cmd) errorf2(name, format string, args ...any) {
	old := c.name
	c.name = name
	c.errorf(format, args...)
	c.name = old
}
