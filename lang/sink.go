package lang

import (
	"bytes"
	"io"
	"regexp"
	"strings"
)

// Sink is where a script or session prints. A session's `%command | host` and `> file` divert it while the command runs.
type Sink struct {
	W      io.Writer
	Before func() // called before each write to W; may be nil

	to   io.Writer // where output goes instead of W
	open bool      // the last line has no end yet
}

// FreshLine ends the line that was begun, so that a prompt has one of its own.
func (s *Sink) FreshLine() {
	if s.open {
		io.WriteString(s, "\n")
	}
}

// Write implements io.Writer.
func (s *Sink) Write(b []byte) (int, error) {
	if s.to != nil {
		return s.to.Write(b)
	}
	if s.Before != nil {
		s.Before()
	}
	if len(b) > 0 {
		s.open = b[len(b)-1] != '\n'
	}
	return s.W.Write(b)
}

// divert sends output elsewhere until restore is called.
func (s *Sink) divert(w io.Writer) (restore func()) {
	outer := s.to
	s.to = w
	return func() { s.to = outer }
}

// Colour is a writer for terminals: it colours the lines of traces and errors, and leaves everything else, each byte of it, as
// it is.
type Colour struct{ W io.Writer }

// Write implements io.Writer. Lines that come in pieces stay plain: a trace is printed whole.
func (c *Colour) Write(b []byte) (int, error) {
	var out bytes.Buffer
	for _, line := range bytes.SplitAfter(b, []byte("\n")) {
		out.WriteString(paint(string(line)))
	}
	if _, err := c.W.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// SGR sequences of ECMA-48.
const (
	sgrOff  = "\x1b[0m"
	sgrDim  = "\x1b[2m"
	sgrBold = "\x1b[1m"
	sgrRed  = "\x1b[31m"
	sgrGrn  = "\x1b[32m"
	sgrYel  = "\x1b[33m"
	sgrCyan = "\x1b[36m"
)

var (
	paintEvent = regexp.MustCompile(`^( *\S.*-\d+ +)((?:\([-\d ]+\) +)?)(\[\d+\])( +[^ ]{4,5})?( +\d+\.\d+: )([^: ]+)(.*)$`)
	paintGraph = regexp.MustCompile(`^( *\d+\) (?:.*\|)? *)([!+#*@$])( *[\d.]+ us.*)$`)
	paintLost  = regexp.MustCompile(`^CPU:\d+ \[LOST .*\]$`)
)

// paint colours one line.
func paint(line string) string {
	text, end, _ := strings.Cut(line, "\n")
	if len(text) < len(line) {
		end = "\n"
	}
	switch {
	case strings.HasPrefix(text, "error: "):
		text = sgrRed + "error:" + sgrOff + text[len("error:"):]
	case strings.HasPrefix(text, "  hint: "):
		text = sgrYel + text + sgrOff
	case strings.HasPrefix(text, "#") && len(text) > 1:
		text = sgrDim + text + sgrOff
	case paintLost.MatchString(text):
		text = sgrRed + text + sgrOff
	default:
		if m := paintEvent.FindStringSubmatch(text); m != nil {
			text = sgrCyan + m[1] + sgrOff + m[2] + sgrYel + m[3] + sgrOff + sgrDim + m[4] + sgrOff + sgrGrn + m[5] + sgrOff + sgrBold + m[6] + sgrOff + m[7]
		} else if m := paintGraph.FindStringSubmatch(text); m != nil {
			text = m[1] + sgrRed + m[2] + sgrOff + m[3]
		}
	}
	return text + end
}
