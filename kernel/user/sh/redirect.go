package sh

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"kscope/kernel"
)

// Flags and commands of the kernel's interface (linux/fcntl.h).
const (
	oRdonly   = kernel.ORdonly
	oWronly   = kernel.OWronly
	oRdwr     = kernel.ORdwr
	oCreat    = kernel.OCreat
	oExcl     = kernel.OExcl
	oTrunc    = kernel.OTrunc
	oAppend   = kernel.OAppend
	oNonblock = kernel.ONonblock
	oCloexec  = kernel.OCloexec

	fDupfd        = 0
	fGetfd        = 1
	fSetfd        = 2
	fDupfdCloexec = 1030
	fdCloexec     = 1

	modeType = kernel.ModeType
	modeFIFO = kernel.ModeFIFO
	modeChr  = kernel.ModeChr
	modeDir  = kernel.ModeDir
	modeBlk  = kernel.ModeBlk
	modeReg  = kernel.ModeReg
	modeLnk  = kernel.ModeLnk
	modeSock = kernel.ModeSock

	sysFcntl = 72
)

// firstSaved is the first descriptor that the shell uses for itself (SHELL_FD_BASE).
const firstSaved = 10

// savedFd is a descriptor that a redirection has covered; copy is -1 when it was closed before.
type savedFd struct{ fd, copy int }

// temp is what lives until the command has ended: the file or descriptor of a process substitution.
type temp struct {
	fd   int
	path string
}

func (sh *Shell) dropTemps(down int) {
	for len(sh.temps) > down {
		t := sh.temps[len(sh.temps)-1]
		sh.temps = sh.temps[:len(sh.temps)-1]
		if t.path == "" {
			sh.s.Close(t.fd)
			continue
		}
		if fd, e := sh.s.Open(t.path, oRdonly|oNonblock, 0); e == 0 { // lets a writer go on that nobody has read
			sh.s.Close(fd)
		}
		sh.s.Unlink(t.path)
	}
}

func (sh *Shell) fcntl(fd, cmd, arg int) (int, kernel.Errno) {
	n, e := sh.s.Call(sysFcntl, uint64(fd), uint64(cmd), uint64(arg))
	return int(n), e
}

// redirect does redirections from left to right. With save set it remembers what they cover, for restore. ok is false
// after a message.
func (sh *Shell) redirect(redirs []*syntax.Redirect, save bool) (saved []savedFd, ok bool) {
	for _, r := range redirs {
		if !sh.redirectOne(r, save, &saved) {
			return saved, false
		}
	}
	return saved, true
}

// restore undoes redirections, last one first.
func (sh *Shell) restore(saved []savedFd) {
	for i := len(saved) - 1; i >= 0; i-- {
		v := saved[i]
		if v.copy < 0 {
			sh.s.Close(v.fd)
			continue
		}
		sh.s.Dup2(v.copy, v.fd)
		sh.s.Close(v.copy)
	}
}

// cover remembers descriptor fd.
func (sh *Shell) cover(fd int, save bool, saved *[]savedFd) {
	if !save {
		return
	}
	for _, v := range *saved {
		if v.fd == fd {
			return
		}
	}
	c, e := sh.fcntl(fd, fDupfdCloexec, firstSaved)
	if e != 0 {
		c = -1
	}
	*saved = append(*saved, savedFd{fd, c})
}

// target is the descriptor that a redirection is about; name is that of {name}>.
func target(r *syntax.Redirect) (fd int, name string) {
	if r.N != nil {
		if strings.HasPrefix(r.N.Value, "{") {
			return -1, strings.Trim(r.N.Value, "{}")
		}
		n, err := strconv.Atoi(r.N.Value)
		if err != nil {
			return -1, ""
		}
		return n, ""
	}
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.DplOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		return 1, ""
	}
	return 0, ""
}

func (sh *Shell) redirectOne(r *syntax.Redirect, save bool, saved *[]savedFd) bool {
	fd, name := target(r)
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return sh.put(fd, name, sh.hereFile(sh.hereText(r)), save, saved)
	case syntax.WordHdoc:
		return sh.put(fd, name, sh.hereFile(sh.assignText(r.Word)+"\n"), save, saved)
	}
	words := sh.fields(r.Word)
	if len(words) != 1 {
		sh.errorf("%s: ambiguous redirect", sh.original(r.Word))
		return false
	}
	word := words[0]
	flags, both := 0, false
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		if word == "-" || isDigits(strings.TrimSuffix(word, "-")) {
			return sh.duplicate(fd, name, word, save, saved)
		}
		if r.Op == syntax.DplIn || r.N != nil {
			sh.errorf("%s: ambiguous redirect", word)
			return false
		}
		flags, both = oWronly|oCreat|oTrunc, true
	case syntax.RdrIn:
		flags = oRdonly
	case syntax.RdrInOut:
		flags = oRdwr | oCreat
	case syntax.RdrOut, syntax.RdrClob:
		flags = oWronly | oCreat | oTrunc
	case syntax.AppOut:
		flags = oWronly | oCreat | oAppend
	case syntax.RdrAll:
		flags, both = oWronly|oCreat|oTrunc, true
	case syntax.AppAll:
		flags, both = oWronly|oCreat|oAppend, true
	default:
		sh.errorf("%s: not supported", r.Op)
		return false
	}
	if sh.opts.noclobber && r.Op == syntax.RdrOut {
		if st, e := sh.s.Stat(word); e == 0 && st.Mode&modeType == modeReg {
			sh.errorf("%s: cannot overwrite existing file", word)
			return false
		}
	}
	file, e := sh.s.Open(word, flags, 0o666)
	if e != 0 {
		sh.errorf("%s: %s", word, e.Error())
		return false
	}
	if !sh.put(fd, name, file, save, saved) {
		return false
	}
	if both {
		sh.cover(2, save, saved)
		sh.s.Dup2(1, 2)
	}
	return true
}

