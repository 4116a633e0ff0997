package kernel_test

import (
	"bytes"
	"fmt"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// Numbers of the raw calls below (arch/x86/entry/syscalls/syscall_64.tbl).
const (
	nrWrite    = 1
	nrMmap     = 9
	nrMprotect = 10
	nrMunmap   = 11
	nrGettime  = 228
)

// program runs fn as a guest task and returns its exit status; fn reports to t.
func program(t *testing.T, cpus int, fn func(s *user.Sys, check func(what string, ok bool))) int {
	t.Helper()
	m, host := withPrograms(t, kernel.Config{CPUs: cpus, Seed: 1})
	defer host.Close()
	check := func(what string, ok bool) {
		if !ok {
			t.Error(what)
		}
	}
	var out bytes.Buffer
	prog := user.Program{Name: "mm", Main: func(s *user.Sys, _ []string) int { fn(s, check); return 0 }}
	pid, err := host.Spawn(prog, nil, kernel.Streams{Out: &out, Err: &out})
	if err != nil {
		t.Fatal(err)
	}
	code, err := m.Wait(pid)
	if err != nil || len(m.Oopses()) > 0 {
		t.Fatalf("%v; %d oopses", err, len(m.Oopses()))
	}
	return code
}

// TestUserMemory: what a program may do with addresses, and what each misuse answers.
func TestUserMemory(t *testing.T) {
	const efault, einval, enomem = kernel.Errno(14), kernel.Errno(22), kernel.Errno(12)
	code := program(t, 4, func(s *user.Sys, check func(string, bool)) {
		errno := func(what string, want kernel.Errno, nr int, args ...uint64) {
			_, e := s.Call(nr, args...)
			check(fmt.Sprintf("%s: %v, want %v", what, e, want), e == want)
		}
		r, w, _ := s.Pipe()
		fd := uint64(w)
		errno("write from an unmapped page", efault, nrWrite, fd, 0x10000, 8)
		errno("write from kernel memory", efault, nrWrite, fd, 0xffffffff81000000, 8)
		errno("write from a non-canonical address", efault, nrWrite, fd, 0x8000_0000_0000_0000, 8)
		errno("clock to text", efault, nrGettime, 0, 0x400000)
		errno("clock to null", efault, nrGettime, 0, 0)

		// A copy across the end of a mapping gives what was there.
		b, _ := s.Mmap(2 * 4096)
		errno("unmap the second page", 0, nrMunmap, b.Addr+4096, 4096)
		n, e := s.Call(nrWrite, fd, b.Addr+4000, 200)
		check(fmt.Sprintf("write over the end: %d %v", n, e), n == 96 && e == 0 || e == efault)
		if n > 0 {
			s.Read(r, int(n))
		}

		// Protection: read-only pages refuse the kernel's stores too, until they are writable again.
		errno("mprotect to read-only", 0, nrMprotect, b.Addr, 4096, 1)
		errno("clock to a read-only page", efault, nrGettime, 0, b.Addr)
		errno("mprotect back", 0, nrMprotect, b.Addr, 4096, 3)
		errno("clock to a writable page", 0, nrGettime, 0, b.Addr)
		errno("mprotect of a hole", enomem, nrMprotect, b.Addr+4096, 4096, 1)
		errno("mprotect of an odd address", einval, nrMprotect, b.Addr+1, 4096, 1)
		errno("munmap of an odd address", einval, nrMunmap, b.Addr+1, 4096)
		errno("mmap of nothing", einval, nrMmap, 0, 0, 3, 0x22, ^uint64(0), 0)
		errno("mmap of everything", enomem, nrMmap, 0, 1<<47, 3, 0x22, ^uint64(0), 0)

		// The heap grows, is zero, shrinks.
		old := s.Brk(0)
		check("brk grows", s.Brk(old+20000) == old+20000)
		errno("clock to the heap", 0, nrGettime, 0, old+16000)
		check("brk shrinks", s.Brk(old) == old)
		errno("clock behind the heap", efault, nrGettime, 0, old+16000)
		copyOnWrite(s, check, r, w)
	})
	if code != 0 {
		t.Errorf("status %d", code)
	}
}

// copyOnWrite: after a fork, parent and child write to the same page and do not see each other.
func copyOnWrite(s *user.Sys, check func(string, bool), r, w int) {
	b, _ := s.Mmap(3 * 4096)
	fill := func(s *user.Sys, text string) { // through a pipe: the kernel's copy_to_user takes the write faults
		s.Write(w, []byte(text))
		s.ReadInto(r, user.Buf{Addr: b.Addr, Size: len(text)})
	}
	show := func(s *user.Sys, n int) string {
		s.WriteFrom(w, b, n)
		data, _ := s.Read(r, n)
		return string(data)
	}
	fill(s, "parent before")
	pid, _ := s.Fork(func(c *user.Sys) int {
		if show(c, 13) != "parent before" {
			return 1
		}
		fill(c, "child  writes")
		if show(c, 13) != "child  writes" {
			return 2
		}
		return 0
	})
	_, status, _ := s.Wait4(pid, 0)
	check(fmt.Sprintf("child of the copy: status %#x", status), status == 0)
	check("the parent's page is its own", show(s, 13) == "parent before")
	fill(s, "parent after!")
	check("the last owner writes in place", show(s, 13) == "parent after!")
}
