package lang

import "go.starlark.net/starlark"

// AllTables are the tables of the host's rows, its own first: what the reference is written from.
func (h *Host) AllTables() []Table { return append(h.std(), h.cfg.Tables...) }

// Globals are the names that a session begins with.
func (h *Host) Globals() starlark.StringDict { return h.env }

// Head is a row's name and signature, as help shows them.
func Head(r Row) string { return head(r) }
