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

var errCRLF = errors.New("its lines end in CR LF: git's autocrlf does that, unless .gitattributes says * -text")

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
	if strings.HasPrefix(line, "<<<<<<< ") {
		return Pin{}, text, errors.New("it begins with a merge that was not resolved (<<<<<<<): kscope test -update=structure writes it anew")
	}
	if !ok {
		return Pin{}, text, nil
	}
	var p Pin
	if strings.HasSuffix(line, "\r") {
		return p, body, errCRLF
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
		if errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange) {
			err = fmt.Errorf("%s %s: want a number", words[i], v)
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

// lines is how many lines of a file the pin takes.
func (p Pin) lines() int {
	if p == (Pin{}) {
		return 0
	}
	return 1
}

// elsewhere counts the goldens whose pin is of another program, or of other settings than those of the command line: each kind is
// reported in one line, because a changed image would otherwise show hundreds of differences that all say the same.
type elsewhere struct {
	same               int
	numbers, structure []*Result
	from, to           map[string]bool
	flags              bool // it is the command line's settings that are other, not the program
}

// sorted counts the results that ran with another pin than their own: by the program, by the settings, and without one.
func sorted(results []Result) (program, settings *elsewhere, bare []string) {
	program = &elsewhere{from: map[string]bool{}, to: map[string]bool{}}
	settings = &elsewhere{from: map[string]bool{}, to: map[string]bool{}, flags: true}
	for i := range results {
		r := &results[i]
		switch {
		case r.own == r.pin || r.Outcome != outcomePass && r.Outcome != outcomeElsewhere && r.Outcome != outcomeSkip:
		case r.own == (Pin{}):
			bare = append(bare, r.Path)
		case r.own.program() == r.pin.program():
			from, to := r.own.against(r.pin)
			settings.add(r, from, to)
		default:
			program.add(r, r.own.program(), r.pin.program())
		}
	}
	return program, settings, bare
}

// against gives the settings in which two pins differ, as the one and the other has them.
func (p Pin) against(q Pin) (ours, theirs string) {
	var a, b []string
	for _, f := range []struct {
		name string
		p, q any
	}{{"cpus", p.CPUs, q.CPUs}, {"mem", p.Mem, q.Mem}, {"seed", p.Seed, q.Seed}, {"features", p.Features, q.Features}} {
		if f.p != f.q {
			a, b = append(a, fmt.Sprintf("%s %v", f.name, f.p)), append(b, fmt.Sprintf("%s %v", f.name, f.q))
		}
	}
	return strings.Join(a, ", "), strings.Join(b, ", ")
}

// add takes one golden into the count.
func (e *elsewhere) add(r *Result, from, to string) {
	e.from[from], e.to[to] = true, true
	switch r.differs() {
	case "":
		e.same++
	case differsInNumbers:
		e.numbers = append(e.numbers, r)
	default:
		e.structure = append(e.structure, r)
	}
}

// How a golden of another image differs.
const (
	differsInNumbers   = "differs in numbers only"
	differsInStructure = "differs in structure"
)

// differs says how what was printed differs; "": it does not.
func (r *Result) differs() string {
	switch {
	case r.want == r.got:
		return ""
	case sameStructure(r.want, r.got):
		return differsInNumbers
	}
	return differsInStructure
}

// elsewhereShown is how many differences in structure are shown, when there are no more of them.
const elsewhereShown = 3

// report prints the line, and the differences when they are few.
func (e *elsewhere) report(text func(format string, args ...any)) {
	total := e.same + len(e.numbers) + len(e.structure)
	if total == 0 {
		return
	}
	if !e.flags && len(e.structure) <= elsewhereShown {
		for _, r := range e.structure {
			text("FAIL %s: %s", r.Path, r.Report)
		}
	}
	one := func(set map[string]bool) string {
		for name := range set {
			if len(set) == 1 {
				return name
			}
		}
		return fmt.Sprintf("%d others", len(set))
	}
	if e.flags {
		text("%s pinned to %s, the command line says %s: ", were(total, "golden"), one(e.from), one(e.to))
	} else {
		text("%s made with %s; this is %s: ", were(total, "golden"), one(e.from), one(e.to))
	}
	var parts []string
	if e.same > 0 {
		parts = append(parts, fmt.Sprintf("%d passed with the same output", e.same))
	}
	for _, k := range []struct {
		what string
		list []*Result
	}{{"numbers only", e.numbers}, {"structure", e.structure}} {
		if len(k.list) > 0 {
			parts = append(parts, fmt.Sprintf("%d failed and %s in %s (%s)", len(k.list), differ(len(k.list)), k.what, somePaths(k.list)))
		}
	}
	renews := "renews their pins"
	if len(e.structure) > 0 {
		renews = "renews them, but for those of other structure"
	} else if len(e.numbers) > 0 {
		renews = "renews them"
	}
	if e.flags {
		text("%s; without the flag each runs as it is pinned; kscope test -update with it %s\n", strings.Join(parts, ", "), renews)
	} else {
		text("%s; kscope test -update %s; --image FILE runs them on their image\n", strings.Join(parts, ", "), renews)
	}
}

func differ(n int) string {
	if n == 1 {
		return "differs"
	}
	return "differ"
}

// somePaths are the first paths of results.
func somePaths(list []*Result) string {
	const most = 10
	var paths []string
	for _, r := range list[:min(len(list), most)] {
		paths = append(paths, r.Path)
	}
	if len(list) > most {
		paths = append(paths, fmt.Sprintf("and %d more", len(list)-most))
	}
	return strings.Join(paths, " ")
}

// were is "1 golden was" or "2 goldens were".
func were(n int, what string) string {
	if n == 1 {
		return "1 " + what + " was"
	}
	return fmt.Sprintf("%d %ss were", n, what)
}
