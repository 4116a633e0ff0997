package sh_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// ext4Work is a shell script that does all kinds of things to a file system on /mnt, whose module mount has asked for.
const ext4Work = `
mount -t ext4 /dev/vda /mnt || exit 1
cd /mnt
seq 1 50000 > seq
for i in $(seq 1 100); do echo $i > f$i; done
mkdir -p d/e/f; mv f1 d/e/one; ln f2 d/hard; ln -s ../f3 d/soft
ln -s 0123456789012345678901234567890123456789012345678901234567890123456789 long
mv d/e moved; rm f5*; rmdir moved/f
dd if=/dev/zero of=holes bs=4096 count=1 seek=40 2>/dev/null
dd if=/dev/zero of=seq bs=1 count=0 seek=100 2>/dev/null
echo more >> f7
cd /
`

// ext4Look prints what is there.
const ext4Look = `
ls -lR /mnt | grep -v '^total'
cat /mnt/seq /mnt/f[0-9]* /mnt/d/hard /mnt/d/soft /mnt/moved/one | md5sum
md5sum < /mnt/holes
readlink /mnt/long
`

func shell(t *testing.T, m *kernel.Machine, h *user.Host, text string) string {
	t.Helper()
	r := run(t, m, h, text)
	if r.code != 0 || r.err != "" {
		log := m.Dmesg()
		t.Fatalf("status %d: %s%s\n%v", r.code, r.out, r.err, log[max(0, len(log)-40):])
	}
	return r.out
}

// TestExt4: what is written to ext4 is there after a remount, in a fork and with another seed, the disk is one that Linux's
// own tools find nothing wrong with, and the module can go.
func TestExt4(t *testing.T) {
	var first string
	for seed := range uint64(3) {
		m, h := boot(t, kernel.Config{Seed: seed})
		shell(t, m, h, ext4Work)
		out := shell(t, m, h, ext4Look)
		if again := shell(t, m, h, "umount /mnt; mount -t ext4 /dev/vda /mnt;"+ext4Look); again != out {
			t.Errorf("seed %d: before the remount\n%s\nafter\n%s", seed, out, again)
		}
		if seed == 0 {
			first = out
		} else if out != first {
			t.Errorf("seed %d\n%s\nseed 0\n%s", seed, out, first)
		}
		shell(t, m, h, "for i in 1 2 3; do umount /mnt; rmmod ext4; mount -t ext4 /dev/vda /mnt; rm -f /mnt/f9$i; sync; done; sleep 0.1")
		shell(t, m, h, "umount /mnt; rmmod ext4; sleep 0.1; test -z \"$(lsmod | grep ext4)\"")
		fsck(t, m)
	}
	if !strings.Contains(first, " d/soft -> ") && !strings.Contains(first, "soft -> ../f3") || strings.Count(first, "\n") < 100 {
		t.Errorf("too little:\n%s", first)
	}
}

// fsck holds the disk against e2fsck.
func fsck(t *testing.T, m *kernel.Machine) {
	t.Helper()
	tool, err := exec.LookPath("e2fsck")
	if err != nil {
		if tool = "/usr/sbin/e2fsck"; exec.Command(tool, "-V").Run() != nil {
			t.Log("no e2fsck here")
			return
		}
	}
	image := filepath.Join(t.TempDir(), "vda")
	if err := os.WriteFile(image, m.DiskImage(), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "-fn", image).CombinedOutput(); err != nil {
		t.Errorf("e2fsck: %v\n%s", err, out)
	}
}

// TestDiskForks: each fork has its own disk from then on; the disk is part of the machine's state.
func TestDiskForks(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 1})
	fsck(t, m) // as it was made
	shell(t, m, h, "mount -t ext4 /dev/vda /mnt; echo one > /mnt/a; sync")
	a, b := m.Copy(), m.Copy()
	if a.StateHash() != b.StateHash() {
		t.Error("copies differ")
	}
	h2, ok := kernel.PartOf[*user.Host](a)
	if !ok {
		t.Fatal("no host in the copy")
	}
	shell(t, a, h2, "echo two > /mnt/a; sync; umount /mnt")
	if a.StateHash() == b.StateHash() {
		t.Error("a write to the disk leaves the state as it was")
	}
	if string(a.DiskImage()) == string(b.DiskImage()) || string(b.DiskImage()) != string(m.DiskImage()) {
		t.Error("the copies share a disk")
	}
	fsck(t, a)
}

