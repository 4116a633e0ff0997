package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"kscope/builtins"
	"kscope/lang"
)

// Every example of the reference does what it says: it fails where it says so and nowhere else; and each stands at a row.
func TestExamples(t *testing.T) {
	opts, err := parseArgs([]string{"doc"})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{opts: opts, snaps: testMachines}
	var text bytes.Buffer
	for _, f := range p.reference(&text) {
		t.Errorf("the example of %s", f)
	}
	with, without := 0, []string(nil)
	for _, r := range p.bounded().host(&text, "").Rows() {
		if builtins.Example(r) != "" {
			with++
		} else if name := strings.Split(r.Name, ".")[0]; name == strings.ToLower(name) {
			without = append(without, r.Name)
		}
	}
	t.Logf("%d rows have examples", with)
	if len(without) > 0 {
		t.Errorf("without an example (lang.Row.Example, or the table of builtins/examples.go): %s", strings.Join(without, " "))
	}
	kept, err := os.ReadFile("REFERENCE.md")
	if err != nil || !lang.SameStructure(string(kept), text.String()) {
		t.Errorf("REFERENCE.md is stale: go run . doc > REFERENCE.md (%v)\n%s", err, lang.Diff(string(kept), text.String()))
	}
	page := markdownHTML(text.String())
	for _, want := range []string{"<h2 id=\"tracer-ftrace\">", "&gt;&gt;&gt; tracer.filters()", "</body></html>", "<td>ipiDelay</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the HTML has no %s", want)
		}
	}
	for _, tag := range []string{"pre", "p", "table", "h2", "h3"} {
		if open, shut := strings.Count(page, "<"+tag+">")+strings.Count(page, "<"+tag+" "), strings.Count(page, "</"+tag+">"); open != shut {
			t.Errorf("%d <%s>, %d </%s>", open, tag, shut, tag)
		}
	}
}
