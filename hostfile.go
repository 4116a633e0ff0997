package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"kscope/kernel/user"
)

// hostFile is a file of the host that the guest boots with: a module of the user's own, a disk image, data.
type hostFile struct{ host, guest string }

// parseHostFile reads HOST or HOST=GUEST.
func parseHostFile(s string) (hostFile, error) {
	host, to, given := strings.Cut(s, "=")
	if !given {
		to = "/" + filepath.Base(host)
	}
	if host == "" || !path.IsAbs(to) || path.Clean(to) == "/" || strings.ContainsRune(to, 0) {
		return hostFile{}, fmt.Errorf("want HOST or HOST=/PATH/IN/GUEST")
	}
	return hostFile{host, path.Clean(to)}, nil
}

// Types of files in their mode, see inode(7).
const (
	regularFile = 0o100000
	directory   = 0o040000
)

// guestFiles reads the files, and makes the directories that they are in where the guest has none.
func guestFiles(list []hostFile) ([]user.File, error) {
	if len(list) == 0 {
		return nil, nil
	}
	have := map[string]bool{".": true}
	for _, f := range user.RootFiles() {
		have[f.Path] = true
	}
	var out []user.File
	for _, h := range list {
		info, err := os.Stat(h.host)
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err // which file is said here, and which call was made is nobody's business
		}
		if err != nil {
			return nil, fmt.Errorf("-file: %s: %w", h.host, err)
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("-file: %s is no regular file", h.host)
		}
		data, err := os.ReadFile(h.host)
		if err != nil {
			return nil, fmt.Errorf("-file: %w", err)
		}
		to, parents := h.guest[1:], []string(nil)
		if dir, _, _ := strings.Cut(to, "/"); dir == "bin" || dir == "sbin" || dir == "lib" {
			to = "usr/" + to // these are links
		}
		for dir := path.Dir(to); !have[dir]; dir = path.Dir(dir) {
			have[dir], parents = true, append(parents, dir)
		}
		for i := len(parents) - 1; i >= 0; i-- {
			out = append(out, user.File{Path: parents[i], Mode: directory | 0o755})
		}
		mode := uint32(regularFile | 0o644)
		if info.Mode()&0o111 != 0 {
			mode |= 0o111
		}
		out = append(out, user.File{Path: to, Mode: mode, Data: data})
	}
	return out, nil
}