// TestDiskErrors: what is no ext4 is refused as Linux refuses it; a full disk says so; a read beyond the end is an error.
func TestDiskErrors(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 1})
	for _, c := range []struct{ line, want string }{
		{"dd if=/dev/zero of=/dev/vda bs=4096 count=1 2>/dev/null; mount -t ext4 /dev/vda /mnt; echo $?", "32"},
		{"dmesg | tail -1 | cut -d] -f2", " EXT4-fs (vda): VFS: Can't find ext4 filesystem"},
		{"mount -t ext4 /dev/nosuch /mnt 2>&1 | head -1", "mount: /mnt: special device /dev/nosuch does not exist."},
		{"mount -t ext4 /etc/passwd /mnt 2>&1 | wc -l", "2"},
		{"mount -t nosuchfs /dev/vda /mnt 2>&1 | head -1", "mount: /mnt: unknown filesystem type 'nosuchfs'."},
		{"rmmod ext4; echo $?", "0"},
	} {
		if r := run(t, m, h, c.line); strings.TrimSuffix(r.out, "\n") != c.want {
			t.Errorf("%s: %q, want %q (%s)", c.line, r.out, c.want, r.err)
		}
	}
	m, h = boot(t, kernel.Config{Seed: 1})
	r := run(t, m, h, "mount -t ext4 /dev/vda /mnt; dd if=/dev/zero of=/mnt/x bs=65536 count=300; rm /mnt/x; echo again > /mnt/y; cat /mnt/y; umount /mnt")
	if !strings.Contains(r.err, "No space left on device") || r.out != "again\n" {
		t.Errorf("a full disk: %s%s", r.out, r.err)
	}
	fsck(t, m)
}

// BenchmarkExt4Read reads a file of 8 MB: from the page cache, and from the disk after a remount.
func BenchmarkExt4Read(b *testing.B) {
	for _, c := range []struct{ name, script string }{
		{"cached", "cat /mnt/x > /dev/null"},
		{"disk", "umount /mnt; mount -t ext4 /dev/vda /mnt; cat /mnt/x > /dev/null"},
	} {
		b.Run(c.name, func(b *testing.B) {
			m, h := boot(b, kernel.Config{Seed: 1, MaxInsns: 1e15})
			if r := run(b, m, h, "mount -t ext4 /dev/vda /mnt; dd if=/dev/zero of=/mnt/x bs=65536 count=128 2>/dev/null; sync; cat /mnt/x > /dev/null"); r.err != "" {
				b.Fatal(r.err)
			}
			b.SetBytes(8 << 20)
			for b.Loop() {
				if r := run(b, m, h, c.script); r.err != "" {
					b.Fatal(r.err)
				}
			}
		})
	}
}

// TestExt4Parallel: four writers and a reader on four CPUs, over some seeds; every file is what its writer wrote, and the
// disk is clean. The same seed gives the same disk.
func TestExt4Parallel(t *testing.T) {
	const script = `
mount -t ext4 /dev/vda /mnt
for w in 1 2 3 4; do
	(mkdir /mnt/w$w; for i in 1 2 3 4 5 6; do seq $w $((w * 700 + i)) > /mnt/w$w/f$i; [ $i = 3 ] && sync; mv /mnt/w$w/f$i /mnt/w$w/g$i; done; rm /mnt/w$w/g2) &
done
while [ ! -e /mnt/w4/g6 ]; do ls -R /mnt > /dev/null; sleep 0.0005; done &
wait
for w in 1 2 3 4; do for i in 1 3 4 5 6; do seq $w $((w * 700 + i)) | cmp - /mnt/w$w/g$i; done; done
umount /mnt
`
	seeds := 6
	if testing.Short() {
		seeds = 3
	}
	disks := map[string]bool{}
	for seed := range uint64(seeds) {
		m, h := boot(t, kernel.Config{Seed: seed})
		if r := run(t, m, h, script); r.out != "" || r.err != "" {
			log := m.Dmesg()
			t.Fatalf("seed %d: %s%s\n%v", seed, r.out, r.err, log[max(0, len(log)-40):])
		}
		fsck(t, m)
		disks[string(m.DiskImage())] = true
		if seed == 0 {
			again, h := boot(t, kernel.Config{Seed: seed})
			run(t, again, h, script)
			if again.StateHash() != m.StateHash() {
				t.Error("the same seed ends elsewhere")
			}
		}
	}
	if len(disks) < 2 {
		t.Error("all seeds give one disk: nothing ran in parallel")
	}
}
