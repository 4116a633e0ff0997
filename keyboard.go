package main

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"
)

// keyboard shares a terminal's input between the line editor and those that read lines as the terminal gives them. It reads only
// when asked; a read that Ctrl-C has left unanswered serves whoever asks next. Neither side sees more than a line at a time, so that what is
// typed ahead is for the one that reads then.
type keyboard struct {
	in   io.Reader
	echo io.Writer
	raw  atomic.Bool // the editor has the terminal

	want    chan struct{}
	got     chan keys
	waiting bool // got will give something
	left    keys
}

// keys are what a read has given.
type keys struct {
	text []byte
	raw  bool // without the terminal's echo and editing
	err  error
}

// errPressed is the end of a line that Ctrl-C has broken off.
var errPressed = errors.New("interrupted")

const ctrlC, ctrlD = 3, 4

func newKeyboard(in io.Reader, echo io.Writer) *keyboard {
	k := &keyboard{in: in, echo: echo, want: make(chan struct{}), got: make(chan keys, 1)}
	go func() {
		for range k.want {
			buf := make([]byte, 4096)
			n, err := in.Read(buf)
			k.got <- keys{text: buf[:n], raw: k.raw.Load(), err: err}
		}
	}()
	return k
}

// fill waits for what is typed; false: Ctrl-C came first.
func (k *keyboard) fill(pressed <-chan struct{}) bool {
	if len(k.left.text) > 0 || k.left.err != nil {
		return true
	}
	if !k.waiting {
		k.want <- struct{}{}
		k.waiting = true
	}
	select {
	case k.left = <-k.got:
		k.waiting = false
		return true
	case <-pressed:
		return false
	}
}

// Read implements io.Reader for the editor: at most up to the end of a line.
func (k *keyboard) Read(b []byte) (int, error) {
	k.fill(nil)
	text, n := k.left.text, 0
	if len(text) == 0 {
		err := k.left.err
		k.left = keys{}
		return 0, err
	}
	for n < min(len(b), len(text)) {
		n++
		if c := text[n-1]; c == '\r' || c == '\n' || c == ctrlC || c == ctrlD {
			break
		}
	}
	copy(b, text[:n])
	k.left.text = text[n:]
	return n, nil
}

// Close does not close the terminal.
func (k *keyboard) Close() error { return nil }

// line is what a read of a terminal gives that edits its own lines: one, or less before a Ctrl-D. What was typed ahead while the
// editor had the terminal is shown and edited here.
func (k *keyboard) line(pressed <-chan struct{}) ([]byte, error) {
	var typed []byte
	for {
		if !k.fill(pressed) {
			return nil, errPressed
		}
		if len(k.left.text) == 0 {
			err := k.left.err
			k.left = keys{}
			if len(typed) > 0 {
				return typed, nil
			}
			return nil, err
		}
		if !k.left.raw {
			text := append(typed, k.left.text...)
			k.left.text = nil
			return text, nil
		}
		c := k.left.text[0]
		k.left.text = k.left.text[1:]
		switch c {
		case ctrlC:
			io.WriteString(k.echo, "^C")
			return nil, errPressed
		case ctrlD:
			if len(typed) == 0 {
				return nil, io.EOF
			}
			return typed, nil
		case '\r', '\n':
			k.echo.Write([]byte{'\n'})
			return append(typed, '\n'), nil
		case '\b', 0x7f:
			typed = bytes.TrimSuffix(typed, typed[max(0, len(typed)-1):])
		default:
			k.echo.Write([]byte{c})
			typed = append(typed, c)
		}
	}
}
