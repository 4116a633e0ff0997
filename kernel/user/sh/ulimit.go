package sh

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"kscope/kernel"
	"kscope/kernel/user"
)

// limit is one of what ulimit shows (bash's ulimit.def). Of those that are no resource of the kernel's, value says it all.
type limit struct {
	option   byte
	name     string
	unit     string
	resource int // RLIMIT_* of asm-generic/resource.h
	factor   uint64
	value    uint64
}

const limitless = math.MaxUint64

// limits are in ulimit's order.
var limits = [...]limit{
	{option: 'R', name: "real-time non-blocking time", unit: "microseconds", resource: 15, factor: 1},
	{option: 'c', name: "core file size", unit: "blocks", resource: 4, factor: 1024},
	{option: 'd', name: "data seg size", unit: "kbytes", resource: 2, factor: 1024},
	{option: 'e', name: "scheduling priority", resource: 13, factor: 1},
	{option: 'f', name: "file size", unit: "blocks", resource: 1, factor: 1024},
	{option: 'i', name: "pending signals", resource: 11, factor: 1},
	{option: 'l', name: "max locked memory", unit: "kbytes", resource: 8, factor: 1024},
	{option: 'm', name: "max memory size", unit: "kbytes", resource: 5, factor: 1024},
	{option: 'n', name: "open files", resource: 7, factor: 1},
	{option: 'p', name: "pipe size", unit: "512 bytes", resource: -1, value: 8},
	{option: 'q', name: "POSIX message queues", unit: "bytes", resource: 12, factor: 1},
	{option: 'r', name: "real-time priority", resource: 14, factor: 1},
	{option: 's', name: "stack size", unit: "kbytes", resource: 3, factor: 1024},
	{option: 't', name: "cpu time", unit: "seconds", resource: 0, factor: 1},
	{option: 'u', name: "max user processes", resource: 6, factor: 1},
	{option: 'v', name: "virtual memory", unit: "kbytes", resource: 9, factor: 1024},
	{option: 'x', name: "file locks", resource: 10, factor: 1},
}

// ulimitBuiltin is ulimit [-SHa] [-OPTION [limit]] …
func ulimitBuiltin(sh *Shell, argv []string) int {
	soft, hard, all := false, false, false
	var wanted []*limit
	args, value := argv[1:], ""
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		for _, o := range []byte(args[0][1:]) {
			switch l := limitOf(o); {
			case o == 'S':
				soft = true
			case o == 'H':
				hard = true
			case o == 'a':
				all = true
			case l == nil:
				sh.errorf("ulimit: -%c: invalid option", o)
				sh.s.Write(2, []byte("ulimit: usage: ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]\n"))
				return 2
			default:
				wanted = append(wanted, l)
			}
		}
		args = args[1:]
	}
	if len(args) > 0 {
		value = args[0]
	}
	if all {
		wanted = nil
		for i := range limits {
			wanted = append(wanted, &limits[i])
		}
	} else if len(wanted) == 0 {
		wanted = []*limit{limitOf('f')}
	}
	if value != "" && !all {
		return sh.setLimit(wanted[len(wanted)-1], value, soft, hard)
	}
	var out strings.Builder
	for _, l := range wanted {
		if len(wanted) > 1 {
			unit := ""
			if l.unit != "" {
				unit = l.unit + ", "
			}
			out.WriteString(sprintf("%-20s%20s ", l.name, "("+unit+"-"+string(l.option)+")"))
		}
		out.WriteString(sh.limitText(l, hard && !soft) + "\n")
	}
	return sh.print("ulimit", out.String())
}

func limitOf(option byte) *limit {
	for i := range limits {
		if limits[i].option == option {
			return &limits[i]
		}
	}
	return nil
}

// getLimit is a resource's soft and hard limit in its unit.
func (sh *Shell) getLimit(l *limit) (v [2]uint64) {
	if l.resource < 0 {
		return [2]uint64{l.value, l.value}
	}
	_, out, err := sh.s.CallNamed("prlimit64", 0, l.resource, nil, user.Out(16))
	if err != nil {
		return [2]uint64{limitless, limitless}
	}
	return [2]uint64{binary.LittleEndian.Uint64(out[0]), binary.LittleEndian.Uint64(out[0][8:])}
}

func (sh *Shell) limitText(l *limit, hard bool) string {
	v := sh.getLimit(l)
	x := v[0]
	if hard {
		x = v[1]
	}
	if x == limitless {
		return "unlimited"
	}
	return strconv.FormatUint(x/max(l.factor, 1), 10)
}

// setLimit sets both limits unless only one is asked for.
func (sh *Shell) setLimit(l *limit, value string, soft, hard bool) int {
	if !soft && !hard {
		soft, hard = true, true
	}
	now := sh.getLimit(l)
	var x uint64
	switch value {
	case "unlimited":
		x = limitless
	case "hard":
		x = now[1]
	case "soft":
		x = now[0]
	default:
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			sh.errorf("ulimit: %s: invalid number", value)
			return 1
		}
		x = n * max(l.factor, 1)
	}
	set := now
	if soft {
		set[0] = x
	}
	if hard {
		set[1] = x
	}
	e := kernel.EINVAL
	if l.resource >= 0 {
		raw := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, set[0]), set[1])
		_, _, err := sh.s.CallNamed("prlimit64", 0, l.resource, raw, nil)
		e, _ = err.(kernel.Errno)
	}
	if e != 0 {
		sh.errorf("ulimit: %s: cannot modify limit: %s", l.name, e.Error())
		return 1
	}
	return 0
}