// put moves an open file to descriptor fd, or keeps it above 10 in a variable.
func (sh *Shell) put(fd int, name string, file int, save bool, saved *[]savedFd) bool {
	if file < 0 {
		return false
	}
	if name != "" {
		n, e := sh.fcntl(file, fDupfd, firstSaved)
		sh.s.Close(file)
		if e != 0 {
			sh.errorf("%s: %s", name, e.Error())
			return false
		}
		sh.set(name, strconv.Itoa(n))
		return true
	}
	if file == fd {
		// It was closed before; what stands there now must be closed again behind the command.
		if save {
			*saved = append(*saved, savedFd{fd, -1})
		}
		return true
	}
	sh.cover(fd, save, saved)
	_, e := sh.s.Dup2(file, fd)
	sh.s.Close(file)
	if e != 0 {
		sh.errorf("%d: %s", fd, e.Error())
		return false
	}
	return true
}

// duplicate is N>&M, N>&M- and N>&-.
func (sh *Shell) duplicate(fd int, name, word string, save bool, saved *[]savedFd) bool {
	if word == "-" {
		if name != "" {
			fd, _ = strconv.Atoi(sh.get(name))
		}
		sh.cover(fd, save, saved)
		sh.s.Close(fd)
		return true
	}
	from, _ := strconv.Atoi(strings.TrimSuffix(word, "-"))
	move := strings.HasSuffix(word, "-")
	if name != "" {
		n, e := sh.fcntl(from, fDupfd, firstSaved)
		if e != 0 {
			sh.errorf("%d: %s", from, e.Error())
			return false
		}
		sh.set(name, strconv.Itoa(n))
		return true
	}
	if from != fd {
		sh.cover(fd, save, saved)
	}
	if _, e := sh.s.Dup2(from, fd); e != 0 {
		sh.errorf("%d: %s", from, e.Error())
		return false
	}
	if move && from != fd {
		sh.cover(from, save, saved)
		sh.s.Close(from)
	}
	return true
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// hereText is a here-document's body: expanded unless its word is quoted, without leading tabs for <<-.
func (sh *Shell) hereText(r *syntax.Redirect) string {
	if r.Hdoc == nil {
		return ""
	}
	body := r.Hdoc
	if r.Op == syntax.DashHdoc {
		body = stripTabs(body)
	}
	if quotedWord(r.Word) {
		var b strings.Builder
		for _, p := range body.Parts {
			if lit, ok := p.(*syntax.Lit); ok {
				b.WriteString(lit.Value)
			}
		}
		return b.String()
	}
	return sh.join(sh.quotedParts(body.Parts, true), " ")
}

func stripTabs(w *syntax.Word) *syntax.Word {
	out := &syntax.Word{}
	start := true
	for _, p := range w.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			out.Parts, start = append(out.Parts, p), false
			continue
		}
		lines := strings.Split(lit.Value, "\n")
		for i := range lines {
			if i > 0 || start {
				lines[i] = strings.TrimLeft(lines[i], "\t")
			}
		}
		c := *lit
		c.Value = strings.Join(lines, "\n")
		out.Parts, start = append(out.Parts, &c), strings.HasSuffix(c.Value, "\n")
	}
	return out
}

func quotedWord(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.Contains(p.Value, `\`) {
				return true
			}
		}
	}
	return false
}

// pipeSize is the size up to which bash keeps a here-document in a pipe, which its readers then read byte by byte; longer
// ones are files (HEREDOC_PIPESIZE in redir.c: a pipe's capacity).
const pipeSize = 64 << 10

// hereFile gives a descriptor that reads text.
func (sh *Shell) hereFile(text string) int {
	if len(text) <= pipeSize {
		r, w, e := sh.s.Pipe()
		if e != 0 {
			sh.errorf("cannot create temp file for here-document: %s", e.Error())
			return -1
		}
		sh.s.Write(w, []byte(text))
		sh.s.Close(w)
		return r
	}
	path, fd, e := sh.tempFile("sh-thd")
	if e != 0 {
		sh.errorf("cannot create temp file for here-document: %s", e.Error())
		return -1
	}
	sh.s.Write(fd, []byte(text))
	sh.s.Close(fd)
	fd, e = sh.s.Open(path, oRdonly, 0)
	sh.s.Unlink(path)
	if e != 0 {
		sh.errorf("cannot create temp file for here-document: %s", e.Error())
		return -1
	}
	return fd
}

// tempFile makes a file in /tmp with a name of six letters, as mkstemp does.
func (sh *Shell) tempFile(stem string) (path string, fd int, e kernel.Errno) {
	for range 100 {
		path = sh.tempName(stem)
		if fd, e = sh.s.Open(path, oRdwr|oCreat|oExcl, 0o600); e != kernel.EEXIST {
			return path, fd, e
		}
	}
	return path, -1, e
}

func (sh *Shell) tempName(stem string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	now, _ := sh.s.ClockGettime(clockMonotonic)
	x := now*6364136223846793005 + uint64(sh.s.Getpid())*1442695040888963407
	name := []byte{}
	for range 6 {
		x = x*6364136223846793005 + 1442695040888963407
		name = append(name, letters[x>>33%uint64(len(letters))])
	}
	return "/tmp/" + stem + "." + string(name)
}
