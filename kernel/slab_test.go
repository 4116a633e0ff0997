package kernel

import (
	"regexp"
	"strings"
	"testing"
)

// With slub_debug=P a write to freed memory and a second kfree are reported, and mended; without it nothing is said.
func TestSlabPoison(t *testing.T) {
	for _, tc := range []struct{ cmdline, param, want string }{
		{"slub_debug=P", "oops=5", `BUG kmalloc-64 \(Tainted: G\s+O\s*\): Poison overwritten\n-+\n\n?` +
			`0x(\w+)-0x\w+ @offset=\d+\. First byte 0x78 instead of 0x6b\nSlab 0x\w+ objects=\d+ used=\d+ fp=0x\w+ flags=0x\w+\n`},
		{"slub_debug=P,kmalloc-64", "oops=6", `BUG kmalloc-64 \(Tainted: G\s+O\s*\): Object already free\n`},
		{"slub_debug=P,kmalloc-32", "oops=5", ``},
		{"", "oops=5", ``},
	} {
		m := withModulesConfig(t, Config{Seed: 1, Cmdline: tc.cmdline})
		if err := m.LoadModule("/kscope_test.ko", tc.param); err != nil {
			t.Fatal(err)
		}
		m.Run(Until{Time: m.Now() + 20e6})
		log := ""
		for _, l := range m.Dmesg() {
			log += l.Text + "\n"
		}
		switch {
		case tc.want == "" && strings.Contains(log, "BUG kmalloc"):
			t.Errorf("%q: %s", tc.cmdline, log)
		case !regexp.MustCompile(tc.want).MatchString(log):
			t.Errorf("%q %s: no match in\n%s", tc.cmdline, tc.param, log[max(0, strings.Index(log, "=====")):][:600])
		}
		if tc.want != "" && !strings.Contains(log, "FIX kmalloc-64: ") {
			t.Errorf("%q %s: not mended", tc.cmdline, tc.param)
		}
		if err := m.UnloadModule("kscope_test"); err != nil {
			t.Error(err)
		}
	}
}
