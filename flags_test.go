package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// commandsOfGoldens are the kscope commands in the goldens of one file (x.txtar), as words.
func commandsOfGoldens(t *testing.T) (all [][]string) {
	files, err := filepath.Glob("scripts/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), "\n-- ")
		for _, m := range regexp.MustCompile(`(?m)^(?:! )?kscope (.*)$`).FindAllStringSubmatch(head, -1) {
			all = append(all, strings.Fields(m[1]))
		}
	}
	return all
}

// TestEveryFlagHasAGolden: each flag and each subcommand of the program is given in some golden, whose output is compared.
func TestEveryFlagHasAGolden(t *testing.T) {
	given := map[string]bool{}
	for _, words := range commandsOfGoldens(t) {
		for _, w := range words {
			if w == "--" {
				break // the rest is the script's
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(w, "-"), "=")
			given[w[:min(len(w), 1)]+strings.TrimPrefix(name, "-")] = true
			given[w] = true
		}
	}
	newFlags(&options{}).VisitAll(func(f *flag.Flag) {
		if !given["-"+f.Name] {
			t.Errorf("no golden gives -%s", f.Name)
		}
	})
	for _, c := range commands {
		if !given[c.name] {
			t.Errorf("no golden runs kscope %s", c.name)
		}
	}
}
