package user

import (
	"strconv"
	"strings"
)

// free is procps' first two lines, from /proc/meminfo. There is no swap.
func free(c *cmd) int {
	found, args, status, done := c.parse([]option{{'b', "bytes", false, 0}, {'k', "kibi", false, 0}, {'m', "mebi", false, 0}}, 1)
	if done {
		return status
	}
	if len(args) > 0 {
		return c.tryHelp(1)
	}
	mul, div := uint64(1), uint64(1)
	for _, o := range found {
		switch o.id {
		case 'b':
			mul, div = 1024, 1
		case 'm':
			mul, div = 1, 1024
		case 'k':
			mul, div = 1, 1
		}
	}
	text, e := c.readFile("/proc/meminfo")
	if e != 0 {
		c.errorf("cannot open file /proc/meminfo: %s", e.Error())
		return 1
	}
	kb := map[string]uint64{}
	for _, l := range strings.Split(string(text), "\n") {
		if f := strings.Fields(l); len(f) >= 2 {
			kb[f[0]], _ = strconv.ParseUint(f[1], 10, 64)
		}
	}
	show := func(name string) uint64 { return kb[name+":"] * mul / div }
	total, unused, cache := show("MemTotal"), show("MemFree"), show("Buffers")+show("Cached")
	c.printf("%7s%12s%12s%12s%12s%12s%12s\n", "", "total", "used", "free", "shared", "buff/cache", "available")
	c.printf("%-7s%12d%12d%12d%12d%12d%12d\n", "Mem:", total, total-unused-cache, unused, show("Shmem"), cache, show("MemAvailable"))
	c.printf("%-7s%12d%12d%12d\n", "Swap:", 0, 0, 0)
	return 0
}
