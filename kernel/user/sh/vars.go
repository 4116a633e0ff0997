package sh

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

func sprintf(format string, args ...any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// variable is a shell variable: a scalar, or an array by number or by name.
type variable struct {
	value                            string
	list                             map[int]string
	dict                             map[string]string
	set                              bool // has a value (an array: has been assigned)
	export, readonly, integer, isRef bool
	upper, lower                     bool
}

func (v *variable) clone() *variable {
	c := *v
	c.list, c.dict = maps.Clone(v.list), maps.Clone(v.dict)
	return &c
}

func (v *variable) array() bool { return v.list != nil || v.dict != nil }

// scalar is what $name gives: element 0 of an array.
func (v *variable) scalar() (string, bool) {
	switch {
	case v.dict != nil:
		s, ok := v.dict["0"]
		return s, ok
	case v.list != nil:
		s, ok := v.list[0]
		return s, ok
	}
	return v.value, v.set
}

// values are an array's elements in order of their keys.
func (v *variable) values() (out []string) {
	switch {
	case v.dict != nil:
		for _, k := range hashOrder(v.dict) {
			out = append(out, v.dict[k])
		}
	case v.list != nil:
		for _, k := range slices.Sorted(maps.Keys(v.list)) {
			out = append(out, v.list[k])
		}
	case v.set:
		out = []string{v.value}
	}
	return out
}

// hashOrder is the keys of an array by name in the order that bash lists them in: by their place in its table of 1024 buckets, four
// times as many whenever there are twice as many keys (hash_string and hash_rehash in hashlib.c).
func hashOrder(dict map[string]string) []string {
	buckets := uint32(1024)
	for uint64(len(dict)) > 2*uint64(buckets) {
		buckets *= 4
	}
	bucket := func(key string) uint32 {
		h := uint32(2166136261)
		for i := range len(key) {
			h = h*16777619 ^ uint32(key[i])
		}
		return h & (buckets - 1)
	}
	return slices.SortedFunc(maps.Keys(dict), func(a, b string) int {
		return cmp.Or(cmp.Compare(bucket(a), bucket(b)), strings.Compare(a, b))
	})
}

func (v *variable) keys() (out []string) {
	switch {
	case v.dict != nil:
		return hashOrder(v.dict)
	case v.list != nil:
		for _, k := range slices.Sorted(maps.Keys(v.list)) {
			out = append(out, strconv.Itoa(k))
		}
	case v.set:
		out = []string{"0"}
	}
	return out
}

// computed are variables that have no place of their own: lookup and arrayOf make them.
var computed = [...]string{"BASHPID", "BASH_SUBSHELL", "BASH_VERSINFO", "EPOCHREALTIME", "EPOCHSECONDS", "LINENO", "PIPESTATUS", "RANDOM",
	"SECONDS", "SHELLOPTS"}

// lookup is the value of a variable or of one of bash's computed ones.
func (sh *Shell) lookup(name string) (string, bool) {
	switch name {
	case "LINENO":
		return strconv.Itoa(sh.line), true
	case "BASHPID":
		return strconv.Itoa(sh.s.Getpid()), true
	case "RANDOM":
		sh.random = sh.random*1103515245 + 12345
		return strconv.Itoa(int(sh.random >> 16 & 0x7fff)), true
	case "SECONDS":
		now, _ := sh.s.ClockGettime(clockMonotonic)
		return strconv.FormatUint((now-sh.started)/1e9, 10), true
	case "EPOCHSECONDS":
		now, _ := sh.s.ClockGettime(clockRealtime)
		return strconv.FormatUint(now/1e9, 10), true
	case "EPOCHREALTIME":
		now, _ := sh.s.ClockGettime(clockRealtime)
		return sprintf("%d.%06d", now/1e9, now%1e9/1e3), true
	case "BASH_SUBSHELL":
		return strconv.Itoa(sh.sub), true
	case "FUNCNAME":
		if n := len(sh.frames); n > 0 {
			return sh.frames[n-1].fn.name, true
		}
		return "", false
	case "_":
		return sh.lastArg, true
	case "SHELLOPTS":
		return sh.optionNames(), true
	}
	v := sh.vars[name]
	if v == nil {
		return "", false
	}
	if v.isRef {
		return sh.lookup(v.value)
	}
	return v.scalar()
}

// get is the value, "" when unset.
func (sh *Shell) get(name string) string {
	v, _ := sh.lookup(name)
	return v
}

// arrayOf is the array that a name stands for; computed ones too.
func (sh *Shell) arrayOf(name string) *variable {
	switch name {
	case "PIPESTATUS":
		v := &variable{list: map[int]string{}, set: true}
		for i, n := range sh.pipes {
			v.list[i] = strconv.Itoa(n)
		}
		return v
	case "FUNCNAME", "BASH_LINENO", "BASH_SOURCE":
		v := &variable{list: map[int]string{}, set: true}
		for i := len(sh.frames) - 1; i >= 0; i-- {
			f := sh.frames[i]
			v.list[len(v.list)] = map[string]string{"FUNCNAME": f.fn.name, "BASH_LINENO": strconv.Itoa(f.line), "BASH_SOURCE": sh.name}[name]
		}
		if name != "BASH_LINENO" || len(sh.frames) == 0 {
			v.list[len(v.list)] = map[string]string{"FUNCNAME": "main", "BASH_LINENO": "0", "BASH_SOURCE": sh.name}[name]
		}
		return v
	case "DIRSTACK":
		v := &variable{list: map[int]string{}, set: true}
		for i, d := range sh.stack() {
			v.list[i] = sh.shown(d, false)
		}
		return v
	case "BASH_VERSINFO":
		return &variable{set: true, list: map[int]string{0: "5", 1: "2", 2: "15", 3: "1", 4: "release", 5: "x86_64-pc-linux-gnu"}}
	}
	v := sh.vars[name]
	if v != nil && v.isRef {
		return sh.arrayOf(v.value)
	}
	return v
}

// variable is the one to assign to: made when absent. A read-only one is an error that gives the command up.
func (sh *Shell) variable(name string) *variable {
	v := sh.vars[name]
	if v != nil && v.isRef && v.value != "" {
		return sh.variable(v.value)
	}
	if v == nil {
		v = &variable{export: sh.opts.allexport}
		sh.vars[name] = v
	}
	if v.readonly {
		sh.discard("%s: readonly variable", name)
	}
	return v
}

// convert is what the attributes make of a value.
func (sh *Shell) convert(v *variable, text string) string {
	switch {
	case v.integer:
		return strconv.FormatInt(sh.arithText(text), 10)
	case v.upper:
		return upper(text)
	case v.lower:
		return lower(text)
	}
	return text
}

// set assigns a scalar (of an array: element 0).
func (sh *Shell) set(name, value string) {
	v := sh.variable(name)
	value = sh.convert(v, value)
	sh.grow(len(value))
	switch {
	case v.dict != nil:
		v.dict["0"] = value
	case v.list != nil:
		v.list[0] = value
	default:
		v.value = value
	}
	v.set = true
	switch name {
	case "PATH":
		clear(sh.hash)
	case "RANDOM":
		n, _ := strconv.Atoi(value)
		sh.random = uint32(n)
	case "OPTIND":
		sh.vars["\x00optpos"] = nil
		delete(sh.vars, "\x00optpos")
	}
}

// setIndex assigns one element; key is text to evaluate for an array by number.
func (sh *Shell) setIndex(name, key, value string, app bool) {
	v := sh.variable(name)
	sh.grow(len(key) + len(value) + wordSize)
	if v.dict != nil {
		if app {
			value = v.dict[key] + value
		}
		v.dict[key], v.set = sh.convert(v, value), true
		return
	}
	i := sh.index(v, name, key)
	v.toList()
	if app {
		value = v.list[i] + value
	}
	v.list[i], v.set = sh.convert(v, value), true
}

// toList makes an array by number of a scalar.
func (v *variable) toList() {
	if v.list == nil {
		v.list = map[int]string{}
		if v.set {
			v.list[0] = v.value
		}
		v.value = ""
	}
}

// index evaluates a subscript; a negative one counts from the end.
func (sh *Shell) index(v *variable, name, key string) int {
	i := int(sh.arithText(key))
	if i < 0 {
		top := -1
		if v != nil {
			for k := range v.list {
				top = max(top, k)
			}
			if v.list == nil && v.set {
				top = 0
			}
		}
		if i += top + 1; i < 0 {
			sh.discard("%s[%s]: bad array subscript", name, key)
		}
	}
	return i
}

// unset removes a variable, or one element.
func (sh *Shell) unset(name string) bool {
	v := sh.vars[name]
	if v == nil {
		return true
	}
	if v.readonly {
		sh.errorf("unset: %s: cannot unset: readonly variable", name)
		return false
	}
	delete(sh.vars, name)
	if name == "PATH" {
		clear(sh.hash)
	}
	return true
}

// environ is what a command gets: exported variables by name, with a command's own assignments already made.
func (sh *Shell) environ() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(sh.vars)) {
		v := sh.vars[name]
		if s, ok := v.scalar(); ok && v.export && !v.array() {
			out = append(out, name+"="+s)
		}
	}
	if sh.lastArg != "" {
		out = append(out, "_="+sh.lastArg)
	}
	return out
}

// declare is a variable as declare -p shows it.
func (v *variable) declare(name string) string {
	flags := ""
	for _, f := range []struct {
		on bool
		c  string
	}{{v.list != nil, "a"}, {v.dict != nil, "A"}, {v.integer, "i"}, {v.lower, "l"}, {v.isRef, "n"}, {v.readonly, "r"}, {v.upper, "u"}, {v.export, "x"}} {
		if f.on {
			flags += f.c
		}
	}
	if flags == "" {
		flags = "-"
	}
	out := "declare -" + flags + " " + name
	if v.array() {
		out += "=("
		values := v.values()
		for i, k := range v.keys() {
			if i > 0 && v.dict == nil {
				out += " "
			}
			out += "[" + k + "]=" + declared(values[i])
			if v.dict != nil {
				out += " "
			}
		}
		return out + ")"
	}
	if v.set {
		out += "=" + declared(v.value)
	}
	return out
}

// declared is a value as declare -p has it.
func declared(s string) string {
	if printable(s) != s {
		return ansiQuoted(s)
	}
	return doubleQuoted(s)
}

func doubleQuoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(s) + `"`
}
