package user

import (
	"strings"
	"testing"

	"kscope/kernel"
)

// The seeds' commands on modules: modprobe, lsmod, rmmod, and what /proc says.
func TestModuleCommands(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 1})
	for _, c := range []struct {
		line, out, errs string
		status          int
	}{
		{"lsmod", "Module                  Size  Used by\n", "", 0},
		{"modprobe kscope_test_user", "", "", 0},
		{"lsmod", "Module                  Size  Used by\nkscope_test_user       16384  0\nkscope_test            16384  1 kscope_test_user\n", "", 0},
		{"cat /proc/modules", "kscope_test_user 16384 0 - Live 0xffffffffc0005000 (O)\nkscope_test 16384 1 kscope_test_user, Live 0xffffffffc0000000 (O)\n", "", 0},
		{"grep -c [[]kscope_test /proc/kallsyms", "36\n", "", 0},
		{"grep kscope_test_add /proc/kallsyms", "ffffffffc0001029 r __kstrtab_kscope_test_add\t[kscope_test]\nffffffffc000103c r __ksymtab_kscope_test_add\t[kscope_test]\nffffffffc0000120 T kscope_test_add\t[kscope_test]\n", "", 0},
		{"rmmod kscope_test", "", "rmmod: ERROR: Module kscope_test is in use by: kscope_test_user\n", 1},
		{"rmmod kscope_test_user kscope_test", "", "", 0},
		{"cat /proc/modules", "", "", 0},
		{"insmod /etc/passwd", "", "insmod: ERROR: could not insert module /etc/passwd: Invalid module format\n", 1},
		{"modprobe kscope_test fail=12", "", "modprobe: ERROR: could not insert 'kscope_test': Cannot allocate memory\n", 1},
		{"insmod /lib/modules/6.1.0-kscope/extra/kscope_test.ko interval=x", "", "insmod: ERROR: could not insert module /lib/modules/6.1.0-kscope/extra/kscope_test.ko: Invalid parameters\n", 1},
		{"lsmod", "Module                  Size  Used by\n", "", 0},
	} {
		words := strings.Fields(c.line)
		status, out, errs, err := h.Run(words[0], words[1:]...)
		if status != c.status || out != c.out || errs != c.errs || err != nil {
			t.Errorf("%s: status %d, %v\n%s%s\nwant %d\n%s%s\n%v", c.line, status, err, out, errs, c.status, c.out, c.errs, m.Dmesg()[max(0, len(m.Dmesg())-3):])
		}
	}
}
