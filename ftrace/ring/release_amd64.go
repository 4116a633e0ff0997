//go:build !race

package ring

import "unsafe"

// release stores a page's commit word, after all that was stored before it. On amd64 stores are seen in their order, and the compiler
// keeps it; an atomic store is an exchange, which waits for all of them: a quarter of the time of an event. Nobody needs the writer's
// later loads to come behind it.
func (p *Page) release(n uint64) { *(*uint64)(unsafe.Pointer(&p.data[8])) = n }
