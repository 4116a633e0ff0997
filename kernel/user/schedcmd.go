package user

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"kscope/kernel"
)

var tasksetOptions = []option{{'c', "cpu-list", false, 0}, {'p', "pid", false, 0}}

// taskset is util-linux's: taskset MASK COMMAND…, -c LIST, -p [MASK] PID.
func taskset(c *cmd) int {
	c.inOrder = true
	found, args, status, done := c.parse(tasksetOptions, 1)
	if done {
		return status
	}
	list, byPid := false, false
	for _, o := range found {
		list = list || o.id == 'c'
		byPid = byPid || o.id == 'p'
	}
	if len(args) == 0 || !byPid && len(args) < 2 || byPid && len(args) > 2 {
		c.errorf("bad usage")
		return c.tryHelp(1)
	}
	pid := 0
	if byPid {
		n, err := strconv.Atoi(args[len(args)-1])
		if err != nil {
			c.errorf("invalid PID argument: '%s'", args[len(args)-1])
			return 1
		}
		pid = n
		if !c.showAffinity(pid, "current", list) {
			return 1
		}
		if len(args) == 1 {
			return 0
		}
	}
	mask, ok := parseMask(args[0], list)
	if !ok {
		c.errorf("failed to parse CPU %s: %s", map[bool]string{true: "list", false: "mask"}[list], args[0])
		return 1
	}
	if e := c.s.do1("sched_setaffinity", pid, len(mask), mask); e != 0 {
		c.errorf("failed to set pid %d's affinity: %s", pid, e.Error())
		return 1
	}
	if byPid {
		if !c.showAffinity(pid, "new", list) {
			return 1
		}
		return 0
	}
	c.flush()
	e := c.s.execvp(args[1:], c.s.Env())
	c.errorf("failed to execute %s: %s", args[1], e.Error())
	return execStatus(e)
}

func (c *cmd) showAffinity(pid int, what string, list bool) bool {
	mask, e := c.s.Affinity(pid)
	if e != 0 {
		c.errorf("failed to get pid %d's affinity: %s", pid, e.Error())
		return false
	}
	if list {
		c.printf("pid %d's %s affinity list: %s\n", pid, what, cpuList(mask))
		return true
	}
	text := ""
	for _, b := range mask {
		text = fmt.Sprintf("%02x", b) + text
	}
	text = strings.TrimLeft(text, "0")
	if text == "" {
		text = "0"
	}
	c.printf("pid %d's %s affinity mask: %s\n", pid, what, text)
	return true
}

// cpuList writes a mask as 0-2,5.
func cpuList(mask []byte) string {
	var parts []string
	on := func(i int) bool { return i/8 < len(mask) && mask[i/8]>>(i%8)&1 != 0 }
	for i := 0; i < 8*len(mask); i++ {
		if !on(i) {
			continue
		}
		j := i
		for on(j + 1) {
			j++
		}
		switch {
		case j == i:
			parts = append(parts, strconv.Itoa(i))
		case j == i+1:
			parts = append(parts, strconv.Itoa(i), strconv.Itoa(j))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", i, j))
		}
		i = j
	}
	return strings.Join(parts, ",")
}

// parseMask reads a hexadecimal mask or a list like 0,2-5:2.
func parseMask(text string, list bool) ([]byte, bool) {
	mask := make([]byte, 128)
	if !list {
		hex := strings.TrimPrefix(strings.ToLower(text), "0x")
		if hex == "" || len(hex) > 256 {
			return nil, false
		}
		for i := range len(hex) {
			d, err := strconv.ParseUint(hex[len(hex)-1-i:len(hex)-i], 16, 8)
			if err != nil {
				return nil, false
			}
			mask[i/2] |= byte(d) << (4 * (i % 2))
		}
		return mask, true
	}
	for _, part := range strings.Split(text, ",") {
		span, every, strided := strings.Cut(part, ":")
		lo, hi, isRange := strings.Cut(span, "-")
		a, err := strconv.ParseUint(lo, 10, 10)
		b, step := a, uint64(1)
		if isRange && err == nil {
			b, err = strconv.ParseUint(hi, 10, 10)
		}
		if strided && err == nil {
			step, err = strconv.ParseUint(every, 10, 10)
		}
		if err != nil || b < a || step == 0 || b >= 1024 {
			return nil, false
		}
		for ; a <= b; a += step {
			mask[a/8] |= 1 << (a % 8)
		}
	}
	return mask, true
}

