package sh_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kscope/kernel"
)

var (
	diskSeeds = flag.Int("disks", 20, "broken disks of TestBrokenDisks")
	diskFrom  = flag.Uint64("disks.from", 0, "the first of them")
)

// brokenLook mounts a disk, reads and changes all that there is, and unmounts it. Whatever the commands say, the shell goes on.
const brokenLook = `
mount -t ext4 /dev/vda /mnt || { dmesg | tail -n 1; exit 0; }
ls -lR /mnt > /dev/null
cd /mnt
for f in seq f1 f30 d/hard d/soft sub/deep/file sparse long short; do head -c 200000 $f; done > /dev/null
for f in *; do [ -f $f ] && echo more >> $f; done
echo new > new; echo over > f7; mkdir made; mv f8 made/f8; mv sub/deep made/deep; ln f9 link; ln -s f9 sym
mv f10 f11; rm f12 f13 seq; rmdir made; chmod 600 f14; dd if=/dev/zero of=sparse bs=4096 count=1 seek=7 conv=notrunc
head -c 300000 /dev/zero > fill; sync
rm -r made d
rm -r *
cd /
umount /mnt
exit 0
`

// TestBrokenDisks: any bytes as a disk's contents. What mounts may give errors, as Linux's ext4 does, but nothing hangs, and
// the kernel neither oopses nor warns of itself.
func TestBrokenDisks(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 1})
	shell(t, m, h, `
mount -t ext4 /dev/vda /mnt; cd /mnt
seq 1 3000 > seq
for i in $(seq 1 40); do echo $i > f$i; done
mkdir -p d sub/deep; ln f2 d/hard; ln -s ../f3 d/soft; echo deep > sub/deep/file
i=0; while [ $i -lt 12 ]; do echo $i | dd of=sparse bs=8192 count=1 seek=$i conv=notrunc 2>/dev/null; sync; i=$((i+1)); done
ln -s 0123456789012345678901234567890123456789012345678901234567890123456789 long; ln -s f1 short
cd /; umount /mnt`)
	good := m.DiskImage()
	mounted := 0
	for i := range uint64(*diskSeeds) {
		seed := *diskFrom + i
		t.Run(fmt.Sprint(seed), func(t *testing.T) { // each gives back its machine
			disk := slices.Clone(good)
			what := breakDisk(disk, rand.New(rand.NewPCG(seed, 4)))
			if brokenDisk(t, seed, what, disk) {
				mounted++
			}
		})
	}
	t.Logf("%d of %d mount", mounted, *diskSeeds)
	if *diskSeeds >= 20 && (mounted < *diskSeeds/4 || mounted == *diskSeeds) {
		t.Errorf("%d of %d disks mount", mounted, *diskSeeds)
	}
}

// stacks are those of all CPUs: where a guest that hangs is.
func stacks(m *kernel.Machine) (lines []string) {
	for id := range m.NumCPU() {
		c := m.VCPU(id)
		if c.CPU.CPL() == 3 {
			continue
		}
		_ = c.Walk(func(f *kernel.Frame) bool {
			lines = append(lines, m.Symbols().FormatReturn(f.PC))
			return true
		})
	}
	return lines
}

// brokenDisk uses a disk, and says whether it could be mounted.
func brokenDisk(t *testing.T, seed uint64, what string, disk []byte) bool {
	t.Helper()
	m, h := boot(t, kernel.Config{Seed: seed, MaxInsns: 400e6, CPUs: 2})
	if err := m.SetDiskImage(disk); err != nil {
		t.Fatal(err)
	}
	r := run(t, m, h, brokenLook)
	if r.code != 0 {
		t.Errorf("disk %d (%s): status %d\n%s%s%v", seed, what, r.code, r.out, r.err, stacks(m))
	}
	if len(m.Oopses()) > 0 {
		t.Errorf("disk %d (%s): %s", seed, what, m.Oopses()[0].Text())
	}
	for _, l := range m.Dmesg() {
		if strings.Contains(l.Text, "WARNING: ") || strings.Contains(l.Text, "BUG: ") {
			t.Errorf("disk %d (%s): %s", seed, what, l.Text)
			break
		}
	}
	return !strings.HasPrefix(r.err, "mount: /mnt: ")
}

// breakDisk damages an image and says how.
func breakDisk(disk []byte, r *rand.Rand) string {
	const block = 4096
	used := []int{}
	for i := 0; i < len(disk)/block; i++ {
		if b := disk[i*block : (i+1)*block]; slices.Max(b) > 0 {
			used = append(used, i)
		}
	}
	odd := []uint32{0, 1, 2, 3, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, uint32(r.IntN(4200)), uint32(r.IntN(64)) * 4}
	word := func(at int) {
		v := odd[r.IntN(len(odd))]
		if r.IntN(3) == 0 {
			v = r.Uint32()
		}
		if r.IntN(2) == 0 {
			binary.LittleEndian.PutUint16(disk[at&^1:], uint16(v))
		} else {
			binary.LittleEndian.PutUint32(disk[at&^3:], v)
		}
	}
	switch kind := r.IntN(8); kind {
	case 0: // the super block's fields
		for range 1 + r.IntN(3) {
			word(1024 + r.IntN(120))
		}
		return "super block"
	case 1: // the group descriptor's
		for range 1 + r.IntN(3) {
			word(block + r.IntN(32))
		}
		return "group descriptor"
	case 2, 3: // inodes in use: any field, the extents above all
		for range 1 + r.IntN(6) {
			ino := []int{1, 10, 11 + r.IntN(50)}[r.IntN(3)]
			word(4*block + ino*256 + []int{r.IntN(128), 40 + r.IntN(60)}[r.IntN(2)])
		}
		return "inodes"
	case 4, 5: // directories, tree blocks, bitmaps
		for range 1 + r.IntN(12) {
			b := used[r.IntN(len(used))]
			word(b*block + r.IntN([]int{64, 512, block}[r.IntN(3)]))
		}
		return "words"
	case 6: // anything
		for range 1 + r.IntN(2000) {
			disk[used[r.IntN(len(used))]*block+r.IntN(block)] = byte(r.Uint32())
		}
		return "bytes"
	default: // whole blocks are others, or noise
		for range 1 + r.IntN(4) {
			b := used[r.IntN(len(used))]
			if r.IntN(2) == 0 {
				copy(disk[b*block:(b+1)*block], disk[used[r.IntN(len(used))]*block:])
				continue
			}
			for i := range block {
				disk[b*block+i] = byte(r.Uint32())
			}
		}
		return "blocks"
	}
}
