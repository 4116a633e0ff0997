package main

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"kscope/kernel/guest"
)

// kallsyms makes the object with the guest's own symbol table (lib/kallsyms.c) from a linked image: the text symbols by
// address, as offsets from _text, and their names, each behind its type. Without an image the table is empty.
func (b *builder) kallsyms(image string) (string, error) {
	var offsets, nameOffs, names strings.Builder
	count, at := 0, 0
	if image != "" {
		syms, base, err := textSymbols(image)
		if err != nil {
			return "", err
		}
		row := func(addr uint64, name string) {
			fmt.Fprintf(&offsets, "\t.long %#x\n", addr-base)
			fmt.Fprintf(&nameOffs, "\t.long %d\n", at)
			fmt.Fprintf(&names, "\t.asciz %q\n", name)
			at += len(name) + 1
			count++
		}
		size := uint64(0)
		for i, s := range syms {
			row(s.Value, symbolType(s)+s.Name)
			size = max(size, s.Size)
			if i+1 < len(syms) && syms[i+1].Value != s.Value {
				if next := syms[i+1].Value; s.Value+guest.SymbolSize(s.Value, size, next) != next {
					row(s.Value+guest.SymbolSize(s.Value, size, next), "") // padding: a row without a name
				}
				size = 0
			}
		}
	}
	src := filepath.Join(b.cache, fmt.Sprintf("kallsyms.%d.S", os.Getpid()))
	obj := strings.TrimSuffix(src, ".S") + ".o"
	defer os.Remove(src)
	text := fmt.Sprintf(`	.section .rodata.kallsyms, "a", @progbits
	.globl kallsyms_num_syms, kallsyms_offsets, kallsyms_name_offs, kallsyms_names
	.balign 8
kallsyms_num_syms: .long %d
	.balign 8
kallsyms_offsets:
%s	.balign 8
kallsyms_name_offs:
%s	.balign 8
kallsyms_names:
%s	.section .note.GNU-stack, "", @progbits
`, count, &offsets, &nameOffs, &names)
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		return "", err
	}
	return obj, run(b.dir, "gcc", "-c", src, "-o", obj)
}

// symbolType is the letter of nm that goes before a text symbol's name in the table, as in Linux's.
func symbolType(s elf.Symbol) string {
	switch elf.ST_BIND(s.Info) {
	case elf.STB_LOCAL:
		return "t"
	case elf.STB_WEAK:
		return "W"
	}
	return "T"
}

// textSymbols are the symbols between _text and _etext, by address and then by name, and the address of _text.
func textSymbols(image string) ([]elf.Symbol, uint64, error) {
	f, err := elf.Open(image)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		return nil, 0, err
	}
	var start, end uint64
	for _, s := range all {
		switch s.Name {
		case "_text":
			start = s.Value
		case "_etext":
			end = s.Value
		}
	}
	var syms []elf.Symbol
	for _, s := range all {
		if t := elf.ST_TYPE(s.Info); t == elf.STT_FILE || t == elf.STT_SECTION || s.Name == "" || s.Value < start || s.Value >= end {
			continue
		}
		syms = append(syms, s)
	}
	sort.Slice(syms, func(i, j int) bool {
		a, b := syms[i], syms[j]
		if a.Value != b.Value {
			return a.Value < b.Value
		}
		if fa, fb := elf.ST_TYPE(a.Info) == elf.STT_FUNC, elf.ST_TYPE(b.Info) == elf.STT_FUNC; fa != fb {
			return fa // a function's name before labels of its place
		}
		return a.Name < b.Name
	})
	return syms, start, nil
}
