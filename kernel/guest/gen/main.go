// Command gen builds the guest: it compiles every C and assembly file of the source directories in sorted order, links
// the kernel and the user stub, and writes vmlinux.elf.gz and stub.elf.gz beside the package's Go files.
//
// Objects are cached under the temporary directory by a hash of (source, all headers, flags), so a rebuild compiles
// only what changed. The image carries a note with the hash of all sources and the compiler's version (see Hash in
// package guest); guest_test compares it with the tree.
//
// Usage: go run ./gen [-k] [-o dir] [-root dir]; go run ./gen -m module.c [-o dir]
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"kscope/kernel/guest"
)

// commonFlags are Linux's for an x86-64 kernel, less what needs hardware that the machine lacks.
var commonFlags = strings.Fields(`-std=gnu11 -O2 -g -gdwarf-4 -Wall -Werror=implicit-function-declaration -ffreestanding
	-fno-builtin -nostdlib -nostdinc -mcmodel=kernel -mno-red-zone -mno-sse -mno-mmx -mno-sse2 -mno-3dnow -mno-avx
	-mno-80387 -msoft-float -mpreferred-stack-boundary=3 -mskip-rax-setup -fno-pic -fno-pie -fno-stack-protector -fcf-protection=none -fno-asynchronous-unwind-tables
	-fno-strict-aliasing -fno-common -fno-delete-null-pointer-checks -fno-tree-loop-distribute-patterns -falign-functions=16 -falign-jumps=1 -falign-loops=1
	-fno-strict-overflow -fno-var-tracking -gno-column-info -femit-struct-debug-baseonly -fno-ipa-icf -Iinclude`)

// tracedFlags instrument a C file for ftrace; cloneFlags keep arguments as the source has them.
var (
	tracedFlags = strings.Fields("-pg -mfentry -mrecord-mcount")
	cloneFlags  = strings.Fields("-fno-ipa-sra -fno-ipa-cp")
)

// fileFlags: what differs from the rule for single files. "-trace" removes tracedFlags, "-clone" cloneFlags.
var fileFlags = map[string][]string{
	"arch/abi.c":     {"-fno-eliminate-unused-debug-types", "-femit-struct-debug-detailed=any"},
	"arch/hot.c":     {"-falign-functions=1"}, // its place is the linker script's business
	"arch/irq.c":     {"-fno-omit-frame-pointer"},
	"lib/string.c":   {"-clone"},
	"lib/vsprintf.c": {"-clone"},
	"mm/slub.c":      {"-clone"},
}

// objectAlign spaces the objects' text, so that an edit in one file does not move the others.
const objectAlign = 16 << 10

func main() {
	compileOnly := flag.Bool("k", false, "compile only, keep going")
	exclude := flag.String("x", "", "leave out sources with these comma-separated prefixes (for work in progress)")
	root := flag.String("root", "", "the guest directory (default: found from the working directory)")
	out := flag.String("o", "", "where the images go (default: the guest directory)")
	plain := flag.String("elf", "", "also write the uncompressed kernel here")
	module := flag.String("m", "", "build this C file as a module beside it, or in -o (see modules/README.md)")
	flag.Parse()
	dir := *root
	if dir == "" {
		dir = findRoot()
	}
	if *module != "" {
		if err := userModule(dir, *module, *out); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
		return
	}
	if *out == "" {
		*out = dir
	}
	if err := build(dir, *out, *plain, *exclude, *compileOnly); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func findRoot() string {
	for _, d := range []string{".", "kernel/guest", "..", "../.."} {
		if _, err := os.Stat(filepath.Join(d, "vmlinux.lds")); err == nil {
			return d
		}
	}
	return "."
}

func build(dir, out, plain, exclude string, compileOnly bool) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	out, err = filepath.Abs(out)
	if err != nil {
		return err
	}
	srcs, err := guest.Sources(os.DirFS(abs))
	if err != nil {
		return err
	}
	b := &builder{dir: abs, exclude: strings.Split(exclude, ","), cache: filepath.Join(os.TempDir(), "kscope-guest")}
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return err
	}
	if err := b.hashHeaders(srcs); err != nil {
		return err
	}
	objs, err := b.compileAll(srcs)
	if err != nil || compileOnly {
		return err
	}
	hash, err := guest.Hash(os.DirFS(abs))
	if err != nil {
		return err
	}
	note, err := b.note(hash)
	if err != nil {
		return err
	}
	if err := b.link(out, plain, objs, note); err != nil {
		return err
	}
	return b.modules(srcs, out)
}

