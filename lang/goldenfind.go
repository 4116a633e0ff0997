package lang

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// goldenPath is where a script's output is kept.
func goldenPath(script string) string {
	return strings.TrimSuffix(script, filepath.Ext(script)) + ".out"
}

// isScript tells which files are goldens.
func isScript(name string) bool {
	ext := filepath.Ext(name)
	return (ext == ".star" || ext == ".in" || ext == ".sh" || ext == ".lab" || ext == ".txtar") && !strings.HasPrefix(filepath.Base(name), "_")
}

// finder walks the directories of a run.
type finder struct {
	scripts []string
	outs    map[string]bool
	owners  map[string][]string // the scripts of each .out file
	texts   map[string]string   // files of test.golden and the .out of their script
	foreign map[string]bool     // X.sh and X.out beside an X.rows are conformance cases (kscope conform), no goldens
}

// found are the scripts to run, sorted, and what is wrong with the tree.
type found struct {
	scripts []string
	faults  []Result
}

// find lists the scripts, and the files of goldens that no script writes or two would.
func (g *Goldens) find() (found, error) {
	f := &finder{outs: map[string]bool{}, owners: map[string][]string{}, texts: map[string]string{}, foreign: map[string]bool{}}
	for _, dir := range g.Dirs {
		if err := filepath.WalkDir(filepath.Clean(dir), f.visit); err != nil {
			return found{}, err
		}
	}
	g.texts = map[string][]string{}
	for text, out := range f.texts {
		g.texts[out] = append(g.texts[out], text)
		sort.Strings(g.texts[out])
	}
	sort.Strings(f.scripts)
	f.scripts = slices.Compact(f.scripts) // a directory and a file of it
	var all found
	for _, path := range f.scripts {
		out := goldenPath(path)
		switch {
		case g.Filter != nil && !g.Filter.MatchString(filepath.ToSlash(path)) || f.foreign[out]:
		case len(f.owners[out]) > 1:
			all.faults = append(all.faults, fault(path, fmt.Sprintf("%s share one golden, %s: rename all but one\n", names(f.owners[out]), filepath.Base(out))))
		default:
			all.scripts = append(all.scripts, path)
		}
	}
	if g.Filter == nil {
		for out := range f.outs {
			if f.owners[out] == nil && !f.foreign[out] {
				all.faults = append(all.faults, fault(out, fmt.Sprintf("no script %s.{star,sh,in,lab} is beside it\n", strings.TrimSuffix(filepath.Base(out), ".out"))))
			}
		}
		for text, out := range f.texts {
			if f.owners[out] == nil {
				all.faults = append(all.faults, fault(text, "no script is beside it whose test.golden reads it\n"))
			}
		}
	}
	return all, nil
}

func fault(path, text string) Result {
	return Result{Path: path, Outcome: outcomeFail, Report: text}
}

// names are the names of files, "a and b".
func names(paths []string) string {
	var list []string
	for _, p := range paths {
		list = append(list, filepath.Base(p))
	}
	return strings.Join(list, " and ")
}

func (f *finder) visit(path string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.IsDir() {
		return nil
	}
	switch filepath.Ext(path) {
	case ".out":
		f.outs[path] = true
	case ".rows":
		f.foreign[goldenPath(path)] = true
	case ".golden": // of test.golden: x.golden, x.NAME.golden
		stem, _, _ := strings.Cut(d.Name(), ".")
		f.texts[path] = filepath.Join(filepath.Dir(path), stem+".out")
	}
	if _, err := os.Stat(strings.TrimSuffix(path, ".sh") + ".rows"); err == nil { // it alone was named
		f.foreign[goldenPath(path)] = true
	}
	if !isScript(path) || slices.Contains(f.scripts, path) {
		return nil
	}
	f.scripts = append(f.scripts, path)
	if out := goldenPath(path); filepath.Ext(path) != ".txtar" {
		f.owners[out] = append(f.owners[out], path)
	}
	return nil
}
