package user

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

var seqOptions = []option{{'f', "format", true, 0}, {'s', "separator", true, 0}, {'w', "equal-width", false, 0}}

func seq(c *cmd) int {
	for i := 1; i < len(c.argv); i++ { // negative numbers are operands
		if a := c.argv[i]; len(a) > 1 && a[0] == '-' && (a[1] == '.' || a[1] >= '0' && a[1] <= '9') {
			c.argv = append(append(append([]string(nil), c.argv[:i]...), "--"), c.argv[i:]...)
			break
		}
		if !strings.HasPrefix(c.argv[i], "-") {
			break
		}
	}
	c.inOrder = true
	found, args, status, done := c.parse(seqOptions, 1)
	if done {
		return status
	}
	format, sep, equal := "", "\n", false
	for _, o := range found {
		switch o.id {
		case 'f':
			format = o.value
		case 's':
			sep = o.value
		case 'w':
			equal = true
		}
	}
	switch {
	case len(args) == 0:
		c.errorf("missing operand")
		return c.tryHelp(1)
	case len(args) > 3:
		c.errorf("extra operand %s", quoted(args[3]))
		return c.tryHelp(1)
	case format != "" && equal:
		c.errorf("format string may not be specified when printing equal width strings")
		return c.tryHelp(1)
	}
	num := []float64{1, 1, 0}
	prec, width := 0, 0
	for i, a := range args {
		v, err := strconv.ParseFloat(a, 64)
		if err != nil || math.IsNaN(v) {
			c.errorf("invalid floating point argument: %s", quoted(a))
			return c.tryHelp(1)
		}
		at := map[int][]int{1: {2}, 2: {0, 2}, 3: {0, 1, 2}}[len(args)][i]
		num[at] = v
		if at != 2 {
			_, frac, _ := strings.Cut(a, ".")
			prec = max(prec, len(frac))
		}
	}
	if num[1] == 0 {
		c.errorf("invalid Zero increment value: %s", quoted(args[1]))
		return c.tryHelp(1)
	}
	if equal {
		width = max(len(seqNumber(num[0], prec, 0)), len(seqNumber(num[2], prec, 0)))
	}
	if msg := seqFormat(format); msg != "" {
		c.errorf("format %s %s", quoted(format), msg)
		return 1
	}
	return seqPrint(c, num, sep, func(v float64) string {
		if format != "" {
			return fmt.Sprintf(format, v)
		}
		return seqNumber(v, prec, width)
	})
}

// seqFormat checks that there is one floating-point directive, and says what is wrong; Go's directives are C's.
func seqFormat(format string) string {
	rest := strings.ReplaceAll(format, "%%", "")
	i := strings.IndexByte(rest, '%') + 1
	switch {
	case format == "":
		return ""
	case i == 0:
		return "has no % directive"
	}
	for i < len(rest) && strings.IndexByte("-+#0 '123456789.", rest[i]) >= 0 {
		i++
	}
	switch {
	case i == len(rest):
		return "ends in %"
	case strings.IndexByte("efgEFG", rest[i]) < 0:
		return "has unknown %" + rest[i:i+1] + " directive"
	case strings.Contains(rest[i:], "%"):
		return "has too many % directives"
	}
	return ""
}

func seqNumber(v float64, prec, width int) string {
	if v == 0 {
		v = 0 // not -0
	}
	return fmt.Sprintf("%0*.*f", width, prec, v)
}

func seqPrint(c *cmd, num []float64, sep string, text func(float64) string) int {
	step := num[1]
	slack := math.Abs(step) * 1e-9
	for i := 0; ; i++ {
		v := num[0] + float64(i)*step
		if step > 0 && v > num[2]+slack || step < 0 && v < num[2]-slack {
			if i > 0 {
				c.print('\n')
			}
			return 0
		}
		if i > 0 {
			c.print([]byte(sep)...)
			if c.wroteBad {
				return 1
			}
		}
		c.print([]byte(text(v))...)
	}
}
