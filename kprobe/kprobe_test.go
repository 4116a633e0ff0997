package kprobe

import (
	"sync"
	"testing"

	"kscope/ftrace"
	"kscope/kernel"
	"kscope/kernel/user"
)

// snaps is shared by the tests so that each configuration boots once.
var snaps kernel.Snapshots

var initrd = sync.OnceValue(func() []byte { return user.Initrd() })

// boot gives a fork of a booted machine with kprobes.
func boot(tb testing.TB, cfg kernel.Config) *Kprobes {
	tb.Helper()
	k := bootOpen(tb, cfg)
	k.closing(tb)
	return k
}

// bootOpen is boot for whoever closes the machine's programs himself.
func bootOpen(tb testing.TB, cfg kernel.Config) *Kprobes {
	tb.Helper()
	cfg.Initrd = initrd()
	m, err := snaps.Machine(cfg, func(m *kernel.Machine) error {
		if _, err := user.New(m); err != nil {
			return err
		}
		if _, err := ftrace.New(m); err != nil {
			return err
		}
		_, err := New(m)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	k, ok := Of(m)
	if !ok {
		tb.Fatal("the kprobes did not follow the fork")
	}
	return k
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// work makes the guest open, write, read and close a file.
func work(tb testing.TB, k *Kprobes) {
	tb.Helper()
	must(tb, k.m.WriteFile("/file", []byte("guest\n"), false))
	got, err := k.m.ReadFile("/file")
	if must(tb, err); string(got) != "guest\n" {
		tb.Fatalf("/file: %q", got)
	}
}

// do runs fn as a request of the host, so that pokes are flushed.
func (k *Kprobes) do(tb testing.TB, fn func() error) {
	tb.Helper()
	must(tb, k.m.Do("test", func(*kernel.VCPU) error { return fn() }))
}

// addr finds a symbol.
func (k *Kprobes) addr(tb testing.TB, name string) uint64 {
	tb.Helper()
	a, err := k.m.Symbols().Resolve(name)
	must(tb, err)
	return a
}

// closing stops the programs of a machine when the test ends.
func (k *Kprobes) closing(tb testing.TB) {
	if h, ok := kernel.PartOf[*user.Host](k.m); ok {
		tb.Cleanup(h.Close)
	}
}

// cats runs n programs at once, which the kernel's page faults serve, and its locks.
func cats(tb testing.TB, k *Kprobes, n int) {
	tb.Helper()
	var pids []int
	for range n {
		pid, err := k.m.Exec("/bin/cat", []string{"cat", "/etc/passwd", "/etc/hostname"}, kernel.Streams{})
		must(tb, err)
		pids = append(pids, pid)
	}
	for _, pid := range pids {
		if _, err := k.m.Wait(pid); err != nil {
			tb.Fatal(err)
		}
	}
}
