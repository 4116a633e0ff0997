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
		{"awk", "patterns and actions (goawk): -F FS -v VAR=VALUE -f FILE -e TEXT; reads operands and standard input, writes standard output", command(awk)},
		{"cat", "concatenate files to standard output: -A -b -e -E -n -s -t -T -u -v", command(cat)},
		{"comm", "compare sorted files by lines: -1 -2 -3 --output-delimiter --total --[no]check-order -z", command(comm)},
		{"cut", "print parts of lines: -b -c -f LIST -d C -s -z --complement --output-delimiter", command(cut)},
		{"dd", "copy blocks: if= of= bs= ibs= obs= count= skip= seek= conv=notrunc,fsync status=none,noxfer", command(dd)},
		{"echo", "print arguments: -n -e -E", command(echo)},
		{"egrep", "grep -E", command(grep)},
		{"false", "exit with status 1", func(*Sys, []string) int { return 1 }},
		{"fgrep", "grep -F", command(grep)},
		{"grep", "print lines that match: -E -F -G -e -f -i -v -w -x -c -l -L -q -s -o -n -b -H -h -r -A -B -C -m -a -z -Z --include --exclude", command(grep)},
		{"head", "print the first lines or bytes: -n [-]N -c [-]N -q -v -N", command(head)},
		{"ls", "list directories: -1 -a -A -d -F -i -l -n -p -r -R -s -S -t -h", command(ls)},
		{"paste", "merge lines of files: -d LIST -s -z", command(paste)},
		{"rev", "reverse the characters of lines", command(rev)},
		{"sed", "edit a stream: -n -e -f -E -r -s -i[SUFFIX] -z; all commands but e and v", command(sed)},
		{"seq", "print numbers: -f -s -w", command(seq)},
		{"sleep", "wait: NUMBER[smhd]...", command(sleep)},
		{"sort", "sort lines: -b -d -f -g -h -i -M -n -r -V -c -C -k -m -o -s -t -u -z", command(sortCommand)},
		{"stub", "the file that functions without one of their own run from", noProgram},
		{"tac", "print lines in reverse: -b -s SEP", command(tac)},
		{"tail", "print the last lines or bytes: -n [+]N -c [+]N -f -q -v -s -z -N", command(tail)},
		{"tee", "copy standard input to files and standard output: -a -i -p", command(tee)},
		{"tr", "translate or delete characters: -c -d -s -t", command(tr)},
		{"true", "exit with status 0", func(*Sys, []string) int { return 0 }},
		{"uniq", "drop repeated lines: -c -d -D -u -i -f -s -w -z", command(uniq)},
		{"wc", "count lines, words and bytes: -c -l -L -m -w", command(wc)},
		{"yes", "print a line until nobody reads", command(yes)},
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
