package lang

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Pin is what the bytes of a golden hang on besides its script: the first line of an .out file.
//
//	# kscope golden: image 0123456789ab costs 01234567 cpus 4 mem 64 seed 0
//
// Image and costs belong to the program that made the golden: on another one nothing can be compared byte by byte. The other
// fields are the golden's own: it runs with them unless the command line says otherwise.
type Pin struct {
	Image    string // the first digits of the SHA-256 of the guest kernel
	Costs    string // the same of the table of costs
	CPUs     int
	Mem      uint64 // MiB
	Seed     uint64
	Features string // comma-separated, of later kernels; mostly ""
}

// pinHead begins the line.
const pinHead = "# kscope golden:"

func (p Pin) String() string {
	if p == (Pin{}) {
		return ""
	}
	s := fmt.Sprintf("%s image %s costs %s cpus %d mem %d seed %d", pinHead, p.Image, p.Costs, p.CPUs, p.Mem, p.Seed)
	if p.Features != "" {
		s += " features " + p.Features
	}
	return s + "\n"
}

// splitPin takes the pin off a golden's text. One without a pin gives the zero Pin.
func splitPin(text string) (Pin, string, error) {
	line, body, _ := strings.Cut(text, "\n")
	fields, ok := strings.CutPrefix(line, pinHead)
	if !ok {
		return Pin{}, text, nil
	}
	var p Pin
	if strings.HasSuffix(line, "\r") {
		return p, body, errors.New("its lines end in CR LF: git's autocrlf does that, unless .gitattributes says * -text")
	}
	words := strings.Fields(fields)
	var err error
	for i := 0; i+1 < len(words) && err == nil; i += 2 {
		v := words[i+1]
		switch words[i] {
		case "image":
			p.Image = v
		case "costs":
			p.Costs = v
		case "cpus":
			p.CPUs, err = strconv.Atoi(v)
		case "mem":
			p.Mem, err = strconv.ParseUint(v, 10, 64)
		case "seed":
			p.Seed, err = strconv.ParseUint(v, 0, 64)
		case "features":
			p.Features = v
		default:
			err = fmt.Errorf("unknown field %q", words[i])
		}
	}
	if err == nil && p.String() != line+"\n" {
		err = fmt.Errorf("want %q", strings.TrimSuffix(Pin{Image: "…", Costs: "…", CPUs: 4, Mem: 64}.String(), "\n"))
	}
	if err != nil {
		return p, body, fmt.Errorf("line 1: %s: %w", line, err)
	}
	return p, body, nil
}

// GoldenBody is a golden's text without its pin.
func GoldenBody(text string) string {
	_, body, _ := splitPin(text)
	return body
}

// program is the part of a pin that belongs to the program.
func (p Pin) program() string {
	if p == (Pin{}) {
		return "no pin"
	}
	return "image " + p.Image + ", costs " + p.Costs
}

// settings is the part that belongs to the golden.
func (p Pin) settings() string {
	s := fmt.Sprintf("cpus %d, mem %d, seed %d", p.CPUs, p.Mem, p.Seed)
	if p.Features != "" {
		s += ", features " + p.Features
	}
	return s
}

// elsewhere counts the goldens that another program, or other settings of the command line, made: they are reported in one
// line together, because a changed image would otherwise show hundreds of differences that all say the same.
type elsewhere struct {
	total, same, numbers int
	structure            []string // paths
	from, to             map[string]bool
}

// add takes one golden into the count. want and got are bodies.
func (e *elsewhere) add(path string, from, to Pin, want, got string) {
	if e.from == nil {
		e.from, e.to = map[string]bool{}, map[string]bool{}
	}
	a, b := from.program(), to.program()
	if a == b {
		a, b = from.settings(), to.settings()
	}
	e.from[a], e.to[b] = true, true
	e.total++
	switch {
	case want == got:
		e.same++
	case sameStructure(want, got):
		e.numbers++
	default:
		e.structure = append(e.structure, path)
	}
}

// String is the line.
func (e *elsewhere) String() string {
	one := func(set map[string]bool) string {
		if len(set) > 1 {
			return fmt.Sprintf("%d others", len(set))
		}
		for name := range set {
			return name
		}
		return ""
	}
	text := fmt.Sprintf("%d goldens were made with %s; this is %s: %d print the same here, %d differ in numbers only, %d in structure",
		e.total, one(e.from), one(e.to), e.same, e.numbers, len(e.structure))
	if len(e.structure) > 0 {
		text += " (" + strings.Join(e.structure, " ") + ")"
	}
	return text + "; kscope test -update rewrites them, --image FILE takes their image\n"
}
