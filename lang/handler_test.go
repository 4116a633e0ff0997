package lang

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.starlark.net/starlark"
)

// A handler has a budget for each call, and takes from the host's only what it uses.
func TestHandler(t *testing.T) {
	h := New(Config{MaxSteps: 3_000_000})
	make := func(src string) *Handler {
		v, err := h.Value(src)
		if err != nil {
			t.Fatal(err)
		}
		return h.Handler(nil, "x", v.(starlark.Callable))
	}
	forever := make("lambda x: [i for i in range(1 << 40)]")
	for range 2 {
		if _, err := forever.Call(starlark.None); err == nil || !strings.Contains(err.Error(), "in one call of a handler") {
			t.Fatalf("endless call: %v", err)
		}
	}
	short := make("lambda x: x + 1")
	for i := range 10_000 {
		if v, err := short.Call(starlark.MakeInt(i)); err != nil || v.String() != starlark.MakeInt(i+1).String() {
			t.Fatalf("call %d: %v %v", i, v, err)
		}
	}
	if _, err := forever.Call(starlark.None); err == nil || !strings.Contains(err.Error(), "--max-steps") || !h.limited.Load() {
		t.Fatalf("the host's budget: %v", err)
	}
	forever.Close()
	short.Close()
}

// Ctrl-C ends a script, whose ends run all the same, with threads that are not cancelled any more.
func TestQuit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.star")
	if err := os.WriteFile(path, []byte("print('on')\nwhile True:\n    pass\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := New(Config{})
	var stopped atomic.Bool
	h.cfg.Interrupt = func() bool { stopped.Store(true); return true }
	h.cfg.Stdout = writerFunc(func([]byte) { go h.Quit() })
	v, err := h.Value("lambda x: x + 1")
	if err != nil {
		t.Fatal(err)
	}
	end := h.Handler(nil, "end", v.(starlark.Callable))
	got := ""
	h.OnEnd(func() error {
		v, err := end.Call(starlark.MakeInt(1))
		got = v.String()
		return err
	})
	var out strings.Builder
	if status := h.Run(path, &out); status != ExitScript || !strings.HasPrefix(out.String(), "error: interrupted\n") || got != "2" {
		t.Errorf("status %d, %q, the end gave %q, the machine stopped: %v", status, out.String(), got, stopped.Load())
	}
}
