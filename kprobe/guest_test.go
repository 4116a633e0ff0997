package kprobe

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/kernel/guest"
	"kscope/kernel/x86"
)

// dmesg are the lines of the kernel log from line n on.
func (k *Kprobes) dmesg(n int) (out []string) {
	for _, l := range k.m.Dmesg()[n:] {
		out = append(out, l.Text)
	}
	return out
}

// load loads a module of the image with arguments.
func (k *Kprobes) load(t *testing.T, name, args string) {
	t.Helper()
	must(t, k.m.WriteFile("/"+name+".ko", guest.Module(name), false))
	if err := k.m.LoadModule("/"+name+".ko", args); err != nil {
		t.Fatalf("insmod %s: %v\n%s", name, err, strings.Join(k.dmesg(len(k.m.Dmesg())-5), "\n"))
	}
}

// TestExample: the seed's module registers, prints at each open, and goes.
func TestExample(t *testing.T) {
	k := boot(t, kernel.Config{})
	n := len(k.m.Dmesg())
	k.load(t, "kprobe_example", "")
	cats(t, k, 1)
	must(t, k.m.UnloadModule("kprobe_example"))
	text := strings.Join(k.dmesg(n), "\n")
	want := regexp.MustCompile(`(?s)^kprobe_example: loading out-of-tree module taints kernel\.
kprobe registered at do_sys_open
kretprobe registered at do_sys_open
(kprobe: do_sys_open called: dfd=-100, filename=\w+, flags=0x\w+
kprobe: do_sys_open instruction executed
kretprobe: do_sys_open returned: fd=3
){2,}kprobe and kretprobe unregistered$`)
	if !want.MatchString(text) {
		t.Errorf("%s", text)
	}
	if len(k.guests) != 0 || len(k.list) != 0 || len(k.m.Oopses()) != 0 {
		t.Errorf("left: %d probes of the guest, %s", len(k.guests), k.List())
	}
}

// TestExampleIsTheSeeds: the module's source is the seed's text, of which only the \n in its strings are restored.
func TestExampleIsTheSeeds(t *testing.T) {
	seed, err := os.ReadFile("../../shared/seeds/ftrace-and-kprobe.txt")
	if err != nil {
		t.Skip("the seeds are not here: ", err)
	}
	src, err := os.ReadFile("../kernel/guest/modules/kprobe_example.c")
	must(t, err)
	if !strings.Contains(string(seed), strings.ReplaceAll(string(src), `\n`, "\n")) {
		t.Error("kprobe_example.c is not the seed's example")
	}
}

// TestGone: the probe of a module that has been unloaded is listed as gone, until its module is back or its event is removed.
func TestGone(t *testing.T) {
	k := boot(t, kernel.Config{})
	k.load(t, "kscope_test", "interval=1")
	k.add2(t, "p:m kscope_test:kscope_test_mix", "p:n kscope_test:kscope_test_mix+5")
	k.write(t, "events/kprobes/enable", "1")
	k.pass(t, optimised)
	if l := k.List(); strings.Count(l, "kscope_test_mix") != 2 || strings.Contains(l, "GONE") || k.events[0].Hits == 0 {
		t.Errorf("%s%d hits", l, k.events[0].Hits)
	}
	must(t, k.m.UnloadModule("kscope_test"))
	gone := regexp.MustCompile(`^ffffffffc\w+  k  0xffffffffc\w+ \[GONE\](\[FTRACE\])?\nffffffffc\w+  k  0xffffffffc\w+ \[GONE\](\[FTRACE\])?\n$`)
	if l := k.List(); !gone.MatchString(l) {
		t.Errorf("%s", l)
	}
	if n, _ := Of(k.m.Copy()); !gone.MatchString(n.List()) {
		t.Errorf("a copy: %s", n.List())
	}
	hits := k.events[0].Hits
	k.load(t, "kscope_test", "interval=1")
	k.pass(t, optimised)
	if l := k.List(); strings.Count(l, "kscope_test_mix") != 2 || strings.Contains(l, "GONE") || k.events[0].Hits == hits {
		t.Errorf("%s%d hits", l, k.events[0].Hits-hits)
	}
	must(t, k.m.UnloadModule("kscope_test"))
	k.write(t, "events/kprobes/enable", "0")
	k.write(t, "kprobe_events", "\n")
	if l := k.List(); l != "" || len(k.sites) != 0 {
		t.Errorf("%s", l)
	}
}

// TestFromC: kprobes by int3 with a post handler, by jump, and kretprobes with an entry handler, all in C.
func TestFromC(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"post=1", `^kprobe_test: pre (\d+) post (\d+) returns (\d+) missed 0 0 bad 0 nmi (\d+)$`},
		{"post=0", `^kprobe_test: pre (\d+) post (0) returns (\d+) missed 0 0 bad 0 nmi (\d+)$`},
		{"post=0 offset=0", `^kprobe_test: pre (\d+) post (0) returns (\d+) missed 0 0 bad 0 nmi (\d+)$`},
		{"post=1 offset=0 refuse=1", `^kprobe_test: pre (\d+) post (\d+) returns (\d+) missed 0 0 bad 0 nmi (\d+)$`},
	} {
		t.Run(strings.ReplaceAll(c.args, " ", ","), func(t *testing.T) {
			k := boot(t, kernel.Config{})
			k.load(t, "kprobe_test", c.args)
			k.pass(t, optimised)
			jumps := slices.ContainsFunc(k.list, func(s *site) bool { return s.opt == optJumping })
			if jumps != (c.args == "post=0") {
				t.Errorf("%s", k.List())
			}
			for range 3 {
				cats(t, k, 2)
			}
			list := k.List()
			must(t, k.m.UnloadModule("kprobe_test"))
			lines := k.dmesg(0)
			m := regexp.MustCompile(c.want).FindStringSubmatch(lines[len(lines)-1])
			if m == nil || m[1] == "0" {
				t.Fatalf("%s\n%s", strings.Join(lines, "\n"), list)
			}
			nmi := map[bool]string{true: "0", false: m[1]}[strings.Contains(c.args, "offset=0")] // by int3: an NMI's context
			if c.args == "post=0" {
				nmi = "0" // by a jump
			}
			if pre, post, ret := m[1], m[2], m[3]; strings.Contains(c.args, "post=1") && post != pre ||
				strings.Contains(c.args, "refuse") != (ret != pre) || m[4] != nmi {
				t.Errorf("%s", lines[len(lines)-1])
			}
			for _, l := range lines {
				if strings.HasPrefix(l, "kprobe_test:") && strings.Contains(l, "twice") {
					t.Error(l)
				}
			}
			if len(k.guests) != 0 || len(k.list) != 0 {
				t.Errorf("left: %s", k.List())
			}
		})
	}
}

