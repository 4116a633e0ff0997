package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestConform: scripts/conform holds shell scripts, NAME.sh, with what real Linux 6.1 printed, NAME.out (recorded by the oracle:
// Debian 12's kernel in QEMU), and the differences that are accepted, each with its reason, NAME.rows. A new guest image shifts
// our side of some rows: `kscope conform -update NAME.sh NAME.out` writes them anew and keeps the reasons.
func TestConform(t *testing.T) {
	files, err := filepath.Glob("scripts/conform/*.sh")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts/conform/*.sh: %v", err)
	}
	for _, file := range files {
		base := file[:len(file)-len(".sh")]
		t.Run(filepath.Base(base), func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			if code := runOn(testMachines, []string{"conform", file, base + ".out"}, os.Stdin, &out, &errs); code != 0 {
				t.Errorf("exit %d\n%s%s", code, out.String(), errs.String())
			}
		})
	}
}
