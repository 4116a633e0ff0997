package main

import (
	"bytes"
	"runtime/debug"
	"testing"

	"kscope/lang"
)

// The version says what a golden's pin says of the program, and nothing that differs between two builds of one source.
func TestVersion(t *testing.T) {
	for _, arg := range []string{"version", "-version", "--version"} {
		var out, errs bytes.Buffer
		status := run([]string{arg}, nil, &out, &errs)
		pin := (&program{}).pin()
		if want := "\nimage " + pin.Image + "\ncosts " + pin.Costs + "\n"; status != 0 || !bytes.HasSuffix(out.Bytes(), []byte(want)) || errs.Len() > 0 {
			t.Errorf("%s: %d %q %q", arg, status, &out, &errs)
		}
	}
	info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abcdef"}, {Key: "vcs.time", Value: "2026-11-30"}, {Key: "vcs.modified", Value: "true"}, {Key: "GOOS", Value: "linux"},
	}}
	var out bytes.Buffer
	writeVersion(&out, info, lang.Pin{Image: "aa", Costs: "bb"})
	if want := "kscope v1.2.3\nrevision abcdef, modified\nimage aa\ncosts bb\n"; out.String() != want {
		t.Error(lang.Diff(want, out.String()))
	}
}
