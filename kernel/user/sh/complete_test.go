package sh

import (
	"reflect"
	"strings"
	"testing"

	"kscope/kernel"
)

// Tab at the end of a line: what it becomes when there is one candidate, or what is offered.
func TestComplete(t *testing.T) {
	dirs := map[string][]string{
		"/": {"bin/", "sys/", "my file", "my$x"}, "/sys": {"kernel/"}, "/sys/kernel": {"tracing/", "trace"}, "/bin": {"cat", "cut"},
		"/sys/kernel/tracing": {"set_event", "set_ftrace_filter", "trace", "events/", ".hidden"},
	}
	o := Offers{
		List: func(dir string) (out []kernel.DirEntry) {
			for _, name := range dirs[dir] {
				n, isDir := strings.CutSuffix(name, "/")
				e := kernel.DirEntry{Name: n, Type: 8}
				if isDir {
					e.Type = entryDir
				}
				out = append(out, e)
			}
			return out
		},
		Words: func() []string {
			return []string{"vfs_read", "vfs_readv", "vfs_write", "trace_kmalloc", "sched:sched_switch"}
		},
	}
	sh := &Shell{builtins: builtins(), funcs: map[string]*function{"myfunc": nil}, vars: map[string]*variable{
		"PWD": {value: "/sys/kernel/tracing", set: true}, "PATH": {value: "/bin", set: true}, "HOME": {value: "/sys", set: true}, "MYVAR": {set: true},
	}}
	term := &Terminal{sh: sh}
	for _, c := range []struct{ line, want string }{
		{"myf", "myfunc "}, {"ech", "echo "}, {"whi", "while "}, {"c", "caller case cat cd command continue cut"}, {"", ""},
		{"if tru", "if true "}, {"a=1 ech", "a=1 echo "}, {"x | cu", "x | cut "}, {"x; (ech", "x; (echo "}, {"echo $(ca", "echo $(caller case cat"},
		{"echo \"$(cu", "echo \"$(cut "}, {"exec ech", "exec echo "}, {"! ech", "! echo "}, {"for i in tr", "for i in trace "},
		{"cat set_f", "cat set_ftrace_filter "}, {"cat set_", "cat set_event set_ftrace_filter"}, {"cat ev", "cat events/"}, {"cd tr", "cd tr"},
		{"cd /s", "cd /sys/"}, {"cat /sys/k", "cat /sys/kernel/"}, {"cat ~/k", "cat ~/kernel/"}, {"cat .h", "cat .hidden "},
		{"cat /my", `cat my\ file my\$x`}, {`cat "/my f`, `cat "/my file" `}, {`cat /my\ f`, `cat /my\ file `}, {`cat '/my$`, `cat '/my$x' `},
		{"echo $MYV", "echo $MYVAR"}, {"echo ${MYV", "echo ${MYVAR}"}, {`echo "a$MYV`, `echo "a$MYVAR`}, {`echo '$MYV`, `echo '$MYV`},
		{"echo 1 > set_e", "echo 1 > set_event "}, {"echo 1 >set_e", "echo 1 >set_event "}, {"echo 1 2>&1 >>set_e", "echo 1 2>&1 >>set_event "},
		{"echo vfs_w", "echo vfs_write "}, {"echo vfs_r", "echo vfs_read vfs_readv"}, {"echo '!vfs_w", "echo '!vfs_write' "}, {"echo trace", "echo trace trace_kmalloc"},
		{"echo 'p:x vfs_w", "echo 'p:x vfs_write"}, {"echo sched:s", "echo sched:sched_switch "}, {"cat vfs_w", "cat vfs_write "}, {"dd if=tr", "dd if=trace "},
		{"echo x # ech", "echo x # ech"}, {"for i in 1; do\nech", "for i in 1; do\necho "}, {"./ev", "./events/"}, {"ev", "eval "},
	} {
		got, replace := term.Complete(c.line, o)
		text := c.line[:len(c.line)-replace] + strings.Join(got, " ")
		if len(got) > 1 && replace < len(c.line) && !strings.HasPrefix(c.want, c.line[:len(c.line)-replace]) {
			text = c.line[:strings.LastIndexByte(c.line, ' ')+1] + strings.Join(got, " ")
		}
		if len(got) == 0 {
			text = c.line
		}
		if text != c.want {
			t.Errorf("%q: got %q %d, want %q", c.line, got, replace, c.want)
		}
	}
}

func TestUnfinished(t *testing.T) {
	got := map[string]bool{}
	want := map[string]bool{"": false, "echo": false, "for i in 1; do": true, "for i in 1; do\necho\ndone": false, "echo 'a": true, "cat <<E\nx": true, "cat <<E\nx\nE": false,
		"echo \\": true, "if x; then )": false, "x |": true, "x &&": true, "f() {": true, "echo $((1+": true, "case x in": true}
	for src := range want {
		got[src] = Unfinished(src)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// Aliases stand for command words only, and not within themselves; a blank at a value's end lets the next word be one, too.
func TestExpandAliases(t *testing.T) {
	aliases := map[string]string{"ll": "ls -l", "ls": "ls -F", "n": "nice ", "a": "b", "b": "a", "q": "echo 'x"}
	for _, c := range []struct{ before, line, want string }{
		{"", "ll /", "ls -F -l /"}, {"", "ls", "ls -F"}, {"", "echo ll", "echo ll"}, {"", "x; ll|ll", "x; ls -F -l|ls -F -l"}, {"", "n ll", "nice  ls -F -l"},
		{"", "n x ll", "nice  x ll"}, {"", "a", "a"}, {"", "'ll' \\ll \"ll\" ; \\ll", "'ll' \\ll \"ll\" ; \\ll"}, {"", "v=1 ll", "v=1 ls -F -l"}, {"", "ll=1", "ll=1"}, {"", "> ll ll", "> ll ls -F -l"},
		{"", "if ll; then ll; fi", "if ls -F -l; then ls -F -l; fi"}, {"", "echo $(ll)", "echo $(ls -F -l)"}, {"for i in 1; do\n", "ll", "ls -F -l"}, {"echo 'a\n", "ll'", "ll'"}, {"echo \\\n", "ll", "ll"},
		{"", "# ll; ll", "# ll; ll"}, {"", "x # ll; ll", "x # ll; ll"}, {"", "for ll in ll; do", "for ll in ll; do"}, {"", "lll; xll; ll2", "lll; xll; ll2"},
	} {
		if got := expandAliases(aliases, c.before, c.line, nil); got != c.want {
			t.Errorf("%q %q: got %q, want %q", c.before, c.line, got, c.want)
		}
	}
}
