package kernel

import (
	"fmt"
	"slices"
	"strings"
)

// Feature is something that kernels later than 6.1 have and kscope can show: off by default, so that files, texts and errnos stay
// 6.1's, and on by --features=NAME. Each package lists the ones that it has.
type Feature struct {
	Name  string // "retval"
	Since string // the kernel that brought it: "6.5"
	Doc   string
}

// ParseFeatures reads a comma-separated list against the rows: sorted, each once.
func ParseFeatures(text string, rows []Feature) (string, error) {
	var names []string
	for _, name := range strings.Split(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !slices.ContainsFunc(rows, func(f Feature) bool { return f.Name == name }) {
			var known []string
			for _, f := range rows {
				known = append(known, f.Name)
			}
			if known == nil {
				known = []string{"none in this build"}
			}
			return "", fmt.Errorf("unknown feature %q; there are: %s", name, strings.Join(known, ", "))
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ","), nil
}

// Feature tells whether a feature of a later kernel is on.
func (c Config) Feature(name string) bool {
	return c.Features != "" && slices.Contains(strings.Split(c.Features, ","), name)
}

// Feature tells whether a feature of a later kernel is on in this machine.
func (m *Machine) Feature(name string) bool { return m.cfg.Feature(name) }
