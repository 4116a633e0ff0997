package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"kscope/lang"
)

// version is kscope version: which program this is, and what its goldens hang on.
func (p *program) version() int {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	pin := p.pin()
	writeVersion(p.stdout, info, pin)
	return lang.ExitOK
}

// writeVersion prints what is the same of every build of the same source, and nothing else: no times, no host.
func writeVersion(w io.Writer, info *debug.BuildInfo, pin lang.Pin) {
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "(no release)"
	}
	fmt.Fprintf(w, "kscope %s\n", version)
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if rev := settings["vcs.revision"]; rev != "" {
		if settings["vcs.modified"] == "true" {
			rev += ", modified"
		}
		fmt.Fprintf(w, "revision %s\n", rev)
	}
	fmt.Fprintf(w, "image %s\ncosts %s\n", pin.Image, pin.Costs)
}
