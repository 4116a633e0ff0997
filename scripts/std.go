// Package scripts holds kscope's tools, which are also the library that load("@std//...") finds, and the tests of all scripts.
package scripts

import (
	"embed"
	"io/fs"
)

//go:embed tools/*.star
var files embed.FS

//go:embed lab/*.lab seeds/*-*.txt
var course embed.FS

// Course holds the lessons, lab/*.lab, and the documents that they quote, seeds/*.txt.
func Course() fs.FS { return course }

// Std is the library: load("@std//funclatency.star", "funclatency").
func Std() fs.FS {
	std, err := fs.Sub(files, "tools")
	if err != nil {
		panic("BUG: scripts: " + err.Error())
	}
	return std
}
