package x86

import (
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"kscope/kernel/mem"
)

// TestArchWords: each bit of each field of the architectural state is in the words that StateHash takes.
func TestArchWords(t *testing.T) {
	c := New(0, mem.NewPhys(2<<20), nil)
	bits := 0
	var visit func(name string, v reflect.Value)
	visit = func(name string, v reflect.Value) {
		v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() // the fields are not exported
		check := func(what string, flip func()) {
			before := c.ArchWords()
			flip()
			if slices.Equal(before, c.ArchWords()) {
				t.Errorf("%s %s: no word changes", name, what)
			}
			flip()
			bits++
		}
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				visit(name+"."+v.Type().Field(i).Name, v.Field(i))
			}
		case reflect.Array:
			for i := range v.Len() {
				visit(name, v.Index(i))
			}
		case reflect.Bool:
			check("", func() { v.SetBool(!v.Bool()) })
		default:
			for bit := range v.Type().Bits() {
				if name == ".sys" && (arithMask|2)>>bit&1 != 0 {
					continue // the arithmetic flags are kept elsewhere, bit 1 is always set
				}
				check("bit", func() { v.SetUint(v.Uint() ^ 1<<bit) })
			}
		}
	}
	visit("", reflect.ValueOf(&c.archState).Elem())
	if bits < 1000 {
		t.Errorf("%d bits visited", bits)
	}
}
