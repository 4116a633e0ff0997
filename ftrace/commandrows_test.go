package ftrace

import (
	"testing"

	"kscope/kernel"
)

const commandsFile = "testdata/commands.txt"

// TestCommandRows is a golden of every command of set_ftrace_filter.
func TestCommandRows(t *testing.T) { rowsGolden(t, commandsFile) }

// TestBlankCommands has each command, with a count and without, do nothing; the golden must fail.
func TestBlankCommands(t *testing.T) {
	var blanks []rowsBlank
	for i := range commandKinds {
		k := &commandKinds[i]
		name := k.name
		if k.counted {
			name += ":count"
		}
		blanks = append(blanks, rowsBlank{name, "set_ftrace_filter", "", func(tr *Tracer) {
			f := rowAt(tr, "set_ftrace_filter")
			by := *f
			by.Write = func(h *Handle, p []byte) (int, error) {
				n, err := f.Write(h, p)
				for _, x := range tr.probes {
					if x.kind == k {
						x.ops.Call = func(*kernel.VCPU, uint64, uint64, uint64) {}
					}
				}
				return n, err
			}
			replaceRow(tr, f, &by)
		}})
	}
	rowsBlanks(t, commandsFile, blanks)
}
