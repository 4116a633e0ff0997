package kernel

import "fmt"

// Cost is a row of the table of what things cost in virtual ns beyond the guest's own instructions. Times in golden traces
// hang on these numbers, so a golden pins a hash of the table.
type Cost struct {
	Name string // of the constant
	NS   uint64
	What string
}

// Costs is the kernel's part of the table.
func Costs() []Cost {
	return []Cost{
		{"ipiDelay", ipiDelay, "an IPI, from the ICR write to the receiver's pin"},
		{"selfIPIDelay", selfIPIDelay, "an IPI to the sender itself"},
		{"costCodeStore", costCodeStore, "a store to text: the machine clear"},
		{"costPokeStep", costPokeStep, "a step of a patch: mapping the poking mm"},
		{"costPokeSite", costPokeSite, "one site in a step of a patch"},
		{"costModBytes", costModBytes, "bytes that the module loader looks at or copies in 1 ns"},
		{"costModSymbol", costModSymbol, "looking one symbol up for a module"},
		{"costConsoleByte", costConsoleByte, "a byte to or from the host's console"},
	}
}

// String is the row as the table's hash and the reference take it.
func (c Cost) String() string { return fmt.Sprintf("%s %d", c.Name, c.NS) }
