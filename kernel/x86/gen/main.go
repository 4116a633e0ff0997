// Command gen writes the executor of package x86: one switch over uops for the fast path (zz_exec_gen.go), one
// function per uop for everything the fast path gives up on (zz_slow_gen.go), and the tables by which the decoder
// picks uops (zz_ops_gen.go). All three come from the snippets in ops.go, so a uop's fast and slow meaning cannot differ.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"log"
	"os"
)

func main() {
	pick := flag.Int("pick", 0, "choose so many superinstructions from the profiles named as arguments")
	flag.Parse()
	g := newGen()
	g.table()
	if *pick > 0 {
		g.pick(flag.Args(), *pick, 5)
	}
	g.supers()
	write("zz_ops_gen.go", g.opsFile())
	write("zz_exec_gen.go", g.execFile())
	write("zz_slow_gen.go", g.slowFile())
	fmt.Printf("%d uops, %d of them in the switch\n", len(g.ops), g.fastCount())
}

func write(name string, text []byte) {
	src, err := format.Source(text)
	if err != nil {
		os.WriteFile(name, text, 0o666)
		log.Fatalf("%s: %v", name, err)
	}
	old, _ := os.ReadFile(name)
	if bytes.Equal(old, src) {
		return
	}
	if err := os.WriteFile(name, src, 0o666); err != nil {
		log.Fatal(err)
	}
}