var nprocOptions = []option{{0, "all", false, 1}, {0, "ignore", true, 2}}

func nproc(c *cmd) int {
	found, args, status, done := c.parse(nprocOptions, 1)
	if done {
		return status
	}
	if len(args) > 0 {
		c.errorf("extra operand %s", quoted(args[0]))
		return c.tryHelp(1)
	}
	ignore, all := 0, false
	for _, o := range found {
		all = all || o.id == 1
		if o.id == 2 {
			n, err := strconv.Atoi(o.value)
			if err != nil || n < 0 {
				c.errorf("invalid number: %s", quoted(o.value))
				return 1
			}
			ignore = n
		}
	}
	if all {
		if n := c.allCPUs(); n > 0 {
			c.printf("%d\n", max(1, n-ignore))
			return 0
		}
	}
	mask, e := c.s.Affinity(0)
	if e != 0 {
		c.errorf("cannot get the CPU affinity: %s", e.Error())
		return 1
	}
	n := 0
	for _, b := range mask {
		n += bits.OnesCount8(b)
	}
	c.printf("%d\n", max(1, n-ignore))
	return 0
}

// allCPUs counts the CPUs of /proc/stat, whatever the affinity; 0 when there is none.
func (c *cmd) allCPUs() (n int) {
	text, _ := c.readFile("/proc/stat")
	for _, l := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(l, "cpu") && !strings.HasPrefix(l, "cpu ") {
			n++
		}
	}
	return n
}

var chrtOptions = []option{{'b', "batch", false, 0}, {'d', "deadline", false, 0}, {'f', "fifo", false, 0}, {'i', "idle", false, 0}, {'o', "other", false, 0}, {'r', "rr", false, 0},
	{'R', "reset-on-fork", false, 0}, {'m', "max", false, 0}, {'p', "pid", false, 0}}

// chrtPolicies are the scheduling policies by number (include/uapi/linux/sched.h), with the option that chooses each and
// the limits of its priorities.
var chrtPolicies = [...]struct {
	name     string
	option   byte
	min, max int
}{{"SCHED_OTHER", 'o', 0, 0}, {"SCHED_FIFO", 'f', 1, 99}, {"SCHED_RR", 'r', 1, 99}, {"SCHED_BATCH", 'b', 0, 0}, {"", 0, 0, 0}, {"SCHED_IDLE", 'i', 0, 0},
	{"SCHED_DEADLINE", 'd', 0, 0}}

// chrt is util-linux's.
func chrt(c *cmd) int {
	c.inOrder = true
	found, args, status, done := c.parse(chrtOptions, 1)
	if done {
		return status
	}
	policy, flags, byPid := 2, 0, false
	for _, o := range found {
		for i, p := range chrtPolicies {
			if p.option == o.id {
				policy = i
			}
		}
		switch o.id {
		case 'p':
			byPid = true
		case 'R':
			flags = 0x40000000 // SCHED_RESET_ON_FORK
		case 'm':
			for _, i := range []int{0, 1, 2, 3, 5, 6} {
				p := chrtPolicies[i]
				c.printf("%s min/max priority\t: %d/%d\n", p.name, p.min, p.max)
			}
			return 0
		case 'd':
			c.errorf("SCHED_DEADLINE is not supported")
			return 1
		}
	}
	if byPid && len(args) == 1 {
		return c.chrtShow(args[0])
	}
	if len(args) < 2 {
		c.errorf("bad usage")
		return c.tryHelp(1)
	}
	prio, err := strconv.Atoi(args[0])
	if err != nil {
		c.errorf("invalid priority argument: '%s'", args[0])
		return 1
	}
	if p := chrtPolicies[policy]; prio < p.min || prio > p.max {
		c.errorf("unsupported priority value for the policy: %d: see --max for valid range", prio)
		return 1
	}
	pid := 0
	if byPid {
		if pid, err = strconv.Atoi(args[1]); err != nil {
			c.errorf("invalid PID argument: '%s'", args[1])
			return 1
		}
	}
	param := binary.LittleEndian.AppendUint32(nil, uint32(prio))
	if e := c.s.do1("sched_setscheduler", pid, policy|flags, param); e != 0 {
		c.errorf("failed to set pid %d's policy: %s", pid, e.Error())
		return 1
	}
	if byPid {
		return 0
	}
	c.flush()
	e := c.s.execvp(args[1:], c.s.Env())
	c.errorf("failed to execute %s: %s", args[1], e.Error())
	return execStatus(e)
}

