//go:build !linux || !amd64 || race

package x86

// Hosts without host code: blocks are interpreted.

type hostMemory struct{}
type hostState struct{ sp uintptr }

const noHost = 0

func (*CPU) warm(*block) bool  { return false }
func (*cache) useHost(int)     {}
func (*block) initHost(*cache) {}
func (*cache) cut(*block)      {}
func (*cache) cutAll()         {}

// chain runs block b, whose budget has not been taken, and what follows it.
func (c *CPU) chain(b *block) int {
	c.budget -= b.cost
	return c.exec(b, b.u0)
}
