package kernel_test

import (
	"sync"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

var (
	snaps  kernel.Snapshots
	initrd = sync.OnceValue(func() []byte { return user.Initrd() })
)

// withPrograms gives a fork of a booted machine that runs user programs and has no tracer. The caller closes the Host.
func withPrograms(t testing.TB, cfg kernel.Config) (*kernel.Machine, *user.Host) {
	t.Helper()
	cfg.Initrd = initrd()
	m, err := snaps.Machine(cfg, func(m *kernel.Machine) error {
		kernel.Bare(m)
		_, err := user.New(m)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	host, _ := kernel.PartOf[*user.Host](m)
	return m, host
}
