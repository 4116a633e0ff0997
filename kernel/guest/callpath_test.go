package guest

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

var updatePaths = flag.Bool("update", false, "rewrite callpaths.txt from testdata/graph-6.1.txt and the image; new reasons read ?")

// leastSame is the share of Linux's calls that must be found here, of those whose caller exists here: of all, and below each of paths.
const leastSame = 0.70

// paths are the roots of issue 3: read, open, write, fork, exec, exit, page fault, pipe, sleep, wakeup, timer tick.
var paths = strings.Fields(`__x64_sys_read __x64_sys_openat __x64_sys_write __x64_sys_clone __x64_sys_execve __x64_sys_exit_group
	handle_mm_fault __x64_sys_pipe2 __x64_sys_clock_nanosleep try_to_wake_up hrtimer_interrupt`)

// A call of the recorded graph, and how it is here:
//
//	same      the caller's code calls or jumps to the callee
//	pointer   the caller calls through a pointer, and the callee's address is kept in data
//	inlined   the callee's code is in the caller (DWARF says so)
//	untraced  the caller calls a function that ftrace never sees, here as in Linux (__schedule, __do_sys_wait4), and that the callee:
//	          function_graph shows the callee below the caller
//	other     both exist, but this caller does not call it; a reason tells why
//	absent    there is no such function; a reason tells why. What it would call is not listed.
type callRow struct {
	root, caller, callee string
	depth                int
	status, reason       string
}

var suffix = regexp.MustCompile(`\.(part|constprop|isra|cold|lto_priv)\b.*$`)

// baseName is a function's name in the source.
func baseName(name string) string { return suffix.ReplaceAllString(name, "") }

// calls is what the image's code does.
type calls struct {
	exists   map[string]bool
	direct   map[string]map[string]bool // caller -> callee
	indirect map[string]bool            // callers with calls through pointers
	inData   map[string]bool            // functions whose address is in data
	inlines  map[string]map[string]bool
	untraced map[string]bool // functions without a call of __fentry__
}

func readCalls(t *testing.T, raw []byte) *calls {
	f, err := elf.NewFile(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	all, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	c := &calls{map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]map[string]bool{},
		map[string]bool{}}
	at := map[uint64]string{}
	var funcs []elf.Symbol
	for _, s := range all {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 {
			continue
		}
		c.exists[baseName(s.Name)] = true
		funcs = append(funcs, s)
		at[s.Value] = baseName(s.Name)
	}
	for _, sec := range f.Sections {
		if sec.Type != elf.SHT_PROGBITS || sec.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		data, err := sec.Data()
		if err != nil {
			t.Fatal(err)
		}
		if sec.Flags&elf.SHF_EXECINSTR == 0 {
			if sec.Name != "__mcount_loc" {
				c.readData(data, at)
			}
			continue
		}
		for _, s := range funcs {
			if s.Value >= sec.Addr && s.Value+s.Size <= sec.Addr+sec.Size {
				c.readCode(baseName(s.Name), data[s.Value-sec.Addr:][:s.Size], s.Value, at)
			}
		}
	}
	for name := range c.exists {
		c.untraced[name] = !c.direct[name]["__fentry__"]
	}
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	c.readInlines(t, d)
	return c
}

// readData notes functions whose address is an aligned word of data: operation tables.
func (c *calls) readData(data []byte, at map[uint64]string) {
	for i := 0; i+8 <= len(data); i += 8 {
		if name, ok := at[binary.LittleEndian.Uint64(data[i:])]; ok {
			c.inData[name] = true
		}
	}
}

func (c *calls) readCode(name string, code []byte, pc uint64, at map[uint64]string) {
	for len(code) > 0 {
		in, err := x86asm.Decode(code, 64)
		n := in.Len
		if err != nil || n == 0 {
			n = 1
		}
		pc += uint64(n)
		code = code[n:]
		if in.Op != x86asm.CALL && in.Op != x86asm.JMP {
			continue
		}
		if rel, ok := in.Args[0].(x86asm.Rel); ok {
			if to, ok := at[pc+uint64(int64(rel))]; ok {
				add(c.direct, name, to)
			}
		} else {
			c.indirect[name] = true
		}
	}
}

