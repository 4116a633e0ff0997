package x86

import "unsafe"

// Besides the generated code and host code (jit*.go) this file alone is unsafe. Uops name registers by byte offset from the CPU, whose first
// field is the register file, so that one access serves every width and AH; and they are walked by pointer, which saves
// the bounds check per uop.

const uopSize = unsafe.Sizeof(uop{})

// uopIndex returns the place of u in us, or -1.
func uopIndex(us []uop, u *uop) int {
	d := uintptr(unsafe.Pointer(u)) - uintptr(unsafe.Pointer(&us[0]))
	if i := int(d / uopSize); i < len(us) && d%uopSize == 0 {
		return i
	}
	return -1
}

// uopAt returns uop k of the list that begins with u.
func uopAt(u *uop, k int) *uop { return (*uop)(unsafe.Add(unsafe.Pointer(u), uintptr(k)*uopSize)) }

// slotBytes is the register file from byte offset off on.
func (c *CPU) slotBytes(off uint8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&c.r)), unsafe.Sizeof(c.r))[off:]
}

// distance is how many bytes a begins behind b in the host's memory.
func distance(a, b []byte) int {
	return int(uintptr(unsafe.Pointer(&a[0])) - uintptr(unsafe.Pointer(&b[0])))
}
