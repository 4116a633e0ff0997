package lang

import (
	"regexp"
	"strings"
)

// newcomerHints are what somebody who knows Python writes first, and what stands in its place here: a part of the message, a
// pattern that the line must match, and the hint.
var newcomerHints = [...]struct {
	msg  string
	line *regexp.Regexp
	hint string
}{
	{"got ", regexp.MustCompile(`^\s*(try\s*:|except\b|raise\b|finally\s*:)`), "Starlark has no exceptions: attempt(fn, args...) gives .ok, .value and .error, and fail(text) raises"},
	{"got ", regexp.MustCompile(`^\s*(import|from)\b`), "load(\"file.star\", \"name\") takes names from another file"},
	{"got ", regexp.MustCompile(`^\s*class\b`), "Starlark has no classes: struct(name = value) makes an object"},
	{"got ", regexp.MustCompile(`\b[frb]?f["']`), "Starlark has no f-strings: sprintf(\"%d of %s\", n, name)"},
	{"unknown conversion %", nil, "% has no widths or flags: sprintf(\"%5d %08x\", a, b) and printf have"},
	{"format spec features not supported", nil, "format has no widths or flags: sprintf(\"%5d %08x\", a, b) has"},
	{"got ", regexp.MustCompile(`\b(is|is not)\b`), "write == None for is None"},
	{"undefined: exit", nil, "Ctrl-D leaves a session; a script ends at its last line, or by fail(text)"},
	{"undefined: quit", nil, "Ctrl-D leaves a session; a script ends at its last line, or by fail(text)"},
	{"undefined: open", nil, "fs.read(path) and fs.write(path, text) are the guest's files; the host's cannot be reached"},
	{"undefined: input", nil, "flag.string(name, default) takes what the command line says behind --"},
	{"undefined: isinstance", nil, "write type(x) == \"string\""},
	{"undefined: round", nil, "math.round(x)"},
	{"undefined: ls", nil, shellHint},
	{"undefined: cat", nil, shellHint},
	{"undefined: cd", nil, shellHint},
	{"undefined: ps", nil, shellHint},
	{"undefined: echo", nil, shellHint},
	{"undefined: pwd", nil, shellHint},
	{"got ", regexp.MustCompile(`^\s*!|^\s*(ls|cat|cd|ps|echo|mount|grep|head|tail|dmesg|uname)\s+[-/\w.]`), shellHint},
	{"unexpected input character '!'", nil, shellHint},
	{"undefined: sum", nil, "agg.sum(name) adds up by key; a loop adds up a list"},
}

// shellHint is for who types a command of the guest's shell.
const shellHint = "sh(\"ls /\") runs a line in the guest's shell; kscope sh is a session of that shell"

// newcomerHint finds the hint for a message about a line; "" when there is none.
func newcomerHint(msg, line string) string {
	for _, h := range newcomerHints {
		if strings.HasPrefix(msg, h.msg) && (msg == h.msg || !strings.HasPrefix(msg, "undefined")) && (h.line == nil || h.line.MatchString(line)) {
			return h.hint
		}
	}
	return ""
}
