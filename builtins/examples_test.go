package builtins

import (
	"strings"
	"testing"
)

// Each example of the table stands at a row that has none of its own.
func TestExamplesHaveRows(t *testing.T) {
	rows := map[string]string{}
	for _, name := range []string{"print", "printf", "sprintf", "hex", "table", "attempt", "help", "dir", "struct", "fail", "re", "json", "math", "time", "ns", "us", "ms", "s", "KiB", "MiB"} {
		rows[name] = "" // lang's own
	}
	for _, table := range New(Config{}).Tables() {
		for _, r := range table.Rows {
			rows[r.Name] = r.Example
		}
	}
	all := examples()
	for name, text := range moreExamples() {
		if all[name] != "" {
			t.Errorf("%s: two examples", name)
		}
		all[name] = text
	}
	for name := range all {
		own, ok := rows[name]
		if !ok && len(name) > 5 && (name[:5] == "flag." || name[:5] == "test." || strings.HasPrefix(name, "Regexp.")) {
			continue // lang's own
		}
		if !ok || own != "" {
			t.Errorf("%s: row %v, own example %q", name, ok, own)
		}
	}
}
