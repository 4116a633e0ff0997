package user

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
)

// Go programs hold their lines and variables in the host's memory, which the guest's kernel knows nothing of, and Go ends the
// process when there is none left. So what can grow without end is counted: a program says by Hold what it has taken and given back,
// before it takes it, and the ledger of the machine has a limit for all of them. A program that goes over it ends as on a Linux that
// has no memory left: a line in the kernel's log, and SIGKILL.
//
// Counted are input that is read ahead or whole, lines that are kept, the shell's variables and words, and what is made much
// of little (printf's widths, brace expansions). What a bounded input needs while it is worked on is not.

// DefaultMaxHeld is what all programs of a machine may hold, in bytes, unless SetMaxHeld says otherwise.
const DefaultMaxHeld = 256 << 20

// ledger counts for one machine.
type ledger struct {
	held, limit int
	logged      int // bytes of the results that Procs keep for forks of the machine
	killed      string
}

// SetMaxHeld sets how much of the host's memory all programs together may hold, in bytes; 0: as much as there is.
func (h *Host) SetMaxHeld(bytes int) { h.ledger.limit = bytes }

// OutOfMemory is the last program that was killed for what it held, as "sort (pid 123)"; "" when none was.
func (h *Host) OutOfMemory() string { return h.ledger.killed }

// Hold says that the program is about to hold n bytes more of the host's memory; n < 0: it has given them back. It does not
// return when there is no room.
func (s *Sys) Hold(n int) {
	p := s.p
	p.held += n
	if p.ledger != nil {
		p.ledger.held += n
	}
	if n > 0 && p.ledger != nil {
		s.account(p.ledger.held > p.ledger.limit)
	}
}

// Room is Hold for what is given back at once: it only asks.
func (s *Sys) Room(n int) {
	s.Hold(n)
	s.Hold(-n)
}

// account ends the program when it is over a limit. A copy of the machine that runs the program again decides as it was decided then.
func (s *Sys) account(over bool) {
	p := s.p
	p.holds++
	if p.replay > 0 {
		over = p.holds == p.killedAt
	} else {
		over = over && p.ledger.limit > 0
	}
	if over {
		p.killedAt = p.holds
		s.outOfMemory()
	}
}

// outOfMemory ends the program.
func (s *Sys) outOfMemory() {
	p := s.p
	p.ledger.killed = fmt.Sprintf("%s (pid %d)", p.Name, p.Pid)
	if fd, e := s.Open("/dev/kmsg", oWronly, 0); e == 0 {
		s.Write(fd, fmt.Appendf(nil, "<3>Out of memory: Killed process %d (%s): programs hold more than %d MiB of the host's memory\n", p.Pid, p.Name, p.ledger.limit>>20))
		s.Close(fd)
	}
	for {
		s.Kill(p.Pid, sigKill)
	}
}

// drop gives back what an ended program held.
func (p *Proc) drop() {
	if p.ledger != nil {
		p.ledger.held -= p.held
		p.ledger.logged -= p.size
	}
	p.held, p.size = 0, 0
}

// heapWatch looks after a library whose allocations nobody sees (goawk's arrays): it is asked now and then, with the work done
// since. Only a program that has worked much is looked at, and only a heap that has grown by twice the limit is collected to see
// what of it lives: other machines of the process share it.
type heapWatch struct {
	s    *Sys
	ops  int
	base uint64
}

// heapOps is how much a program works before its heap is looked at.
const heapOps = 5_000_000

func (w *heapWatch) worked(ops int) {
	l := w.s.p.ledger
	if l == nil {
		return
	}
	if w.ops += ops; w.ops < heapOps {
		w.s.account(false)
		return
	}
	now := heapBytes()
	if w.base == 0 {
		w.base = now
	}
	over := now > w.base+2*uint64(l.limit)
	if over {
		runtime.GC()
		over = heapBytes() > w.base+uint64(l.limit)
	}
	w.s.account(over)
}

func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TooDeep finds the line (1 is the first) on which a program's text nests deeper than its parser's and evaluator's recursion bears,
// 0 when it does not: Go's stack has an end that nobody can catch, where real shells die of SIGSEGV. It counts what may open a level
// and does not know quotes, with bounds that no text has which is not made to find them.
func TooDeep(text string) (line int) {
	const mostOpen, mostWords, mostOperators = 20_000, 100_000, 100_000
	open, words, operators := 0, 0, 0
	line = 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			open++
		case ')', '}', ']':
			open = max(0, open-1)
		case '\n':
			line++
			operators = 0
		case '!', '~', '-', '+', '*', '?', '=', '|', '&', '<', '>', '$':
			operators++
		case 'i', 'w', 'u', 'f', 'c': // if while until for case: none of them closes a level by a letter
			if rest := text[i+1:]; i == 0 || text[i-1] <= ' ' {
				for _, w := range [...]string{"f ", "hile ", "ntil ", "or ", "ase "} {
					if strings.HasPrefix(rest, w) {
						words++
					}
				}
			}
		}
		if open > mostOpen || words > mostWords || operators > mostOperators {
			return line
		}
	}
	return 0
}
