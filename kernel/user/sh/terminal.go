package sh

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"kscope/kernel/user"
)

// Terminal is what the host's line editor is told by the interactive shell that it edits lines for. All of it may be asked only
// while the machine stands still.
type Terminal struct {
	sh     *Shell // the shell that prompts, or prompted last
	prompt string
	asks   bool // it reads a line at its prompt
	first  bool // PS1, not PS2
}

// InstallOn is Install for a machine whose interactive shell has an editor.
func InstallOn(h *user.Host, t *Terminal) {
	for _, p := range Programs() {
		p.Main = func(s *user.Sys, argv []string) int { return mainOn(s, argv, t) }
		h.Add(p)
	}
}

// Asks tells which process reads a line at its prompt. Any other read of the terminal is not the editor's.
func (t *Terminal) Asks() (pid int, ok bool) {
	if t.sh == nil || !t.asks {
		return 0, false
	}
	return t.sh.pid, true
}

// First tells that the line is a statement's first.
func (t *Terminal) First() bool { return t.first }

// IsPrompt tells that text is the prompt that is being written.
func (t *Terminal) IsPrompt(text string) bool { return t.asks && text == t.prompt }

// More is the prompt of a statement's further lines.
func (t *Terminal) More() string {
	if t.sh == nil {
		return ""
	}
	return t.sh.get("PS2")
}

// ask notes that a shell is going to prompt and to read a line; done, that it has it. A copy of the machine, which lives through
// the same again, does not count.
func (t *Terminal) ask(sh *Shell, prompt string, first bool) {
	if t != nil && !sh.s.Replaying() {
		*t = Terminal{sh: sh, prompt: prompt, asks: true, first: first}
	}
}

func (t *Terminal) done(sh *Shell) {
	if t != nil && !sh.s.Replaying() {
		t.asks = false
	}
}

// Unfinished tells that more lines of a statement are to come, as the shell will say by its PS2.
func Unfinished(src string) bool {
	if user.TooDeep(src) > 0 {
		return false
	}
	_, err := newParser().Parse(strings.NewReader(prepare(src+"\n")), "")
	return trailingBackslash(src) || err != nil && syntax.IsIncomplete(err)
}
