package user

// Program is a user program written in Go.
type Program struct {
	Name string
	Doc  string // one line, then the options
	Main func(s *Sys, argv []string) int
}

// Commands is the table of the programs in /bin, by name. Their messages, options and exit codes are those of GNU
// coreutils 9.1 (Debian 12) in the C locale, as far as each Doc lists them.
func Commands() []Program {
	return []Program{
		{"cat", "concatenate files to standard output: -A -b -e -E -n -s -t -T -u -v", command(cat)},
		{"dd", "copy blocks: if= of= bs= ibs= obs= count= skip= seek= conv=notrunc,fsync status=none,noxfer", command(dd)},
		{"echo", "print arguments: -n -e -E", command(echo)},
		{"false", "exit with status 1", func(*Sys, []string) int { return 1 }},
		{"head", "print the first lines or bytes: -n [-]N -c [-]N -q -v -N", command(head)},
		{"ls", "list directories: -1 -a -A -d -F -i -l -n -p -r -R -s -S -t -h", command(ls)},
		{"sleep", "wait: NUMBER[smhd]...", command(sleep)},
		{"stub", "the file that functions without one of their own run from", noProgram},
		{"true", "exit with status 0", func(*Sys, []string) int { return 0 }},
		{"wc", "count lines, words and bytes: -c -l -L -m -w", command(wc)},
	}
}

// command gives a command its standard output and messages.
func command(run func(c *cmd) int) func(*Sys, []string) int {
	return func(s *Sys, argv []string) int {
		c := &cmd{s: s, argv: argv, name: first(argv)}
		if len(argv) == 0 {
			return 127
		}
		code := run(c)
		if !c.flush() && code == 0 {
			code = 1
		}
		// close_stdout of gnulib, which notices a full disk.
		if e := s.Close(1); e != 0 && !c.wroteBad && c.wrote {
			c.errorf("write error: %s", e.Error())
			return 1
		}
		s.Close(2)
		return code
	}
}
