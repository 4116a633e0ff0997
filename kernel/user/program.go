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
		{"[", "test, with ] as the last argument", command(test)},
		{"awk", "patterns and actions (goawk, with gawk's functions; no |&, @include and namespaces): -F FS -v VAR=VALUE -f FILE -e TEXT -n", command(awk)},
		{"base64", "encode or decode a file: -d -i -w N", command(base64Command)},
		{"basename", "the last part of file names: -a -s SUFFIX -z", command(basename)},
		{"cat", "concatenate files to standard output: -A -b -e -E -n -s -t -T -u -v", command(cat)},
		{"chmod", "change modes: -R MODE FILE...", command(chmod)},
		{"chrt", "set or show a scheduling policy: -o -f -r -b -i -p -m", command(chrt)},
		{"cmp", "compare two files byte by byte: -l -n -s", command(cmpCommand)},
		{"column", "make a table of fields: -t -s CHARS -o TEXT", command(column)},
		{"comm", "compare sorted files by lines: -1 -2 -3 --output-delimiter --total --[no]check-order -z", command(comm)},
		{"cp", "copy files: -a -d -f -L -l -n -P -p -R -r -s -t -T -u -v", command(cp)},
		{"cut", "print parts of lines: -b -c -f LIST -d C -s -z --complement --output-delimiter", command(cut)},
		{"date", "show the virtual wall clock: +FORMAT -d TEXT -I -R -r -u", command(date)},
		{"dd", "copy blocks: if= of= bs= ibs= obs= count= skip= seek= conv=notrunc,fsync status=none,noxfer", command(dd)},
		{"df", "how full the file systems are: -a -h -k -P -T", command(df)},
		{"diff", "compare files by lines: -u -U -q -r -N -s -i -b -w -B -a -L", command(diff)},
		{"dirname", "all but the last part of file names: -z", command(dirname)},
		{"dmesg", "the kernel's log: -w -W -c -C -l -n -r -t -T -x -S", command(dmesg)},
		{"du", "what directories take: -a -b -c -d N -h -k -s", command(du)},
		{"echo", "print arguments: -n -e -E", command(echo)},
		{"egrep", "grep -E", command(grep)},
		{"env", "run a command in another environment: -i -u -0 -C NAME=VALUE", command(env)},
		{"expr", "evaluate an expression: | & = < + - * / % : match substr index length", command(expr)},
		{"false", "exit with status 1", func(*Sys, []string) int { return 1 }},
		{"fgrep", "grep -F", command(grep)},
		{"find", "walk directories: -maxdepth -mindepth -name -path -regex -type -size -empty -newer -perm -mtime ! -a -o ( ) -print -print0 -printf -exec -delete -prune -quit", command(find)},
		{"fold", "break wide lines: -b -s -w N", command(fold)},
		{"free", "the memory: -b -k -m", command(free)},
		{"gawk", "awk", command(awk)},
		{"grep", "print lines that match: -E -F -G -e -f -i -v -w -x -c -l -L -q -s -o -n -b -H -h -r -A -B -C -m -a -z -Z --include --exclude", command(grep)},
		{"head", "print the first lines or bytes: -n [-]N -c [-]N -q -v -N", command(head)},
		{"hexdump", "dump files: -C -b -c -d -o -x -n -s -v", command(hexdump)},
		{"hostname", "show or set the host's name: -s -F", command(hostname)},
		{"id", "user and group: -u -g -G -n -r", command(id)},
		{"insmod", "load a module from a file: FILE [PARAM=VALUE]...", command(insmod)},
		{"kill", "send a signal: -SIGNAL -s SIGNAL -l", command(kill)},
		{"ln", "make links: -s -f -n -t -T -v", command(ln)},
		{"ls", "list directories: -1 -a -A -d -F -i -l -n -p -r -R -s -S -t -h -g -G -o -L --time-style --full-time --sort --color", command(ls)},
		{"lsmod", "list /proc/modules", command(lsmod)},
		{"md5sum", "MD5 checksums: -b -c -z --tag --quiet --status", command(checksums)},
		{"mkdir", "make directories: -p -m MODE -v", command(mkdir)},
		{"mkfifo", "make FIFOs: -m MODE", command(mkfifo)},
		{"mktemp", "make a file or directory with a new name: -d -u -q -p DIR -t --suffix", command(mktemp)},
		{"modprobe", "load a module of /lib/modules and what it needs: -r -q -v -n -a", command(modprobe)},
		{"mount", "mount a file system, or list them: -t -o -r -a --bind", command(mount)},
		{"mv", "move files: -f -n -t -T -u -v", command(mv)},
		{"nice", "run a command with another niceness: -n N", command(nice)},
		{"nl", "number lines: -b STYLE -i N -n FORMAT -s TEXT -v N -w N", command(nl)},
		{"nohup", "run a command that SIGHUP does not reach", command(nohup)},
		{"nproc", "count the CPUs that may be used: --all --ignore=N", command(nproc)},
		{"od", "dump files: -A -j -N -t -v -w -a -b -c -d -o -x", command(od)},
		{"paste", "merge lines of files: -d LIST -s -z", command(paste)},
		{"pgrep", "find processes by name: -f -x -l -a -n -o -c -v -P PPID -d DELIM", command(pgrep)},
		{"pidof", "the processes of a program: -s -q -x", command(pidof)},
		{"ping", "open a socket, and say that there is no network", command(ping)},
		{"pkill", "signal processes by name: -SIGNAL and pgrep's options, -e", command(pgrep)},
		{"printenv", "print the environment: -0", command(printenv)},
		{"printf", "print by a format", command(printfCommand)},
		{"ps", "list processes from /proc: -e -f -l -o -p -C aux", command(ps)},
		{"pwd", "the working directory", command(pwd)},
		{"readlink", "what a symbolic link says: -f -e -m -n -z", command(readlink)},
		{"realpath", "names without links and dots: -e -m -q -z", command(realpath)},
		{"renice", "change the niceness of those that run: [-n] N [-p] PID... -g PGRP... -u USER...", command(renice)},
		{"rev", "reverse the characters of lines", command(rev)},
		{"rm", "remove files: -r -f -d -v", command(rm)},
		{"rmdir", "remove empty directories: -p -v --ignore-fail-on-non-empty", command(rmdir)},
		{"rmmod", "unload modules", command(rmmod)},
		{"sed", "edit a stream: -n -e -f -E -r -s -i[SUFFIX] -z; all commands but e and v", command(sed)},
		{"seq", "print numbers: -f -s -w", command(seq)},
		{"setsid", "run a command in a new session: -f -w -c", command(setsid)},
		{"sha256sum", "SHA256 checksums: -b -c -z --tag --quiet --status", command(checksums)},
		{"sleep", "wait: NUMBER[smhd]...", command(sleep)},
		{"sort", "sort lines: -b -d -f -g -h -i -M -n -r -V -c -C -k -m -o -s -t -u -z", command(sortCommand)},
		{"stat", "a file's attributes: -c FORMAT -L -t --printf", command(stat)},
		{"stub", "the file that functions without one of their own run from", noProgram},
		{"sync", "write everything back", command(syncCommand)},
		{"sysctl", "read and write /proc/sys: -a -n -N -w -e -q", command(sysctl)},
		{"tac", "print lines in reverse: -b -s SEP", command(tac)},
		{"tail", "print the last lines or bytes: -n [+]N -c [+]N -f -q -v -s -z -N", command(tail)},
		{"taskset", "run on some CPUs: MASK COMMAND..., -c LIST, -p", command(taskset)},
		{"tee", "copy standard input to files and standard output: -a -i -p", command(tee)},
		{"test", "evaluate a condition", command(test)},
		{"time", "run a command and print what time it took: -p", command(timeCommand)},
		{"timeout", "run a command for a limited time: -s -k -v --preserve-status", command(timeout)},
		{"touch", "create files or set their times: -a -c -m -d -r", command(touch)},
		{"tr", "translate or delete characters: -c -d -s -t", command(tr)},
		{"true", "exit with status 0", func(*Sys, []string) int { return 0 }},
		{"truncate", "set the size of files: -s [+-]SIZE -c", command(truncate)},
		{"umount", "unmount file systems: -f -l -v", command(umount)},
		{"uname", "the system's names: -a -s -n -r -v -m -p -i -o", command(uname)},
		{"uniq", "drop repeated lines: -c -d -D -u -i -f -s -w -z", command(uniq)},
		{"wc", "count lines, words and bytes: -c -l -L -m -w", command(wc)},
		{"which", "where a command is: -a -s", command(which)},
		{"whoami", "the name of the user", command(whoami)},
		{"xargs", "run commands on words from standard input: -0 -a -d -I -i -L -n -P -r -s -t", command(xargs)},
		{"yes", "print a line until nobody reads", command(yes)},
		{"zcat", "print what gzip has compressed", command(zcat)},
	}
}

// command gives a command its standard output and messages.
func command(run func(c *cmd) int) func(*Sys, []string) int {
	return func(s *Sys, argv []string) int {
		c := &cmd{s: s, argv: argv, name: first(argv)}
		if len(argv) == 0 {
			return 127
		}
		code := c.run(run)
		if !c.flush() && code == 0 {
			code = writeErrorOf(c.name).status
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

// run gives the status, also of a command that ends by exited.
func (c *cmd) run(run func(c *cmd) int) (status int) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exited:
			status = r.status
		default:
			panic(r)
		}
	}()
	return run(c)
}