// builder is one run of the build.
type builder struct {
	dir, cache string
	exclude    []string
	headers    string // hash of all headers
}

func (b *builder) hashHeaders(srcs []string) error {
	h := sha256.New()
	for _, s := range srcs {
		if strings.HasSuffix(s, ".h") || strings.HasSuffix(s, ".config") {
			data, err := os.ReadFile(filepath.Join(b.dir, s))
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%s %d\n", s, len(data))
			h.Write(data)
		}
	}
	b.headers = hex.EncodeToString(h.Sum(nil))
	return nil
}

func (b *builder) flags(src string) []string {
	fs := append([]string{}, commonFlags...)
	fs = append(fs, "-ffile-prefix-map="+b.dir+"=.")
	if strings.HasSuffix(src, ".S") {
		return append(fs, "-D__ASSEMBLY__", "-Wa,-gdwarf-4")
	}
	trace, clone := tracedFlags, cloneFlags
	if strings.HasPrefix(src, "lib/") {
		trace = nil // as Linux's lib/Makefile
	}
	var extra []string
	for _, f := range fileFlags[src] {
		switch f {
		case "-trace":
			trace = nil
		case "-clone":
			clone = nil
		default:
			extra = append(extra, f)
		}
	}
	fs = append(append(fs, trace...), clone...)
	return append(fs, extra...)
}

// compileAll compiles the kernel's sources in parallel; objects come back in source order.
func (b *builder) compileAll(srcs []string) ([]string, error) {
	var files []string
	for _, s := range srcs {
		if ext := filepath.Ext(s); (ext == ".c" || ext == ".S") && !b.excluded(s) && guest.ModuleOf(s) == "" {
			files = append(files, s)
		}
	}
	objs := make([]string, len(files))
	errs := make([]error, len(files))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.NumCPU())
	for i, f := range files {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			objs[i], errs[i] = b.compile(f)
			<-slots
		}()
	}
	wg.Wait()
	failed := 0
	for _, err := range errs {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed++
		}
	}
	if failed > 0 {
		return nil, fmt.Errorf("%d of %d files failed", failed, len(files))
	}
	return objs, nil
}

func (b *builder) excluded(src string) bool {
	for _, x := range b.exclude {
		if x != "" && strings.HasPrefix(src, x) {
			return true
		}
	}
	return false
}

func (b *builder) compile(src string) (string, error) {
	data, err := os.ReadFile(filepath.Join(b.dir, src))
	if err != nil {
		return "", err
	}
	flags := b.flags(src)
	h := sha256.New()
	fmt.Fprintln(h, src, b.headers, flags)
	h.Write(data)
	obj := filepath.Join(b.cache, strings.ReplaceAll(src, "/", "_")+"-"+hex.EncodeToString(h.Sum(nil))[:16]+".o")
	if _, err := os.Stat(obj); err == nil {
		return obj, nil
	}
	tmp := fmt.Sprintf("%s.%d.tmp", obj, os.Getpid())
	cmd := exec.Command("gcc", append(flags, "-c", src, "-o", tmp)...)
	cmd.Dir = b.dir
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", src, err, msg)
	} else if len(msg) > 0 {
		fmt.Fprintf(os.Stderr, "%s", msg) // warnings
	}
	return obj, os.Rename(tmp, obj)
}

// note makes an object with .note.kscope: the sources' hash and the compiler's version.
func (b *builder) note(hash string) (string, error) {
	ver, err := exec.Command("gcc", "--version").Output()
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(ver), "\n")
	b.compareCompiler(line)
	src := filepath.Join(b.cache, fmt.Sprintf("note.%d.S", os.Getpid()))
	obj := strings.TrimSuffix(src, ".S") + ".o"
	defer os.Remove(src)
	text := fmt.Sprintf(`.section .note.kscope,"a",@note
	.balign 4
	.long 7, 2f-1f, 1
	.asciz "kscope"
	.balign 4
1:	.asciz "%s"
	.asciz %q
2:	.balign 4
	.section .note.GNU-stack,"",@progbits
`, hash, line)
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		return "", err
	}
	return obj, run(b.dir, "gcc", "-c", src, "-o", obj)
}

