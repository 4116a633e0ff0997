package user

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

var dateOptions = []option{{'d', "date", true, 0}, {'I', "iso-8601?", true, 0}, {'R', "rfc-email", false, 0}, {'r', "reference", true, 0}, {'u', "utc", false, 0},
	{0, "universal", false, 'u'}, {'s', "set", true, 0}, {0, "rfc-3339", true, 1}}

// date shows the guest's wall clock; the time zone is UTC.
func date(c *cmd) int {
	for i, a := range c.argv { // -I takes a value only when attached
		if strings.HasPrefix(a, "-I") && len(a) > 2 {
			c.argv[i] = "--iso-8601=" + a[2:]
		}
	}
	found, args, status, done := c.parse(dateOptions, 1)
	if done {
		return status
	}
	format := "%a %b %e %H:%M:%S %Z %Y"
	now, _ := c.s.ClockGettime(0)
	ns := int64(now)
	for _, o := range found {
		switch o.id {
		case 'd':
			t, ok := c.parseDate(o.value)
			if !ok {
				c.errorf("invalid date %s", quoted(o.value))
				return 1
			}
			ns = t
		case 'r':
			st, e := c.s.Stat(o.value)
			if e != 0 {
				c.fail(o.value, e)
				return 1
			}
			ns = st.Mtime*1e9 + st.MtimeNsec
		case 'R':
			format = "%a, %d %b %Y %H:%M:%S %z"
		case 'I', 1:
			sep := map[byte]string{'I': "T", 1: " "}[o.id]
			f, ok := map[string]string{"": "%Y-%m-%d", "date": "%Y-%m-%d", "hours": "%Y-%m-%d" + sep + "%H%:z", "minutes": "%Y-%m-%d" + sep + "%H:%M%:z",
				"seconds": "%Y-%m-%d" + sep + "%H:%M:%S%:z", "ns": "%Y-%m-%d" + sep + map[byte]string{'I': "%H:%M:%S,%N%:z", 1: "%H:%M:%S.%N%:z"}[o.id]}[o.value]
			if !ok {
				c.errorf("invalid argument %s for '--iso-8601'", quoted(o.value))
				return c.tryHelp(1)
			}
			format = f
		case 's':
			c.errorf("cannot set date: Operation not permitted")
			return 1
		}
	}
	for i, a := range args {
		switch {
		case i > 0:
			c.errorf("extra operand %s", quoted(a))
			return c.tryHelp(1)
		case !strings.HasPrefix(a, "+"):
			c.errorf("invalid date %s", quoted(a))
			return 1
		}
		format = a[1:]
	}
	c.printf("%s\n", Strftime(format, ns))
	return 0
}

// parseDate reads the forms of date -d that scripts use: @SECONDS, YYYY-MM-DD [HH:MM[:SS]], now, today; and behind them, or behind
// nothing, "+2 days", "3 hours ago", "next week", "yesterday".
func (c *cmd) parseDate(text string) (ns int64, ok bool) {
	base, steps := splitRelative(strings.TrimSpace(text))
	if ns, ok = c.parseAbsolute(base); !ok || len(steps) == 0 {
		return ns, ok
	}
	if strings.HasPrefix(base, "@") {
		return 0, false
	}
	t := time.Unix(0, ns).UTC()
	for _, s := range steps {
		t = t.AddDate(s.years, s.months, s.days).Add(s.time)
	}
	return t.UnixNano(), true
}

// relativeStep is a displacement of a date.
type relativeStep struct {
	years, months, days int
	time                time.Duration
}

// splitRelative takes the displacements off the end of a date.
func splitRelative(text string) (base string, steps []relativeStep) {
	words := strings.Fields(text)
	for n := len(words); n > 0; n = len(words) {
		sign, at := 1, n-1
		if words[at] == "ago" && at > 0 {
			sign, at = -1, at-1
		}
		day, isDay := map[string]int{"yesterday": -1, "tomorrow": 1}[words[at]]
		if isDay {
			steps, words = append(steps, relativeStep{days: sign * day}), words[:at]
			continue
		}
		count, unit := 1, words[at]
		switch {
		case at > 0 && (words[at-1] == "next" || words[at-1] == "last"):
			count = map[string]int{"next": 1, "last": -1}[words[at-1]]
			at--
		case at > 0:
			k, err := strconv.Atoi(words[at-1])
			switch {
			case err != nil || len(words[at-1]) > 4:
			case at > 1 && strings.Contains(words[at-2], ":") && strings.IndexByte("+-", words[at-1][0]) >= 0: // behind a time it is the zone
				steps = append(steps, relativeStep{time: -time.Duration(k) * time.Hour})
				words = slices.Delete(words, at-1, at)
				at--
			default:
				count = k
				at--
			}
		}
		if i := strings.IndexFunc(unit, func(r rune) bool { return r >= 'a' }); i > 0 {
			k, err := strconv.Atoi(unit[:i])
			if err != nil {
				break
			}
			count, unit = k, unit[i:]
		}
		step, ok := relativeUnit(strings.TrimSuffix(unit, "s"), sign*count)
		if !ok {
			break
		}
		steps, words = append(steps, step), words[:at]
	}
	slices.Reverse(steps)
	if len(steps) == 0 {
		return text, nil
	}
	return strings.Join(words, " "), steps
}

