package sh_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// A pipeline of ten stages, for several seeds.
func TestTenStages(t *testing.T) {
	for seed := range uint64(4) {
		m, h := boot(t, kernel.Config{Seed: seed})
		got := run(t, m, h, `x=0
while [ $x -lt 400 ]; do echo line $x; x=$((x+1)); done | cat | cat | cat | cat | cat | cat | cat | cat | wc -l
echo ${PIPESTATUS[@]}
`)
		if want := (result{"400\n0 0 0 0 0 0 0 0 0 0\n", "", 0}); got != want {
			t.Errorf("seed %d: %v", seed, got)
		}
	}
}

// 200 sleeping tasks, which end in the order of their times.
func TestSleepers(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 5})
	start := m.Now()
	got := run(t, m, h, `i=0
while [ $i -lt 200 ]; do
  i=$((i+1))
  { sleep 10; echo $i; } &
done
wait
echo all
`)
	if got.code != 0 || got.err != "" || len(strings.Fields(got.out)) != 201 || !strings.HasSuffix(got.out, "all\n") {
		t.Errorf("exit %d\n%s\n%s", got.code, got.out, got.err)
	}
	if d := m.Now() - start; d < 10e9 || d > 12e9 {
		t.Errorf("took %d ns of virtual time", d)
	}
}

// A fork bomb with a bound ends; what the kernel refuses is reported and survived.
func TestForkBomb(t *testing.T) {
	for seed := range uint64(3) {
		m, h := boot(t, kernel.Config{Seed: seed, CPUs: 4})
		before := runtime.NumGoroutine()
		got := run(t, m, h, `bomb() { [ $1 -eq 0 ] && return; bomb $(($1-1)) & bomb $(($1-1)) & wait; }
bomb 7
echo survived
`)
		if got.code != 0 || !strings.HasSuffix(got.out, "survived\n") {
			t.Errorf("seed %d: exit %d\n%s\n%s", seed, got.code, got.out, got.err)
		}
		if after := runtime.NumGoroutine(); after > before {
			t.Errorf("seed %d: %d goroutines before, %d after", seed, before, after)
		}
	}
}

