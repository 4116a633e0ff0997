package x86

import "unsafe"

// uopIndex returns the place of u in us, or -1.
func uopIndex(us []uop, u *uop) int {
	d := uintptr(unsafe.Pointer(u)) - uintptr(unsafe.Pointer(&us[0]))
	if i := int(d / uopSize); i < len(us) && d%uopSize == 0 {
		return i
	}
	return -1
}
