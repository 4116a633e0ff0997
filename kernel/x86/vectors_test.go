package x86_test

import (
	"debug/elf"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kscope/kernel/x86"
)

var update = flag.Bool("update", false, "rewrite the bytes (with as) and outcomes of testdata/*.txt")

// eachVector calls do for every row of testdata/*.txt. When do returns a row, the line in the file becomes it.
func eachVector(t *testing.T, do func(t *testing.T, where string, v *vector) *vector) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no vectors", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		mode := ""
		for i, line := range lines {
			if m, ok := strings.CutPrefix(line, "mode "); ok {
				mode = m
			}
			if !strings.Contains(line, "|") || strings.HasPrefix(line, "#") {
				continue
			}
			v, err := parseVector(line, mode)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
			if v = do(t, fmt.Sprintf("%s:%d", file, i+1), v); v != nil {
				lines[i] = v.String()
			}
		}
		if now := strings.Join(lines, "\n"); now != string(text) {
			os.WriteFile(file, []byte(now), 0o666)
		}
	}
}

// TestVectors runs every row on the emulated CPU, and requires that the rows together use every uop.
func TestVectors(t *testing.T) {
	phys := newPhys()
	seen := map[string]bool{}
	eachVector(t, func(t *testing.T, where string, v *vector) *vector {
		if *update && v.mode != "user" {
			v.code = assemble(t, v.asm)[0]
		}
		v.in.code = v.code
		r := v.on(phys)
		r.seen = seen
		got := v.outcome(r)
		if *update && v.mode != "user" {
			v.want = got
			return v
		}
		if got != v.want {
			t.Errorf("%s: %s\n  got  %s\n  want %s", where, v.asm, got, v.want)
		}
		return nil
	})
	var unused []string
	for _, op := range x86.OpNames() {
		if op == "scall" || op == "sret" || op == "locked" || op == "hook" { // those: TestNoEffect, TestOrder of package kernel, TestHook
			continue
		}
		if !seen[op] && !strings.Contains(op, fusedMark) { // those: TestFused
			unused = append(unused, op)
		}
	}
	if len(unused) > 0 {
		t.Errorf("%d uops of %d are in no row: %v", len(unused), len(x86.OpNames()), unused)
	}
}

// TestVectorsHost holds the rows of user mode against the CPU that runs the test: the vectors are true. A signal does not
// tell all about an exception, so -update leaves a row alone that says the same in more detail.
func TestVectorsHost(t *testing.T) {
	h := newHost(t)
	rows := 0
	eachVector(t, func(t *testing.T, where string, v *vector) *vector {
		if v.mode != "user" || v.nohost {
			return nil
		}
		if *update {
			v.code = assemble(t, v.asm)[0]
		}
		v.in.code = v.code
		rows++
		got := v.outcome(h)
		if *update {
			if got != hostWords(v.want) {
				v.want = got
			}
			return v
		}
		if want := hostWords(v.want); got != want {
			t.Errorf("%s: %s\n  the host says %s\n  the row says  %s", where, v.asm, got, want)
		}
		return nil
	})
	t.Logf("%d rows are true of this host", rows)
}

// TestVectorBytes holds the bytes of each row against what GNU as makes of its text.
func TestVectorBytes(t *testing.T) {
	if _, err := exec.LookPath("as"); err != nil {
		t.Skip("no assembler on this host")
	}
	var rows []*vector
	var texts, places []string
	eachVector(t, func(t *testing.T, where string, v *vector) *vector {
		rows, texts, places = append(rows, v), append(texts, v.asm), append(places, where)
		return nil
	})
	for i, b := range assemble(t, texts...) {
		if !slices.Equal(rows[i].code, b) {
			t.Errorf("%s: %s is % x, not % x", places[i], texts[i], b, rows[i].code)
		}
	}
}

// hostWords blurs the exceptions of a row to what a signal tells.
func hostWords(want string) string {
	words := strings.Fields(want)
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "#PF"), strings.HasPrefix(w, "#GP"), strings.HasPrefix(w, "#SS"):
			words[i] = "segv"
		}
	}
	return strings.Join(words, " ")
}

// assemble asks GNU as for the bytes of each Intel-syntax text, by one run; d and r are the areas' addresses.
func assemble(t *testing.T, texts ...string) [][]byte {
	dir := t.TempDir()
	src, obj := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o")
	var b strings.Builder
	fmt.Fprintf(&b, ".intel_syntax noprefix\n.set d,%#x\n.set r,%#x\n", dataVA, roVA)
	for i, text := range texts {
		fmt.Fprintf(&b, "start%d:\n%s\nend%d:\n", i, text, i)
	}
	if err := os.WriteFile(src, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("as", "-o", obj, src).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := elf.Open(obj)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]uint64{}
	for _, s := range syms {
		at[s.Name] = s.Value
	}
	out := make([][]byte, len(texts))
	for i := range texts {
		out[i] = code[at[fmt.Sprintf("start%d", i)]:at[fmt.Sprintf("end%d", i)]]
	}
	return out
}
