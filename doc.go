package main

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"

	"kscope/builtins"
	"kscope/lang"
)

// list is kscope list.
func (p *program) list() int {
	out := bufio.NewWriter(p.stdout)
	defer out.Flush()
	h, env := p.build(out, p.dir)
	err := env.List(out, p.opts.spec, p.opts.verbose)
	out.Flush()
	return max(h.Report(p.stderr, err), h.Report(p.stderr, h.Close()))
}

// doc is kscope doc: the reference, whose examples are run as it is written.
func (p *program) doc() int {
	var text bytes.Buffer
	failed := p.reference(&text)
	out := text.Bytes()
	if p.opts.html {
		out = []byte(markdownHTML(text.String()))
	}
	p.stdout.Write(out)
	for _, f := range failed {
		fmt.Fprintf(p.stderr, "kscope doc: %s\n", f)
	}
	if len(failed) > 0 {
		return lang.ExitAssert
	}
	return lang.ExitOK
}

// reference writes Markdown: a section for each table, an entry for each row, with what its example prints. The result names
// the examples that failed.
func (p *program) reference(w io.Writer) (failed []string) {
	fmt.Fprint(w, "# kscope: reference\n\nWritten by `kscope doc` from the rows that `help()` reads; each example was run on a machine of its own.\n"+
		"A name before a dot is a module (`kernel.run`) or, with a capital, the type of a value (`Task.comm`).\n")
	h := p.bounded().host(io.Discard, "")
	tables := h.AllTables()
	fmt.Fprintln(w)
	for _, t := range tables {
		fmt.Fprintf(w, "- [%s](#%s)\n", t.Title, anchor(t.Title))
	}
	for _, t := range tables {
		fmt.Fprintf(w, "\n## %s\n", t.Title)
		for _, r := range t.Rows {
			fmt.Fprintf(w, "\n### `%s`\n\n%s\n", lang.Head(r), docText(r.Doc))
			text := builtins.Example(r)
			if text == "" {
				continue
			}
			out, ok := p.example(text)
			if !ok {
				failed = append(failed, r.Name+"\n"+out)
			}
			fmt.Fprintf(w, "\n```\n%s```\n", out)
		}
	}
	p.writeTables(w)
	return failed
}

// writeTables adds the tables of the command line and of costs.
func (p *program) writeTables(w io.Writer) {
	fmt.Fprintf(w, "\n## the command line\n\n```\n%s```\n", usage())
	fmt.Fprint(w, "\n## kinds of specs for on()\n\n```\n")
	_, env := p.bounded().build(io.Discard, "")
	if err := env.List(w, "", false); err != nil {
		panic("BUG: " + err.Error())
	}
	fmt.Fprint(w, "```\n\n## costs\n\nVirtual ns beyond the instructions, one each, with `overhead = \"model\"`.\n\n| constant | ns | what |\n|---|---|---|\n")
	for _, c := range costs() {
		fmt.Fprintf(w, "| %s | %d | %s |\n", c.Name, c.NS, c.What)
	}
}

// docText is a docstring in Markdown: indented lines are tables of their own.
func docText(doc string) string {
	var out strings.Builder
	code := false
	for _, line := range strings.Split(strings.TrimSpace(doc), "\n") {
		if indented := strings.HasPrefix(line, "  "); indented != code {
			code = indented
			out.WriteString("```\n")
		}
		out.WriteString(line + "\n")
	}
	if code {
		out.WriteString("```\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// fails marks the line of an example that is to fail.
var fails = regexp.MustCompile(`(?m)# fails *$`)

// example runs an example as a session on a machine of its own. ok tells that it failed just where it says so.
func (p *program) example(text string) (string, bool) {
	var out bytes.Buffer
	sink := &lang.Sink{W: &out}
	b := p.bounded()
	s := &lang.Session{Host: b.host(sink, ""), In: io.NopCloser(strings.NewReader(strings.TrimSuffix(text, "\n") + "\n")), Out: sink, Echo: true}
	status := s.Run()
	return out.String(), (status != lang.ExitOK) == fails.MatchString(text)
}

// anchor is a heading's name as Markdown's readers make it.
func anchor(title string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}

// markdownHTML turns the reference into one page of HTML: just the Markdown that reference writes.
func markdownHTML(text string) string {
	var out strings.Builder
	out.WriteString("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>kscope: reference</title>\n<style>body{max-width:60em;margin:2em auto;" +
		"font-family:sans-serif}pre{background:#f4f4f4;padding:.6em;overflow-x:auto}h3{font-family:monospace}</style></head><body>\n")
	inline := func(s string) string {
		s = html.EscapeString(s)
		s = regexp.MustCompile("`([^`]*)`").ReplaceAllString(s, "<code>$1</code>")
		return regexp.MustCompile(`\[([^\]]*)\]\((#[^)]*)\)`).ReplaceAllString(s, `<a href="$2">$1</a>`)
	}
	code, para, table := false, false, false
	set := func(on *bool, want bool, open, shut string) {
		switch {
		case want && !*on:
			out.WriteString(open)
		case !want && *on:
			out.WriteString(shut)
		}
		*on = want
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			set(&para, false, "", "</p>\n")
			set(&code, !code, "<pre>", "</pre>\n")
			continue
		}
		if code {
			out.WriteString(html.EscapeString(line) + "\n")
			continue
		}
		isRow := strings.HasPrefix(line, "|")
		set(&table, isRow, "<table>\n", "</table>\n")
		level := len(line) - len(strings.TrimLeft(line, "#"))
		switch {
		case line == "":
			set(&para, false, "", "</p>\n")
		case isRow:
			if !strings.HasPrefix(line, "|--") {
				cells := strings.Split(strings.Trim(line, "| "), " | ")
				for i := range cells {
					cells[i] = inline(cells[i])
				}
				out.WriteString("<tr><td>" + strings.Join(cells, "</td><td>") + "</td></tr>\n")
			}
		case level > 0:
			set(&para, false, "", "</p>\n")
			title := strings.TrimSpace(line[level:])
			fmt.Fprintf(&out, "<h%d id=\"%s\">%s</h%d>\n", level, anchor(title), inline(title), level)
		default:
			set(&para, true, "<p>", "")
			out.WriteString(inline(strings.TrimPrefix(line, "- ")) + "<br>\n")
		}
	}
	set(&para, false, "", "</p>\n")
	set(&table, false, "", "</table>\n")
	out.WriteString("</body></html>\n")
	return out.String()
}
