//go:build !amd64 || race

package ring

// release stores a page's commit word, after all that was stored before it.
func (p *Page) release(n uint64) { p.commitWord().Store(n) }
