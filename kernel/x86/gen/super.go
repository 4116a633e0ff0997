package main

import (
	"bufio"
	"bytes"
	"fmt"
	"log"
	"os"
	"sort"
	"strconv"
	"strings"
)

// A superinstruction is a run of uops with one case in the switch: one dispatch instead of several. The uops themselves
// stay as they are, the first one's op number apart; when one of them gives up, u points at it.

const supersFile = "gen/supers.txt"

// readSupers reads one superinstruction a line.
func readSupers() (list [][]string) {
	text, err := os.ReadFile(supersFile)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] != "#" {
			list = append(list, f)
		}
	}
	return list
}

// supers adds the superinstructions behind all other ops.
func (g *gen) supers() {
	g.firstSuper = len(g.ops)
	for _, names := range readSupers() {
		parts, ok := g.parts(names)
		if !ok {
			log.Printf("no such superinstruction: %v", names)
			continue
		}
		g.add(op{name: strings.Join(names, "_then_"), parts: parts, ends: parts[len(parts)-1].ends})
	}
}

// parts finds the ops of a superinstruction; only the last may leave the block, and all are in the switch.
func (g *gen) parts(names []string) (parts []op, ok bool) {
	for i, n := range names {
		k, ok := g.index[n]
		if !ok || !g.ops[k].inSwitch() || g.ops[k].ends && i < len(names)-1 {
			return nil, false
		}
		parts = append(parts, g.ops[k])
	}
	return parts, true
}

func (o *op) superBody() string {
	var b strings.Builder
	for i, p := range o.parts {
		if i > 0 {
			b.WriteString("u = (*uop)(unsafe.Add(unsafe.Pointer(u), uopSize))\n")
		}
		fmt.Fprintf(&b, "{\n%s\n}\n", p.body(fast))
	}
	return b.String()
}

// superTables writes the automaton that finds superinstructions: edges sorted by state<<16|op, and what each state is.
func (g *gen) superTables(b *bytes.Buffer) {
	type edge struct{ key, to int }
	var edges []edge
	next := map[int]int{}
	accept := []int{0}
	for i := g.firstSuper; i < len(g.ops); i++ {
		state := 0
		for _, p := range g.ops[i].parts {
			key := state<<16 | g.index[p.name]
			to, ok := next[key]
			if !ok {
				to = len(accept)
				accept = append(accept, 0)
				next[key] = to
				edges = append(edges, edge{key, to})
			}
			state = to
		}
		accept[state] = i
	}
	sort.Slice(edges, func(i, j int) bool { return edges[i].key < edges[j].key })
	b.WriteString("\nvar superKeys = [...]uint32{")
	for _, e := range edges {
		fmt.Fprintf(b, "%d,", e.key)
	}
	b.WriteString("}\n\n// firstOps are the ops whose number a superinstruction or run took, from firstRun on.\nvar firstOps = [...]uint16{")
	for _, o := range g.ops[g.index["push_run"]:] {
		switch {
		case o.parts != nil:
			fmt.Fprintf(b, "%d,", g.index[o.parts[0].name])
		case o.first != "":
			fmt.Fprintf(b, "%d,", g.index[o.first])
		default:
			fmt.Fprintf(b, "%d,", g.index[o.name])
		}
	}
	b.WriteString("}\n\nvar superNext = [...]uint16{")
	for _, e := range edges {
		fmt.Fprintf(b, "%d,", e.to)
	}
	b.WriteString("}\n\nvar superOp = [...]uint16{")
	for _, a := range accept {
		fmt.Fprintf(b, "%d,", a)
	}
	b.WriteString("}\n")
}

// pick chooses superinstructions from profiles, whose lines are a block's hits and its uops: it merges the pair of
// neighbours that saves most dispatches, again and again. Each profile counts the same.
func (g *gen) pick(files []string, count, longest int) {
	type block struct {
		hits float64
		toks [][]string
	}
	var blocks []block
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			log.Fatal(err)
		}
		first, total := len(blocks), 0.0
		for s := bufio.NewScanner(f); s.Scan(); {
			w := strings.Fields(s.Text())
			hits, _ := strconv.ParseFloat(w[0], 64)
			bl := block{hits: hits}
			for _, o := range w[1:] {
				bl.toks = append(bl.toks, []string{o})
			}
			total += hits * float64(len(w)-1)
			blocks = append(blocks, bl)
		}
		for i := range blocks[first:] {
			blocks[first+i].hits /= total
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Superinstructions, chosen by: go run ./gen -pick %d %s\n", count, strings.Join(files, " "))
	for range count {
		gain := map[string]float64{}
		for _, bl := range blocks {
			for i := 0; i+1 < len(bl.toks); i++ {
				pair := append(append([]string(nil), bl.toks[i]...), bl.toks[i+1]...)
				if len(pair) <= longest {
					gain[strings.Join(pair, " ")] += bl.hits
				}
			}
		}
		best := ""
		for s, v := range gain {
			if _, ok := g.parts(strings.Fields(s)); ok && (best == "" || v > gain[best] || v == gain[best] && s < best) {
				best = s
			}
		}
		if best == "" || gain[best] < 1e-5 {
			break
		}
		fmt.Fprintln(&out, best)
		for k := range blocks {
			bl := &blocks[k]
			for i := 0; i+1 < len(bl.toks); i++ {
				if pair := append(append([]string(nil), bl.toks[i]...), bl.toks[i+1]...); strings.Join(pair, " ") == best {
					bl.toks[i] = pair
					bl.toks = append(bl.toks[:i+1], bl.toks[i+2:]...)
				}
			}
		}
	}
	if err := os.WriteFile(supersFile, out.Bytes(), 0o666); err != nil {
		log.Fatal(err)
	}
}
