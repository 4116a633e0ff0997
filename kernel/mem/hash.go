package mem

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// HashFrame writes the frame's number and the sum of its contents to h. Whether the frame is shared, private or
// never written does not show.
func (p *Phys) HashFrame(h io.Writer, pfn uint64) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], pfn)
	binary.LittleEndian.PutUint64(b[8:], Sum(p.Page(pfn)))
	h.Write(b[:])
}

// IsZero reports whether the frame was never written; a frame of written zeros is not.
func (p *Phys) IsZero(pfn uint64) bool { return p.Page(pfn) == p.zero }

// Sum is a 64-bit hash of a frame: the same on every host and in every run, and different, but for one chance in 2^64,
// for different contents. Each word goes through a 64x64->128 multiply that is a bijection of the running sum and the
// word only up to rare zero factors, so the keys keep both factors away from zero for the likely contents (zeros).
func Sum(f *Frame) uint64 {
	const k0, k1, k2, k3 = 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0xd6e8feb86659fd93
	a, b := uint64(k0), uint64(k1)
	for i := 0; i < PageSize; i += 32 {
		a = mix(a^binary.LittleEndian.Uint64(f[i:]), k2^binary.LittleEndian.Uint64(f[i+8:])) + a*k3
		b = mix(b^binary.LittleEndian.Uint64(f[i+16:]), k3^binary.LittleEndian.Uint64(f[i+24:])) + b*k2
	}
	return mix(a^k1, b^k0)
}

func mix(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}
