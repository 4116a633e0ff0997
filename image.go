package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"kscope/kernel/guest"
	"kscope/kernel/user"
	"kscope/lang"
)

// A guest image outside kscope is a zip of the kernel and its modules (kscope image export), or the kernel's ELF alone,
// compressed by gzip or not; then the modules are those inside kscope.
const (
	imageKernel  = "vmlinux.elf"
	imageModules = "modules/"
)

// exportImage is kscope image export FILE: the guest, for --image. A project that commits it keeps its goldens when it takes a
// newer kscope. FILE.elf is the kernel alone.
func (p *program) exportImage() int {
	file := p.opts.files[0]
	kernel := p.opts.machine.Image
	if kernel == nil {
		kernel = guest.Kernel()
	}
	data, err := kernel, error(nil)
	if !strings.HasSuffix(file, ".elf") {
		data, err = packImage(kernel, p.opts.modules)
	}
	if err == nil {
		err = os.WriteFile(file, data, 0o644)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "kscope: %v\n", err)
		return lang.ExitScript
	}
	fmt.Fprintf(p.stdout, "%s: image %s, %d KiB\n", file, digest(kernel)[:12], (len(data)+1023)>>10)
	return lang.ExitOK
}

// packImage makes the zip. Entries have no time, so that the same image gives the same bytes.
func packImage(kernel []byte, modules []user.File) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	add := func(name string, data []byte) error {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(data)
		}
		return err
	}
	if err := add(imageKernel, kernel); err != nil {
		return nil, err
	}
	if modules == nil {
		for _, name := range guest.Modules() {
			modules = append(modules, user.ModuleFile(name, guest.Module(name)))
		}
	}
	for _, m := range modules {
		if err := add(imageModules+path.Base(m.Path), m.Data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// readImage reads an image: the kernel, and its modules when they come with it.
func readImage(file string) (kernel []byte, modules []user.File, err error) {
	data, err := os.ReadFile(file)
	switch {
	case err != nil:
		return nil, nil, err
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return unpackImage(data)
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		zr, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, nil, err
		}
		if data, err = io.ReadAll(zr); err != nil {
			return nil, nil, err
		}
	}
	if !bytes.HasPrefix(data, []byte("\x7fELF")) {
		return nil, nil, errors.New("it is no guest image: want what kscope image export writes, or a kernel as an ELF file")
	}
	return data, nil, nil
}

func unpackImage(data []byte) (kernel []byte, modules []user.File, err error) {
	zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, nil, err
	}
	for _, f := range zr.File {
		r, err := f.Open()
		if err != nil {
			return nil, nil, err
		}
		text, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		name, isModule := strings.CutPrefix(f.Name, imageModules)
		switch {
		case f.Name == imageKernel:
			kernel = text
		case isModule && strings.HasSuffix(name, ".ko"):
			modules = append(modules, user.ModuleFile(strings.TrimSuffix(name, ".ko"), text))
		}
	}
	if kernel == nil {
		return nil, nil, fmt.Errorf("no %s inside: want what kscope image export writes", imageKernel)
	}
	return kernel, modules, nil
}