// TestForkInHandler: a machine that is copied in the middle of a handler in C goes on as the original does: before a kprobe, behind its
// instruction, at a call's entry and at its return.
func TestForkInHandler(t *testing.T) {
	for _, c := range []struct{ args, handler string }{
		{"post=1", "pre"}, {"post=1", "behind"}, {"post=0", "pre"}, {"post=1 offset=0", "pre"}, {"post=1 offset=0", "behind"},
		{"post=1", "entry"}, {"post=1", "ret"}, {"post=1 refuse=1", "entry"},
	} {
		t.Run(strings.ReplaceAll(c.args+" "+c.handler, " ", ","), func(t *testing.T) {
			k := boot(t, kernel.Config{Seed: 7})
			k.load(t, "kprobe_test", c.args)
			k.pass(t, optimised)
			stops := 0
			remove, err := k.m.Hook(k.addr(t, "kprobe_test:"+c.handler)+5, func(*kernel.VCPU) {
				if stops++; stops == 3 {
					k.m.RequestStop("in the handler")
				}
			})
			must(t, err)
			pid, err := k.m.Exec("/bin/cat", []string{"cat", "/etc/passwd", "/etc/hostname", "/etc/group"}, kernel.Streams{})
			must(t, err)
			if stop := k.m.Run(kernel.Until{Pid: pid}); stop.Reason != kernel.StopVerdict {
				t.Fatalf("%v", stop)
			}
			remove()
			n, _ := Of(k.m.Copy())
			n.closing(t)
			busy := 0
			for i := range n.busy {
				if n.thunks[i].live && n.busy[i] {
					busy++
				}
			}
			end := func(k *Kprobes) (string, uint64) {
				_, err := k.m.Wait(pid)
				must(t, err)
				for _, r := range k.list {
					for _, p := range r.probes {
						if p.ret != nil {
							balance(t, p.ret)
							if p.ret.InFlight != 0 {
								t.Errorf("%d calls are in flight", p.ret.InFlight)
							}
						}
					}
				}
				must(t, k.m.UnloadModule("kprobe_test"))
				k.pass(t, ms)
				return strings.Join(k.dmesg(0), "\n"), k.m.StateHash()
			}
			a, x := end(k)
			b, y := end(n)
			if a != b || x != y || busy != 1 || !strings.Contains(a, "bad 0 nmi") {
				t.Errorf("%d handlers run; %x in the original:\n%s\n%x in the copy:\n%s", busy, x, a[max(0, len(a)-200):], y, b[max(0, len(b)-200):])
			}
		})
	}
}

// TestHotFromC: handlers in C on a function that two CPUs call without end, by each way, with the ticks that now come into them: every context is
// right, and the module goes under them.
func TestHotFromC(t *testing.T) {
	for seed, args := range []string{"offset=0 post=0", "offset=0 post=1", "offset=5 post=1", "offset=13 post=0"} {
		k := boot(t, kernel.Config{Seed: uint64(seed), CPUs: 3})
		must(t, k.m.Hot(0x3, 0))
		k.load(t, "kprobe_test", "symbol=kscope_hot "+args)
		jumps := func() bool {
			return slices.ContainsFunc(k.list, func(s *site) bool { return s.opt == optJumping })
		}
		for range 20 {
			if k.pass(t, 4*ms); jumps() || !strings.Contains(args, "13") {
				break
			}
		}
		if jumps() != strings.Contains(args, "13") {
			t.Errorf("%s: %s", args, k.List())
		}
		open := 0
		remove, err := k.m.Hook(k.addr(t, "kprobe_test:pre")+5, func(c *kernel.VCPU) {
			if c.CPU.Flags()&x86.FlagIF != 0 {
				open++
			}
		})
		must(t, err)
		k.pass(t, 2*ms)
		remove()
		must(t, k.m.UnloadModule("kprobe_test"))
		lines := k.dmesg(0)
		last := lines[len(lines)-1]
		m := regexp.MustCompile(`^kprobe_test: pre (\d+) post (\d+) returns (\d+) missed (\d+) (\d+) bad 0 nmi (\d+)$`).FindStringSubmatch(last)
		if m == nil || len(m[1]) < 4 || open == 0 != strings.Contains(args, "offset=5") {
			t.Errorf("%s: %s, %d handlers with interrupts on", args, last, open)
		}
		if len(k.guests) != 0 || len(k.list) != 0 {
			t.Errorf("left: %s", k.List())
		}
	}
}
