package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kscope/kernel"
)

// A broken invariant of a machine fails a golden whatever it prints; machines that a script boots are watched as well.
func TestMachineChecks(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.star", "kernel.boot(cpus = 2, seed = 5)\nkernel.run(time = 1000)\nprint(1)\n")
	write("b.star", "print(2)\n")
	var watched []uint64
	test := func(broken string, args ...string) (int, string) {
		opts, err := parseArgs(append(args, "test", "-j=1", dir))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		p := &program{opts: opts, stdout: &out, stderr: &out, snaps: testMachines}
		p.checks = []machineCheck{{"fine", func(m *kernel.Machine) func() error {
			watched = append(watched, m.Config().Seed)
			return func() error { return nil }
		}}, {"test", func(*kernel.Machine) func() error {
			return func() error {
				if broken != "" {
					return errors.New(broken)
				}
				return nil
			}
		}}}
		return p.dispatch(), out.String()
	}
	if status, out := test("", "-update"); status != 0 {
		t.Fatalf("%d %s", status, out)
	}
	if status, out := test(""); status != 0 || len(watched) != 4 || watched[0] != 5 {
		t.Errorf("watched %d: %d %s", watched, status, out)
	}
	status, out := test("time went back")
	if want := "FAIL " + filepath.Join(dir, "a.star") + ": test: time went back\nFAIL: 1 of 2 goldens failed\n"; status != 3 || out != want {
		t.Errorf("%d %s", status, out)
	}
}

// A golden that sweeps seeds names the seed that ends differently, and where that seed's schedule parts from its own.
func TestSeedSweep(t *testing.T) {
	dir := t.TempDir()
	script := "def f(sys):\n    sys.write(1, 'x')\nfor cpu in range(4):\n    kernel.spawn(f, cpu = cpu)\n" +
		"kernel.run(time = 3 * ms)\nlast = kernel.insns\n" +
		"test.true(last == FIRST, 'instructions: %d' % last)\n"
	path := filepath.Join(dir, "a.star")
	var out bytes.Buffer
	opts, _ := parseArgs([]string{"-e", "0"})
	p := &program{opts: opts, stdout: &out, stderr: &out, snaps: testMachines}
	os.WriteFile(path, []byte(strings.Replace(script, "test.true", "print(last)#", 1)), 0o644)
	p.opts.command, p.opts.files = "run", []string{path}
	if status := p.dispatch(); status != 0 {
		t.Fatalf("%d %s", status, &out)
	}
	first := strings.TrimSpace(out.String())
	os.WriteFile(path, []byte(strings.Replace(script, "FIRST", first, 1)), 0o644)
	run := func(args ...string) (int, string) {
		opts, err := parseArgs(append(args, "test", dir))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		q := &program{opts: opts, stdout: &out, stderr: &out, snaps: p.snaps}
		return q.dispatch(), out.String()
	}
	if status, out := run("-update"); status != 0 {
		t.Fatalf("%d %s", status, out)
	}
	status, text := run("-seeds=8")
	for _, want := range []string{": seed 1: exit status 3 instead of 0\n", "error: test.true: instructions: ", "\n  seed 0   1.00", "\n  seed 1   1.00"} {
		if status != 3 || !strings.Contains(text, want) {
			t.Errorf("%d: no %q in\n%s", status, want, text)
		}
	}
}

// A golden with a case that failed, was skipped or has no end fails, whatever its .out says; -junit and -json list the cases.
func TestGoldenCases(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.star")
	run := func(script string, args ...string) (int, string) {
		if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
		opts, err := parseArgs(append(args, "test", dir))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		p := &program{opts: opts, stdout: &out, stderr: &out, snaps: testMachines}
		return p.dispatch(), strings.ReplaceAll(out.String(), dir+string(filepath.Separator), "")
	}
	const pass = "test.case('sum', lambda: test.eq(1 + 1, 2))\ntest.golden('text')\n"
	if status, out := run(pass, "-update"); status != 0 {
		t.Fatalf("%d %s", status, out)
	}
	if status, out := run(pass, "-json"); status != 0 || !strings.Contains(out, `"cases":[{"name":"sum","outcome":"pass"}]`) {
		t.Errorf("%d %s", status, out)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a.golden")); string(text) != "text" {
		t.Errorf("%q %v", text, err)
	}
	for _, c := range []struct{ script, want string }{
		{"test.case('sum', lambda: test.eq(1 + 1, 3))", `case "sum" failed`},
		{"test.case('sum', lambda: test.skip('no network'))", "+skip sum: no network"},
		{"test.case('sum', lambda: (kernel.write('default_idle', b'\\x0f\\x0b'), kernel.exec('sleep', ['1'])))", "FAIL a.star"},
		{"test.golden('other')", "-text\n"},
	} {
		if status, out := run(c.script); status != 3 || !strings.Contains(out, c.want) {
			t.Errorf("%s: %d %s", c.script, status, out)
		}
	}
}

// A golden that never ends fails by a limit of its own, which the command line changes: one of the guest, whose programs' loops are
// bounded although they execute next to no instruction of it, and one of the script.
func TestEndlessGoldens(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"loop.sh": "while :; do :; done\n", "awk.sh": "awk 'BEGIN { while (1); }'\n", "sleep.sh": "while sleep 1; do :; done\n",
		"run.star": "while True:\n    kernel.run(time = 1)\n",
	} {
		os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
		os.WriteFile(filepath.Join(dir, strings.TrimSuffix(strings.TrimSuffix(name, ".star"), ".sh")+".out"), nil, 0o644)
	}
	opts, err := parseArgs([]string{"test", "--max-insns=20000000", "--max-steps=10000", dir})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := &program{opts: opts, stdout: &out, stderr: &out, snaps: newMachines()}
	status := p.dispatch()
	if status != 3 || strings.Count(out.String(), "it ran into a limit, which each golden has") != 4 || strings.Count(out.String(), "work of programs for") != 3 {
		t.Errorf("status %d\n%s", status, &out)
	}
	for flag, want := range map[string]uint64{"": goldenInsns, "--max-insns=0": 0, "--max-insns=7": 7} {
		opts, err := parseArgs(append([]string{"test"}, strings.Fields(flag)...))
		if got := (&program{opts: opts}).bounded().opts.machine.MaxInsns; err != nil || got != want {
			t.Errorf("%s: %d instructions, %v", flag, got, err)
		}
	}
}
