// Package guest holds the guest kernel: C and assembly in the directories below, and the ELF images built from them by
// `go generate ./kernel/guest` (gen/main.go: gcc and ld), committed and embedded so that a user needs no compiler.
//
//	init/ arch/ kernel/ mm/ fs/ lib/ drivers/   the kernel's sources, one file per noun, Linux 6.1's names
//	include/                                    its headers
//	user/                                       the user stub
//	modules/                                    loadable modules, their .ko.gz, and <linux/*.h> for those of a user
//	vmlinux.lds, stub.lds                       linker scripts
//	vmlinux.elf.gz, stub.elf.gz                 the images; a note in the kernel holds the hash of the sources
//
// Everything else about the guest (symbols, sizes, layouts, tables) is read from the image, never repeated in Go.
package guest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"
)

//go:generate go run ./gen -root .

//go:embed vmlinux.elf.gz
var kernelGz []byte

//go:embed stub.elf.gz
var stubGz []byte

//go:embed kernel/guest.config
var config []byte

// Config is the kernel's configuration, as /proc/config.gz and /boot/config-RELEASE have it.
func Config() []byte { return config }

// Kernel returns the guest kernel's ELF image. Each call unpacks it anew (some milliseconds): keep the result.
func Kernel() []byte { return unpack(kernelGz) }

// Stub returns the ELF image of the user stub.
func Stub() []byte { return unpack(stubGz) }

// SymbolSize is the size of a symbol as kallsyms counts it: up to the next symbol, without the padding that the build puts
// between two objects (some KiB, where Linux has none). size is the compiler's, 0 where an assembler label has none.
func SymbolSize(addr, size, next uint64) uint64 {
	const align, padding = 16, 64 // functions begin at 16 bytes; a wider gap is no alignment
	if end := (addr + size + align - 1) &^ (align - 1); size > 0 && end+padding <= next {
		return end - addr
	}
	return next - addr
}

func unpack(gz []byte) []byte {
	zr, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		panic("BUG: embedded image: " + err.Error())
	}
	data, err := io.ReadAll(zr)
	if err != nil {
		panic("BUG: embedded image: " + err.Error())
	}
	return data
}

// sourceDirs are the directories whose files make the images, with the linker scripts and gen itself.
var sourceDirs = [...]string{"arch", "block", "drivers", "fs", "gen", "include", "init", "kernel", "lib", "mm", "modules", "user"}

// Sources lists the build's inputs below the guest directory, sorted.
func Sources(dir fs.FS) ([]string, error) {
	names := []string{"stub.lds", "vmlinux.lds"}
	for _, d := range sourceDirs {
		err := fs.WalkDir(dir, d, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			switch path.Ext(name) {
			case ".c", ".h", ".S", ".go", ".config":
				if !strings.HasPrefix(path.Base(name), ".") {
					names = append(names, name)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("listing guest sources: %w", err)
		}
	}
	sort.Strings(names)
	return names, nil
}

// Hash is the SHA-256, in hex, over names and contents of all Sources; the image's .note.kscope carries it.
func Hash(dir fs.FS) (string, error) {
	names, err := Sources(dir)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range names {
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(data))
		h.Write(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Note reads the kernel image's note: the sources' hash and the compiler's version line.
func Note(elf []byte) (hash, gcc string, err error) {
	mark := []byte("kscope\x00\x00")
	for at := 0; ; {
		i := bytes.Index(elf[at:], mark)
		if i < 0 {
			return "", "", fmt.Errorf("the image has no kscope note")
		}
		at += i + len(mark)
		parts := bytes.SplitN(elf[at:min(at+256, len(elf))], []byte{0}, 3)
		if len(parts) == 3 && len(parts[0]) == sha256.Size*2 {
			return string(parts[0]), string(parts[1]), nil
		}
	}
}
