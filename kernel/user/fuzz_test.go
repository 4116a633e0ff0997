package user

import (
	"math/rand"
	"strings"
	"testing"
)

// fuzzWords are what command lines are made of: options, scripts and patterns with something to trip over.
var fuzzWords = strings.Split("-n|-e|-E|-v|-c|-o|-r|-i|-k|-t|-f|-d|-s|-u|-z|-w|-x|-l|-A|-B|-m|-h|-R|-F|-b|-a|-p|-0|-1|-5|--|-|+3|"+
	"-k2,1|-k1.2b,3.1|-k0|-t:|-kx|-n1,|1,3-|-3|3-1|0|a|z-a|[:alpha:]|[=a=]|[a*3]|[x*]|\\|\\n|\\0|\\777|[|[]|[]a|[^|[[:x:]]|\\(|\\)|\\(a\\)\\1|a\\{2,1\\}|a{1001}|(|)|*|+|?|{|}|^*|$|"+
	"s/a/b/|s/\\(a\\)/\\1\\2/|s/a*/x/g|s/x/\\U&\\E/2p|y/ab/cd/|2,1p|$!N;P;D|:a;s/a/b/;ta|1~0p|0,/a/d|/a/,/b/{p;p}|}|{|a|a\\|c foo|i\\|r /t/three|w /tmp/x|s/[/x/|s,a\\,b,c,|y/a/|=|l|q5|b x|D|G;H;x|n;n|N;N;P|/a/I!d|"+
	"{print $1}|{print $-1}|BEGIN{while((getline l)>0)print l}|{x[$1]++}END{for(k in x)print k,x[k]}|BEGIN{for(i in ENVIRON);srand();print FILENAME}|function f(a){for(k in a)f(a)}BEGIN{f(x)}|/a/|/=/|{|BEGIN{printf \"%s %d %c\\n\"}|BEGIN{print substr(\"a\",-1,9),1/0}|"+
	"%d|%5.3s|%*d|%-05x|%b|%q|%c|%z|%|%5|%.|%n %s|%H%L|%Hd|%.3N|%-%|%:z|%Y-%|\\c|\\x|\\u12|+%s|+%|@0|@1.5|@x|2020-01-01|"+
	"-name|*.c|[a|-type|f|q|-maxdepth|1|!|-o|-exec|;|-printf|%p\\n|-size|+1k|-regex|.*|-prune|-perm|-7|u+x|u=|755|u+q|"+
	"=|!=|-eq|-lt|-a|-z|x|1|abc|:|match|length|substr|index|/|%|&|<|-nt|]|three|/t/three|/t/odd|/t/sub|/nonexistent|blanks|/t/blanks|if=/t/big|bs=0|count=x|bs=3|conv=sync|-tx1|-tfF|-td8z|-Ax|-w3|-j2|-N5|-C|--help|--version|--=|--x=y", "|")

// fuzzRow is a random command line.
func fuzzRow(r *rand.Rand, programs []Program) []string {
	words := []string{programs[r.Intn(len(programs))].Name}
	for range r.Intn(6) {
		w := fuzzWords[r.Intn(len(fuzzWords))]
		if r.Intn(8) == 0 {
			w += fuzzWords[r.Intn(len(fuzzWords))]
		}
		words = append(words, w)
	}
	return words
}

// No command line may panic: that would be our bug, and end kscope.
func TestRandomCommandLines(t *testing.T) {
	programs := Commands()
	r := rand.New(rand.NewSource(1))
	n := 2000
	if testing.Short() {
		n = 500
	}
	for range n {
		tryLine(t, fuzzRow(r, programs), "a b c\n1 2\n\nxab\x00y\n")
	}
}

func tryLine(t *testing.T, words []string, stdin string) {
	t.Helper()
	defer func() {
		if e := recover(); e != nil {
			t.Errorf("%q: %v", words, e)
		}
	}()
	o := newFakeOS(stdin)
	for _, f := range testFiles[:3] {
		o.files["/t/"+f.name] = &fakeFile{mode: modeReg | 0o644, data: []byte(f.data)}
	}
	o.files["/t"] = &fakeFile{mode: modeDir | 0o755}
	o.files["/t/sub"] = &fakeFile{mode: modeDir | 0o755}
	task := o.task()
	task.limit = 300
	p := fakeProc(program(t, words[0]), words[1:]...)
	task.run(p)
	p.end()
}

func FuzzCommandLine(f *testing.F) {
	f.Add("sed", "s/a/b/", "-n", "", "a\n")
	f.Add("awk", "{print $1}", "", "", "a\n")
	f.Fuzz(func(t *testing.T, name, a, b, c, stdin string) {
		if !hasProgram(name) || strings.ContainsAny(a+b+c, "\x00") || len(a)+len(b)+len(c) > 200 {
			return
		}
		words := []string{name}
		for _, w := range []string{a, b, c} {
			if w != "" {
				words = append(words, w)
			}
		}
		tryLine(t, words, stdin)
	})
}
