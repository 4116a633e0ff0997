package builtins

import (
	"io"
	"testing"

	"kscope/kernel"
	"kscope/lang"
)

// A name of the guest's is known with a machine and without one, the same.
func TestGuestName(t *testing.T) {
	none, _ := testEnv()
	var snaps kernel.Snapshots
	some := New(Config{Boot: bootForTest(&snaps), Defaults: kernel.Config{CPUs: 1}, Stdout: io.Discard})
	some.Attach(lang.New(lang.Config{Tables: some.Tables(), Stdout: io.Discard}))
	if _, err := some.current(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"vfs_read": `kernel.func("vfs_read"), on("kprobe:vfs_read", fn)`, "jiffies": `kernel.var("jiffies")`, "vfs_raed": "", "ls": "",
	} {
		if a, b := none.GuestName(name), some.GuestName(name); a != want || b != want {
			t.Errorf("%s: without a machine %q, with one %q, want %q", name, a, b, want)
		}
	}
}