func (c *cmd) chrtShow(text string) int {
	pid, err := strconv.Atoi(text)
	if err != nil {
		c.errorf("invalid PID argument: '%s'", text)
		return 1
	}
	policy, _, e := c.s.named("sched_getscheduler", pid)
	if e != 0 {
		c.errorf("failed to get pid %d's policy: %s", pid, e.Error())
		return 1
	}
	_, out, e := c.s.named("sched_getparam", pid, Out(4))
	if e != 0 {
		c.errorf("failed to get pid %d's attributes: %s", pid, e.Error())
		return 1
	}
	name := "UNKNOWN"
	if p := int(policy &^ 0x40000000); p < len(chrtPolicies) {
		name = chrtPolicies[p].name
	}
	c.printf("pid %d's current scheduling policy: %s\n", pid, name)
	c.printf("pid %d's current scheduling priority: %d\n", pid, binary.LittleEndian.Uint32(out[0]))
	return 0
}

var reniceOptions = []option{{'n', "priority", true, 0}, {'p', "pid", false, 0}, {'g', "pgrp", false, 0}, {'u', "user", false, 0}}

// renice is util-linux': renice [-n] N [-p|-g] ID…
func renice(c *cmd) int {
	words := c.argv[1:]
	if len(words) > 0 && (strings.HasPrefix(words[0], "-n") || words[0] == "--priority") {
		if words[0] == "-n" || words[0] == "--priority" {
			words = words[1:]
		} else {
			words = append([]string{words[0][2:]}, words[1:]...)
		}
	}
	if len(words) > 0 && words[0] == "--help" {
		_, _, status, _ := c.parse(reniceOptions, 1)
		return status
	}
	if len(words) < 2 {
		c.errorf("not enough arguments")
		return c.tryHelp(1)
	}
	prio, err := strconv.Atoi(words[0])
	if err != nil {
		c.errorf("invalid priority '%s'", words[0])
		return c.tryHelp(1)
	}
	kinds := [...]string{"process ID", "process group ID", "user ID"}
	which, status := 0, 0
	for _, w := range words[1:] {
		switch w {
		case "-p", "--pid":
			which = 0
			continue
		case "-g", "--pgrp":
			which = 1
			continue
		case "-u", "--user":
			which = 2
			continue
		}
		who, err := strconv.Atoi(w)
		if which == 2 && w == "root" {
			who, err = 0, nil
		}
		if err != nil || who < 0 {
			c.errorf("bad %s value: %s", kinds[which], w)
			status = 1
			continue
		}
		if !c.reniceOne(which, who, prio, kinds[which]) {
			status = 1
		}
	}
	return status
}

func (c *cmd) reniceOne(which, who, prio int, kind string) bool {
	get := func() (int, kernel.Errno) {
		n, _, e := c.s.named("getpriority", which, who)
		return 20 - int(n), e
	}
	old, e := get()
	if e != 0 {
		c.errorf("failed to get priority for %d (%s): %s", who, kind, e.Error())
		return false
	}
	if e := c.s.do1("setpriority", which, who, prio); e != 0 {
		c.errorf("failed to set priority for %d (%s): %s", who, kind, e.Error())
		return false
	}
	now, e := get()
	if e != 0 {
		c.errorf("failed to get priority for %d (%s): %s", who, kind, e.Error())
		return false
	}
	c.printf("%d (%s) old priority %d, new priority %d\n", who, kind, old, now)
	return true
}