func add(m map[string]map[string]bool, k, v string) {
	if m[k] == nil {
		m[k] = map[string]bool{}
	}
	m[k][v] = true
}

// readInlines notes which functions' bodies are inside which.
func (c *calls) readInlines(t *testing.T, d *dwarf.Data) {
	names := map[dwarf.Offset]string{}
	type pair struct {
		in string
		of dwarf.Offset
	}
	var found []pair
	var stack []string
	later := map[string]dwarf.Offset{} // "@offset" of an out-of-line copy -> its abstract entry
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		if e.Tag == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		cur := ""
		if len(stack) > 0 {
			cur = stack[len(stack)-1]
		}
		origin, hasOrigin := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		switch e.Tag {
		case dwarf.TagSubprogram:
			if n, ok := e.Val(dwarf.AttrName).(string); ok {
				names[e.Offset], cur = n, n
			} else if hasOrigin {
				cur = fmt.Sprint("@", e.Offset)
				later[cur] = origin
			}
		case dwarf.TagInlinedSubroutine:
			if hasOrigin {
				found = append(found, pair{cur, origin})
			}
		}
		if e.Children {
			stack = append(stack, cur)
		}
	}
	for _, p := range found {
		in := p.in
		if o, ok := later[in]; ok {
			in = names[o]
		}
		if of := names[p.of]; in != "" && of != "" {
			add(c.inlines, in, of)
		}
	}
}

func (c *calls) status(caller, callee string) string {
	switch {
	case c.direct[caller][callee]:
		return "same"
	case c.exists[callee] && c.indirect[caller] && c.inData[callee]:
		return "pointer"
	case c.inlines[caller][callee]:
		return "inlined"
	case c.throughUntraced(caller, callee):
		return "untraced"
	case c.exists[callee]:
		return "other"
	}
	return "absent"
}

func (c *calls) throughUntraced(caller, callee string) bool {
	for _, inner := range []map[string]bool{c.direct[caller], c.inlines[caller]} {
		for mid := range inner {
			if mid == caller || !c.untraced[mid] {
				continue
			}
			if s := c.status(mid, callee); s == "same" || s == "pointer" || s == "inlined" {
				return true
			}
		}
	}
	return false
}

