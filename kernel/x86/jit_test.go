//go:build linux && amd64 && !race

package x86

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"kscope/kernel/mem"
)

// mixEnd runs entry i of the mix to its end in slices and returns the registers, the flags and the count.
func mixEnd(t *testing.T, c *CPU, i int, slice int64) ([numSlots]uint64, uint64, uint64) {
	t.Helper()
	before := c.Insns
	c.startMix(i)
	for {
		switch e := c.Run(slice); e {
		case ExitBudget, ExitPause:
		case ExitHalt:
			return c.r, c.Flags(), c.Insns - before
		default:
			t.Fatalf("%v %+v at %#x", e, c.Exc, c.RIP())
		}
	}
}

// TestHostMemoryFull: where the memory for host code is full, empty memory takes its place, and the program does not notice.
func TestHostMemoryFull(t *testing.T) {
	for i, m := range mixes {
		plain, small := benchCPUs(1, i)[0], benchCPUs(1, i)[0]
		plain.cache.useHost(0)
		small.cache.warm = 2
		small.cache.setHosts(newHostMemory(12<<10, 1<<10))
		first := small.cache.hosts
		if first == nil {
			t.Skip("this host allows no host code")
		}
		for _, slice := range []int64{1 << 40, 1000, 7} {
			r1, f1, n1 := mixEnd(t, plain, i, slice)
			r2, f2, n2 := mixEnd(t, small, i, slice)
			if r1 != r2 || f1 != f2 || n1 != n2 {
				t.Errorf("%s in slices of %d: %x %x after %d instructions, interpreted %x %x after %d", m.name, slice, r2, f2, n2, r1, f1, n1)
			}
		}
		if m.name == "kernel" && small.cache.hosts == first {
			t.Errorf("%s: 12 KiB were enough", m.name)
		}
	}
}

// TestHostCut: where blocks lose their code at any time, or all links are cut, whoever jumped or fell into them finds what is there
// now. The text stays the same here, so that the program must not notice.
func TestHostCut(t *testing.T) {
	for i, m := range mixes {
		plain, c := benchCPUs(1, i)[0], benchCPUs(1, i)[0]
		plain.cache.useHost(0)
		c.cache.useHost(2)
		r1, f1, n1 := mixEnd(t, plain, i, 1<<40)
		rnd := rand.New(rand.NewPCG(uint64(i), 7))
		before := c.Insns
		c.startMix(i)
		fallen, cuts := 0, 0
		for e := ExitBudget; e != ExitHalt; cuts++ {
			if e = c.Run(1 + rnd.Int64N(60)); e != ExitBudget && e != ExitPause && e != ExitHalt {
				t.Fatalf("%s: %v %+v at %#x", m.name, e, c.Exc, c.RIP())
			}
			if k := c.cache; k.hosts != nil && rnd.IntN(4) == 0 {
				n := rnd.IntN(len(k.hosts.codes))
				for range len(k.hosts.codes) {
					if n = (n + 1) % len(k.hosts.codes); k.hosts.codes[n].falls != 0 {
						fallen++
						break
					}
				}
				h := k.hosts.codes[n]
				c.InvalidateCode(h.b.pfn*mem.PageSize+h.b.start%mem.PageSize, 1)
			} else if k.hosts != nil && rnd.IntN(100) == 0 {
				c.flushJumps()
				k.unlink()
			}
		}
		if r2, f2, n2 := c.r, c.Flags(), c.Insns-before; r1 != r2 || f1 != f2 || n1 != n2 {
			t.Errorf("%s: %x %x after %d instructions, interpreted %x %x after %d", m.name, r2, f2, n2, r1, f1, n1)
		}
		if m.name == "kernel" && fallen < 50 {
			t.Errorf("%s: of %d stops, %d killed a block that another falls into", m.name, cuts, fallen)
		}
	}
}

// mappings counts the mappings of host code of this process.
func mappings(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	return bytes.Count(b, []byte("memfd:kscope"))
}

// TestHostMemoryFreed: host code goes with the last machine that uses it.
func TestHostMemoryFreed(t *testing.T) {
	before := mappings(t)
	func() {
		for range 20 {
			c := benchCPUs(1, 5)[0]
			c.cache.useHost(1)
			c.Run(10_000)
			for range 3 {
				f := c.Fork(c.phys.Fork(), c.env)
				f.Run(10_000)
			}
		}
	}()
	for range 100 {
		runtime.GC()
		if mappings(t) <= before+2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d mappings before, %d after", before, mappings(t))
}

// TestHostSignals runs host code under a profiler's signals, preemption and a busy garbage collector.
func TestHostSignals(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err == nil {
		defer pprof.StopCPUProfile()
	}
	stop := make(chan bool)
	defer close(stop)
	go func() {
		var keep [][]byte
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if keep = append(keep, make([]byte, 4000)); len(keep) > 500 {
				keep = nil
			}
			if i%500 == 0 {
				runtime.GC()
			}
		}
	}()
	var want [numSlots]uint64
	for start, n := time.Now(), 0; time.Since(start) < 700*time.Millisecond || n < 2; n++ {
		c := benchCPUs(1, 5)[0]
		c.cache.useHost(1)
		r, _, _ := mixEnd(t, c, 5, []int64{1 << 40, 500}[n%2])
		if n == 0 {
			want = r
		} else if r != want {
			t.Fatalf("run %d: %x, want %x", n, r, want)
		}
	}
}

// TestHostYields: a loop of the guest that never ends gives the host's scheduler its turns: host code gets hostBudget instructions at
// once, and hundreds of millions in one Run do not keep another goroutine waiting for their end.
func TestHostYields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	c := newTestCPUs(1, []byte{0xeb, 0xfe})[0] // jmp .
	c.cache.useHost(1)
	c.SetRIP(textVA)
	c.Run(1000)
	turns, done := 0, make(chan bool)
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				turns++
				runtime.Gosched()
			}
		}
	}()
	before := c.Insns
	c.Run(300_000_000)
	done <- true
	if n := c.Insns - before; n != 300_000_000 || turns < 2 {
		t.Errorf("%d instructions, %d turns", n, turns)
	}
}

// TestTemplates: the uops of the switch that are left to their slow functions are few and known.
func TestTemplates(t *testing.T) {
	all := templates()
	var lacking []string
	for op := range o_push_run {
		name := opNames[op]
		if all[op].emit == nil {
			lacking = append(lacking, name)
		}
	}
	const want = "ud cbw cwd ret_i jrcxz jecxz loop loope loopne"
	if got := strings.Join(lacking, " "); got != want {
		t.Errorf("without a template: %s; want %s", got, want)
	}
}
