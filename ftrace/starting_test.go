package ftrace

import (
	"strings"
	"testing"

	"kscope/kernel"
)

// TestStarting: the function tracer records nothing of the patching of its own sites, and all behind it.
func TestStarting(t *testing.T) {
	tr := boot(t, kernel.Config{CPUs: 2})
	must(t, tr.WriteFile("current_tracer", "function\n", false))
	tr.m.Run(kernel.Until{Time: tr.m.Now() + 1_000_000})
	text := tr.Text(-1)
	if strings.Contains(text, "do_sync_core") || strings.Contains(text, "text_poke") || strings.Count(text, "\n") < 20 {
		t.Errorf("%d lines, of its own patching:\n%.2000s", strings.Count(text, "\n"), text)
	}
}