func relativeUnit(unit string, n int) (s relativeStep, ok bool) {
	d := time.Duration(n)
	switch unit {
	case "year":
		s.years = n
	case "month":
		s.months = n
	case "fortnight":
		s.days = 14 * n
	case "week":
		s.days = 7 * n
	case "day":
		s.days = n
	case "hour":
		s.time = d * time.Hour
	case "minute", "min":
		s.time = d * time.Minute
	case "second", "sec":
		s.time = d * time.Second
	default:
		return s, false
	}
	return s, true
}

func (c *cmd) parseAbsolute(text string) (ns int64, ok bool) {
	if num, at := strings.CutPrefix(text, "@"); at {
		whole, frac, _ := strings.Cut(num, ".")
		sec, err := strconv.ParseInt(whole, 10, 64)
		f, err2 := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
		if strings.HasPrefix(whole, "-") {
			f = -f
		}
		return sec*1e9 + f, err == nil && err2 == nil
	}
	if text == "now" || text == "" || text == "today" {
		now, _ := c.s.ClockGettime(0)
		return int64(now), true
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, " UTC"), "Z")
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02", "20060102", "2006/01/02", "Mon Jan _2 15:04:05 2006",
		"Jan 2 2006", "2 Jan 2006", "Jan _2 15:04:05 2006"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixNano(), true
		}
	}
	return 0, false
}

// strftimeCodes are the conversions that Go's layouts have. Read-only.
var strftimeCodes = map[byte]string{'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'c': "Mon Jan _2 15:04:05 2006", 'd': "02", 'D': "01/02/06", 'e': "_2",
	'F': "2006-01-02", 'H': "15", 'I': "03", 'm': "01", 'M': "04", 'p': "PM", 'P': "pm", 'r': "03:04:05 PM", 'R': "15:04", 'S': "05", 'T': "15:04:05", 'x': "01/02/06",
	'X': "15:04:05", 'y': "06", 'Y': "2006", 'z': "-0700", 'Z': "UTC"}

// Strftime is date's and ls's format in the C locale and UTC, with GNU's flags - _ 0 ^ and widths.
func Strftime(format string, ns int64) string {
	sec, frac := ns/1e9, ns%1e9
	if frac < 0 {
		sec, frac = sec-1, frac+1e9
	}
	t := time.Unix(sec, frac).UTC()
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out.WriteByte(format[i])
			continue
		}
		at := i
		i++
		flag := byte(0)
		for i < len(format) && strings.IndexByte("-_0^#:", format[i]) >= 0 {
			flag = format[i]
			i++
		}
		width := 0
		for i < len(format) && format[i] >= '0' && format[i] <= '9' {
			width = width*10 + int(format[i]-'0')
			i++
		}
		if i == len(format) {
			out.WriteString(format[at:])
			break
		}
		text, ok := strftimeField(t, format[i], flag)
		if !ok {
			out.WriteString(format[at : i+1])
			continue
		}
		if format[i] == 'N' && width > 0 && width < 9 {
			text = text[:width]
		}
		out.WriteString(strftimePad(text, format[i], flag, width))
	}
	return out.String()
}

func strftimePad(text string, code, flag byte, width int) string {
	numeric := strings.IndexByte("CdegGHIjklmMSuUVwWyYNs", code) >= 0
	switch {
	case flag == '-' && numeric && code != 'N':
		if text = strings.TrimLeft(text, "0 "); text == "" {
			text = "0"
		}
	case flag == '_' && numeric:
		n := len(text)
		if text = strings.TrimLeft(text, "0"); text == "" {
			text = "0"
		}
		text = fmt.Sprintf("%*s", n, text)
	case flag == '0' && numeric:
		text = strings.ReplaceAll(text, " ", "0")
	case flag == '^':
		text = strings.ToUpper(text)
	}
	if n := min(width, 1<<20) - len(text); n > 0 {
		fill := " "
		if numeric && flag != '_' {
			fill = "0"
		}
		text = strings.Repeat(fill, n) + text
	}
	return text
}

func strftimeField(t time.Time, code, flag byte) (string, bool) {
	year, week := t.ISOWeek()
	switch code {
	case '%':
		return "%", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 's':
		return strconv.FormatInt(t.Unix(), 10), true
	case 'N':
		return fmt.Sprintf("%09d", t.Nanosecond()), true
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100), true
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay()), true
	case 'k':
		return fmt.Sprintf("%2d", t.Hour()), true
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1), true
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1), true
	case 'w':
		return strconv.Itoa(int(t.Weekday())), true
	case 'q':
		return strconv.Itoa((int(t.Month()) + 2) / 3), true
	case 'G':
		return strconv.Itoa(year), true
	case 'g':
		return fmt.Sprintf("%02d", year%100), true
	case 'V':
		return fmt.Sprintf("%02d", week), true
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-int(t.Weekday()))/7), true
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7), true
	case 'z':
		if flag == ':' {
			return "+00:00", true
		}
	}
	layout, ok := strftimeCodes[code]
	if !ok {
		return "", false
	}
	if layout == "UTC" {
		return layout, true
	}
	return t.Format(layout), true
}
