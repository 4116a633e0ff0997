package sh_test

import (
	"strings"
	"testing"

	"kscope/kernel"
	"kscope/kernel/user"
)

// What grows without end is killed by the guest, as on a Linux without memory; the host must not notice.
func TestOutOfMemory(t *testing.T) {
	for _, script := range []string{
		`x=a; while :; do x="$x$x"; done`,
		`x=a; while :; do x+=$x; done`,
		`a=(x); while :; do a+=("${a[@]}"); done`,
		`declare -A a; i=0; while :; do a[$((i++))]=$x; done`,
		`set -- a b; while :; do set -- "$@" "$@"; done`,
		`x=$(yes)`,
		`head -c 6M /dev/zero | tr '\0' a > /tmp/f; read x < /tmp/f`,
		`for i in {1..99999999}; do :; done`,
		`for i in $(seq 1000000); do :; done`,
		`printf %999999999d 1 > /dev/null`,
		`printf -v x %99999999s a`,
		`exec /bin/printf %999999999d 1`,
		`exec sort < <(yes)`,
		`exec tac /dev/zero`,
		`exec tail /dev/zero`,
		`exec tail -n 99999999 < <(yes)`,
		`exec head -n -99999999 < <(yes)`,
		`exec sed -n 'H;$p' < <(yes)`,
		`exec sed ':a;s/a/aa/g;ba' <<< a`,
		`exec cut -c1 /dev/zero`,
		`exec awk 'BEGIN { s = "x"; while (1) s = s s }'`,
		`exec awk 'BEGIN { s = "x"; while (1) gsub(/x/, "xxxx", s) }'`,
		`exec awk 'function f(s) { return s s } BEGIN { s = "x"; for (;;) s = f(s) }'`,
	} {
		m, h := boot(t, kernel.Config{Seed: 1, MaxInsns: 20e9})
		h.SetMaxHeld(4 << 20)
		got := run(t, m, h, script)
		if got.code != 137 || h.OutOfMemory() == "" {
			t.Errorf("%s: exit %d, killed %q\n%.200s\n%.200s", script, got.code, h.OutOfMemory(), got.out, got.err)
		}
	}
}

// The kernel's log says who was killed; a script goes on, and what ended programs held is free again.
func TestOutOfMemoryLog(t *testing.T) {
	m, h := boot(t, kernel.Config{Seed: 1, MaxInsns: 20e9})
	h.SetMaxHeld(4 << 20)
	got := run(t, m, h, `for i in 1 2 3; do (x=$(head -c 1000000 /dev/zero | tr '\0' x); echo ${#x}); done
yes | sort
echo "${PIPESTATUS[@]}"
dmesg | grep -c 'Out of memory: Killed process'`)
	want := "1000000\n1000000\n1000000\n141 137\n1\n"
	if got.out != want || !strings.Contains(got.err, "Killed                  | sort") {
		t.Errorf("%q\n%s", got.out, got.err)
	}
}

func TestTooDeep(t *testing.T) {
	for _, text := range []string{strings.Repeat("(", 1e6), strings.Repeat("$(", 1e5), "x=1\necho $((" + strings.Repeat("-", 1e6) + "1))", strings.Repeat("if :; then ", 2e5)} {
		if user.TooDeep(text) == 0 {
			t.Errorf("%.20s… is not too deep", text)
		}
	}
	for _, text := range []string{strings.Repeat("(a); { b; }\n", 1e5), strings.Repeat("# --- (\n)", 1e4), strings.Repeat("if a; then b; fi\n", 1e4)} {
		if line := user.TooDeep(text); line > 0 {
			t.Errorf("%.20s… is too deep on line %d", text, line)
		}
	}
	m, h := boot(t, kernel.Config{Seed: 1})
	got := run(t, m, h, "eval 'x=\"eval \\$x\"; eval $x'\necho no\n")
	if got.out != "" || !strings.Contains(got.err, "maximum eval nesting level exceeded (1000)") {
		t.Errorf("%+v", got)
	}
}