// compareCompiler warns when the present image comes from another compiler: its code, and with it every golden, will move.
func (b *builder) compareCompiler(line string) {
	gz, err := os.ReadFile(filepath.Join(b.dir, "vmlinux.elf.gz"))
	if err != nil {
		return
	}
	zr, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return
	}
	elf, err := io.ReadAll(zr)
	if err != nil {
		return
	}
	if _, old, err := guest.Note(elf); err == nil && old != line {
		fmt.Fprintf(os.Stderr, "gen: warning: the image was built by %q, this is %q\n", old, line)
	}
}

func (b *builder) link(out, plain string, objs []string, note string) error {
	defer os.Remove(note)
	var kobjs []string
	stub := ""
	for _, o := range objs {
		if strings.HasPrefix(filepath.Base(o), "user_stub") {
			stub = o
			continue
		}
		kobjs = append(kobjs, o)
	}
	script, err := b.script(kobjs)
	if err != nil {
		return err
	}
	defer os.Remove(script)
	elf := filepath.Join(b.cache, fmt.Sprintf("vmlinux.%d", os.Getpid()))
	defer os.Remove(elf)
	// Twice: the first link's symbols make the second's kallsyms, which lies behind all text and moves none of it.
	syms, err := b.kallsyms("")
	if err != nil {
		return err
	}
	defer os.Remove(syms)
	args := []string{"-static", "-z", "max-page-size=4096", "-z", "noexecstack", "--no-warn-rwx-segments", "--build-id=none",
		"--compress-debug-sections=zlib-gabi", "-T", script, "-o", elf}
	args = append(append(args, kobjs...), note, syms)
	if err := run(b.dir, "ld", args...); err != nil {
		return err
	}
	if _, err := b.kallsyms(elf); err != nil {
		return err
	}
	if err := run(b.dir, "ld", args...); err != nil {
		return err
	}
	if plain != "" {
		if data, err := os.ReadFile(elf); err != nil {
			return err
		} else if err := os.WriteFile(plain, data, 0o644); err != nil {
			return err
		}
	}
	if err := compress(elf, filepath.Join(out, "vmlinux.elf.gz")); err != nil || stub == "" {
		return err
	}
	self := filepath.Join(b.cache, fmt.Sprintf("stub.%d", os.Getpid()))
	defer os.Remove(self)
	if err := run(b.dir, "ld", "-static", "-z", "max-page-size=4096", "-z", "noexecstack", "--no-warn-rwx-segments", "--build-id=none", "-s",
		"-T", "stub.lds", "-o", self, stub); err != nil {
		return err
	}
	return compress(self, filepath.Join(out, "stub.elf.gz"))
}

// script writes the linker script with one .text line for each object, at its own boundary.
func (b *builder) script(objs []string) (string, error) {
	lds, err := os.ReadFile(filepath.Join(b.dir, "vmlinux.lds"))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, o := range objs {
		fmt.Fprintf(&text, "\t\t. = ALIGN(%#x); %s(.text .text.unlikely .text.[a-z]*)\n", objectAlign, o)
	}
	name := filepath.Join(b.cache, fmt.Sprintf("vmlinux.%d.lds", os.Getpid()))
	return name, os.WriteFile(name, bytes.Replace(lds, []byte("/* OBJECT_TEXT */"), []byte(text.String()), 1), 0o644)
}

func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	msg, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, msg)
	}
	if len(msg) > 0 {
		fmt.Fprintf(os.Stderr, "%s", msg)
	}
	return nil
}

func compress(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	zw, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if _, err := zw.Write(data); err != nil {
		return err
	}
	if err := zw.Close(); err != nil {
		return err
	}
	if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, buf.Bytes()) {
		return nil
	}
	return os.WriteFile(to, buf.Bytes(), 0o644)
}
