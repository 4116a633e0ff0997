package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"

	"kscope/kernel/guest"
	"kscope/lang"
)

// exportImage is kscope image export FILE: the guest kernel's ELF, for --image. A project that commits it keeps its goldens
// when it takes a newer kscope.
func (p *program) exportImage() int {
	path := p.opts.files[0]
	image := p.opts.machine.Image
	if image == nil {
		image = guest.Kernel()
	}
	data := image
	if strings.HasSuffix(path, ".gz") {
		var b bytes.Buffer
		zw, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		zw.Write(image) // a bytes.Buffer takes everything
		zw.Close()
		data = b.Bytes()
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		fmt.Fprintf(p.stderr, "kscope: %v\n", err)
		return lang.ExitScript
	}
	fmt.Fprintf(p.stdout, "%s: image %s, %d KiB\n", path, digest(image)[:12], (len(data)+1023)>>10)
	return lang.ExitOK
}

// readImage reads what export wrote, compressed or not.
func readImage(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, err
	}
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(zr)
}