// A bomb without a bound, killed from outside the machine.
func TestForkBombKilled(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 1, CPUs: 4})
	if err := m.WriteFile("/x.sh", []byte("f() { f | f & }; f; sleep 1; wait\n"), false); err != nil {
		t.Fatal(err)
	}
	pid, err := h.Exec("bash", []string{"./x.sh"}, kernel.Streams{Out: io.Discard, Err: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	idle := len(m.Tasks())
	stop := m.Run(kernel.Until{Time: m.Now() + 3e6})
	if stop.Reason != kernel.StopDone {
		t.Fatalf("%v\n%v", stop, m.Dmesg())
	}
	bombs := len(m.Tasks()) - idle
	if err := m.Kill(-1, 9); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Wait(pid); err != nil {
		t.Fatal(err)
	}
	m.Run(kernel.Until{Time: m.Now() + 5e6})
	if n := len(m.Tasks()); n > idle || bombs < 20 {
		t.Errorf("%d tasks before, %d more with the bomb, %d after kill -9 -1", idle, bombs, n)
	}
	got := run(t, m, h, "echo alive\n")
	if got != (result{"alive\n", "", 0}) {
		t.Error(got)
	}
	t.Logf("%d tasks", bombs)
}

const detScript = `trap 'echo bye' EXIT
f() { for i in 1 2 3; do echo "$1 $i $RANDOM"; sleep 0.00$i; done; }
f a & f b & f c &
cat /etc/passwd | while IFS=: read -r u _; do echo "<$u>"; done
for i in $(echo 1 2 3 4 5); do (echo sub $i; exit $i); echo $?; done
kill $(sleep 100 > /dev/null & echo $!)
diff <(echo a) <(echo b) 2>/dev/null
wait; echo $! $$ $BASHPID
`

// The same seed is the same run to the byte, on one processor and two; another seed is another one that ends too.
func TestDeterminism(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	hashes := map[uint64]string{}
	for _, procs := range []int{1, 2} {
		runtime.GOMAXPROCS(procs)
		for seed := range uint64(5) {
			m, h := boot(t, kernel.Config{Seed: seed, CPUs: 4})
			got := fmt.Sprintf("%v %d %d", run(t, m, h, detScript), m.Now(), m.Insns())
			if old, ok := hashes[seed]; ok && old != got {
				t.Errorf("seed %d, %d processors:\n%s\nfirst\n%s", seed, procs, got, old)
			}
			hashes[seed] = got
		}
	}
}

// A machine that is forked in the middle of a script: both copies go on alike, and the script ends as it would have.
func TestForkedMachine(t *testing.T) {
	for _, at := range []uint64{200e3, 700e3, 1500e3, 3e6} {
		m, h := boot(t, kernel.Config{Seed: 4, CPUs: 2})
		if err := m.WriteFile("/x.sh", []byte(detScript), false); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		var copies [2]bytes.Buffer
		n := 0
		streams := kernel.Streams{Out: &out, Err: &out, Fork: func() kernel.Streams {
			c := &copies[n]
			n++
			c.Write(out.Bytes())
			return kernel.Streams{Out: c, Err: c}
		}}
		pid, err := h.Exec("bash", []string{"./x.sh"}, streams)
		if err != nil {
			t.Fatal(err)
		}
		m.Run(kernel.Until{Time: m.Now() + at})
		for range copies {
			if code, err := m.Fork(7).Wait(pid); err != nil || code != 0 {
				t.Fatal(code, err)
			}
		}
		a, b := copies[0].String(), copies[1].String()
		if a != b || !strings.HasSuffix(a, "bye\n") || !strings.Contains(a, "<nobody>\nsub 1\n1\nsub 2") {
			t.Errorf("forked at %d:\n%s\nthe other copy:\n%s", at, a, b)
		}
	}
}

// What a trivial script costs: fork, exec and exit of true, an external command.
func BenchmarkTrue(b *testing.B) {
	m, h := boot(b, kernel.Config{Seed: 1})
	script := "i=0; while [ $i -lt " + fmt.Sprint(b.N) + " ]; do /bin/true; i=$((i+1)); done\n"
	b.ResetTimer()
	run(b, m, h, script)
}

func BenchmarkLoop(b *testing.B) {
	m, h := boot(b, kernel.Config{Seed: 1})
	script := "i=0; while [ $i -lt " + fmt.Sprint(b.N) + " ]; do i=$((i+1)); done\n"
	b.ResetTimer()
	run(b, m, h, script)
}

func BenchmarkSubst(b *testing.B) {
	m, h := boot(b, kernel.Config{Seed: 1})
	script := "i=0; while [ $i -lt " + fmt.Sprint(b.N) + " ]; do x=$(echo $i); i=$((i+1)); done\n"
	b.ResetTimer()
	run(b, m, h, script)
}

// freeRAM asks the guest's kernel.
func freeRAM(t *testing.T, m *kernel.Machine, h *user.Host) (free uint64) {
	pid, err := h.Spawn(user.Program{Name: "free", Main: func(s *user.Sys, _ []string) int {
		_, out, err := s.CallNamed("sysinfo", user.Out(112))
		if err == nil && !s.Replaying() {
			free = binary.LittleEndian.Uint64(out[0][40:])
		}
		return 0
	}}, nil, kernel.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Wait(pid); err != nil {
		t.Fatal(err)
	}
	return free
}

// Children, pipes, substitutions, kills and a bomb leave no task, no page and no goroutine behind.
func TestNothingLeft(t *testing.T) {
	const script = detScript + `bomb() { [ $1 -eq 0 ] && return; bomb $(($1-1)) & bomb $(($1-1)) & wait; }
bomb 4
for s in 1 9 13 15; do sleep 100 & kill -$s $!; wait $! 2>/dev/null; done
cat /dev/zero | head -c 100000 | wc -c
{ while :; do :; done; } & kill $!; wait $! 2>/dev/null
exit 0
`
	m, h := boot(t, kernel.Config{Seed: 9, CPUs: 3})
	var tasks []int
	var free []uint64
	goroutines := 0
	for i := range 8 {
		if got := run(t, m, h, script); got.code != 0 {
			t.Fatal(got)
		}
		m.Run(kernel.Until{Time: m.Now() + 200e9}) // the orphans' sleeps end
		tasks = append(tasks, len(m.Tasks()))
		free = append(free, freeRAM(t, m, h))
		if i == 0 {
			goroutines = runtime.NumGoroutine()
		}
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines after the first run, %d after the last", goroutines, n)
	}
	if tasks[7] != tasks[1] {
		t.Errorf("tasks after each run: %v", tasks)
	}
	// Caches and half-full slabs move by some pages from run to run.
	if first, last := slices.Max(free[:4]), slices.Max(free[4:]); last+128<<10 < first {
		t.Errorf("free memory after each run: %v", free)
	}
	t.Log(tasks, free)
}