// readGraph lists the calls of the recorded graph, each once, below callers that exist here; share: how many of each root's are as in
// Linux, where a call counts once for each root.
func readGraph(t *testing.T, c *calls) (rows []callRow, share map[string]float64) {
	data, err := os.ReadFile("testdata/graph-6.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen, ofRoot := map[[2]string]bool{}, map[[3]string]bool{}
	all, same := map[string]float64{}, map[string]float64{}
	var path []string // "" below what is absent
	for _, line := range strings.Split(string(data), "\n") {
		name := strings.TrimLeft(line, "\t")
		if name == "" || name[0] == '#' {
			continue
		}
		depth := len(line) - len(name)
		path = path[:depth]
		if depth == 0 {
			path = append(path, name)
			continue
		}
		caller := path[depth-1]
		if caller == "" {
			path = append(path, "")
			continue
		}
		status := c.status(caller, name)
		if at := [3]string{path[0], caller, name}; !ofRoot[at] && caller != name {
			ofRoot[at] = true
			all[path[0]]++
			if status != "other" && status != "absent" {
				same[path[0]]++
			}
		}
		if !seen[[2]string{caller, name}] && caller != name {
			seen[[2]string{caller, name}] = true
			rows = append(rows, callRow{root: path[0], caller: caller, callee: name, depth: depth, status: status})
		}
		if status == "absent" {
			name = ""
		}
		path = append(path, name)
	}
	share = map[string]float64{}
	for root, n := range all {
		share[root] = same[root] / n
	}
	return rows, share
}

func readRows(t *testing.T) (head string, reasons map[string]string, rows map[[2]string]callRow) {
	data, err := os.ReadFile("callpaths.txt")
	if err != nil {
		t.Fatal(err)
	}
	reasons, rows = map[string]string{}, map[[2]string]callRow{}
	for i, line := range strings.Split(string(data), "\n") {
		w := strings.Fields(line)
		switch {
		case len(rows) == 0 && (len(w) == 0 || w[0] == "#"):
			head += line + "\n"
		case len(w) <= 1 || w[0] == "#": // one word: the root of what follows
		case w[0] == "reason" && len(w) > 2:
			head += line + "\n"
			reasons[w[1]] = strings.Join(w[2:], " ")
		case len(w) == 3 || len(w) == 4:
			r := callRow{caller: w[0], callee: w[1], status: w[2]}
			if len(w) == 4 {
				r.reason = w[3]
			}
			rows[[2]string{w[0], w[1]}] = r
		default:
			t.Errorf("callpaths.txt:%d: %q is neither reason TAG TEXT nor CALLER CALLEE STATUS [TAG]", i+1, line)
		}
	}
	return strings.TrimRight(head, "\n"), reasons, rows
}

// Every call of Linux's recorded graph has a row in callpaths.txt, the row is what the image's code does, and most are as
// in Linux. With -update the rows are written anew, and reasons kept.
func TestCallPaths(t *testing.T) {
	c := readCalls(t, Kernel())
	graph, share := readGraph(t, c)
	head, reasons, rows := readRows(t)
	count := map[string]int{}
	used := map[string]bool{}
	for i := range graph {
		g := &graph[i]
		key := [2]string{g.caller, g.callee}
		r, ok := rows[key]
		delete(rows, key)
		if g.status == "other" || g.status == "absent" {
			if g.reason = r.reason; g.reason == "" {
				g.reason = "?"
			}
			used[g.reason] = true
			if !*updatePaths && reasons[g.reason] == "" {
				t.Errorf("%s -> %s is %s for a reason that callpaths.txt does not tell: %q", g.caller, g.callee, g.status, g.reason)
			}
		}
		if !*updatePaths && (!ok || r.status != g.status) {
			t.Errorf("%s -> %s is %s in the image, %q in callpaths.txt (go test ./kernel/guest -run CallPaths -update)", g.caller, g.callee, g.status, r.status)
		}
		count[g.status]++
	}
	if *updatePaths {
		writeRows(t, head, graph)
	} else {
		for _, r := range rows {
			t.Errorf("%s -> %s: a row of callpaths.txt that is not in the graph", r.caller, r.callee)
		}
		for tag := range reasons {
			if !used[tag] {
				t.Errorf("callpaths.txt: reason %s is used by no row", tag)
			}
		}
	}
	for _, root := range paths {
		t.Logf("%-26s %.1f %%", root, share[root]*100)
		if share[root] < leastSame {
			t.Errorf("%s: %.1f %% of the calls are as in Linux, at least %.0f %% are wanted", root, share[root]*100, leastSame*100)
		}
	}
	same := float64(len(graph)-count["other"]-count["absent"]) / float64(len(graph))
	t.Logf("%d calls: %v, %.1f %% as in Linux", len(graph), count, same*100)
	if same < leastSame {
		t.Errorf("%.1f %% of the calls are as in Linux, at least %.0f %% are wanted", same*100, leastSame*100)
	}
}

func writeRows(t *testing.T, head string, graph []callRow) {
	var out strings.Builder
	out.WriteString(head + "\n")
	root := ""
	for _, g := range graph {
		if g.root != root {
			root = g.root
			fmt.Fprintf(&out, "\n%s\n", root)
		}
		fmt.Fprintf(&out, "\t%s %s %s", g.caller, g.callee, g.status)
		if g.reason != "" {
			out.WriteString(" " + g.reason)
		}
		out.WriteString("\n")
	}
	if err := os.WriteFile("callpaths.txt", []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if unknown := slices.ContainsFunc(graph, func(g callRow) bool { return g.reason == "?" }); unknown {
		t.Log("some rows have no reason yet: ?")
	}
}
