package lang

import (
	"strings"
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
		return h.Handler("x", v.(starlark.Callable))
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
	if _, err := forever.Call(starlark.None); err == nil || !strings.Contains(err.Error(), "--max-steps") || !h.limited {
		t.Fatalf("the host's budget: %v", err)
	}
	forever.Close()
	short.Close()
}
