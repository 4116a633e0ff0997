package export

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"html"
	"maps"
	"slices"
	"strings"
)

// Flame graphs: Brendan Gregg's picture of stacks (https://www.brendangregg.com/flamegraphs.html), as one SVG that needs nothing else. A
// frame is as wide as what its stack took, callees stand on their callers, siblings are in alphabetical order. Sizes are in thousandths of
// the width, as integers, so that the bytes are equal everywhere.

// Sizes in pixels.
const (
	flameWidth = 1200
	flameRow   = 17
	flameHead  = 40
)

// flameNode is a frame with what it and its callees took.
type flameNode struct {
	name  string
	total int64
	inner map[string]*flameNode
}

func (n *flameNode) add(stack []string, weight int64) {
	n.total += weight
	if len(stack) == 0 {
		return
	}
	if n.inner == nil {
		n.inner = map[string]*flameNode{}
	}
	next := n.inner[stack[0]]
	if next == nil {
		next = &flameNode{name: stack[0]}
		n.inner[stack[0]] = next
	}
	next.add(stack[1:], weight)
}

func (n *flameNode) depth() int {
	most := 0
	for _, c := range n.inner {
		most = max(most, c.depth())
	}
	return most + 1
}

// Flame draws weights by stack ("outer;inner") as an SVG. A click on a frame zooms to it, on the root back; the pointer shows numbers.
// unit names the weights: "ns", or "" for counts.
func Flame(weights map[string]int64, title, unit string) string {
	root := &flameNode{name: "all"}
	for _, stack := range slices.Sorted(maps.Keys(weights)) {
		if weights[stack] > 0 && stack != "" {
			root.add(strings.Split(stack, ";"), weights[stack])
		}
	}
	rows := root.depth()
	height := flameHead + rows*flameRow + 10
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-family=\"monospace\" font-size=\"12\">\n", flameWidth, height, flameWidth, height)
	fmt.Fprintf(&b, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fffdf4\"/>\n<text x=\"600\" y=\"22\" text-anchor=\"middle\" font-size=\"15\">%s</text>\n<g id=\"frames\">\n", html.EscapeString(title))
	if root.total > 0 {
		root.draw(&b, 0, 0, rows, root.total, unit)
	}
	b.WriteString("</g>\n" + flameScript + "</svg>\n")
	return b.String()
}

// draw writes a frame that begins at the weight from, and those on it.
func (n *flameNode) draw(b *strings.Builder, from int64, row, rows int, all int64, unit string) {
	x, w := from*flameWidth*1000/all, n.total*flameWidth*1000/all
	y := flameHead + (rows-1-row)*flameRow
	pixels := func(milli int64) string { return fmt.Sprintf("%d.%03d", milli/1000, milli%1000) }
	share := n.total * 10000 / all
	amount := fmt.Sprint(n.total)
	if unit != "" {
		amount += " " + unit
	}
	label := n.name
	if most := int(w / 1000 / 8); len(label) > most { // 8 pixels for a letter
		label = label[:max(0, min(most, len(label)))]
	}
	name := html.EscapeString(n.name)
	fmt.Fprintf(b, "<g data-x=\"%d\" data-w=\"%d\" data-n=\"%s\"><title>%s (%s, %d.%02d%%)</title><rect x=\"%s\" y=\"%d\" width=\"%s\" height=\"%d\" fill=\"%s\" stroke=\"#fffdf4\"/><text x=\"%s\" y=\"%d\">%s</text></g>\n",
		x, w, name, name, amount, share/100, share%100, pixels(x), y, pixels(w), flameRow, flameColour(n.name, row), pixels(x+3000), y+13, html.EscapeString(label))
	for _, c := range slices.SortedFunc(maps.Values(n.inner), func(a, b *flameNode) int { return cmp.Compare(a.name, b.name) }) {
		c.draw(b, from, row+1, rows, all, unit)
		from += c.total
	}
}

// flameColour is a warm colour that a function always has.
func flameColour(name string, row int) string {
	if row == 0 {
		return "#d8d4c8"
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	n := h.Sum32()
	return fmt.Sprintf("#%02x%02x%02x", 205+n%50, 90+n>>8%140, 30+n>>16%50)
}

// flameScript zooms: every frame's place is scaled so that the one clicked on fills the width; what stands beside it goes.
const flameScript = `<script><![CDATA[
const frames = [...document.querySelectorAll("#frames > g")];
function zoom(x, w) {
  for (const g of frames) {
    const gx = +g.dataset.x, gw = +g.dataset.w;
    const under = gx <= x && gx + gw >= x + w, inside = gx >= x && gx + gw <= x + w;
    g.style.display = under || inside ? "" : "none";
    const left = under ? 0 : (gx - x) * 1200 / w, width = under ? 1200 : gw * 1200 / w;
    const rect = g.querySelector("rect"), text = g.querySelector("text");
    rect.setAttribute("x", left); rect.setAttribute("width", width);
    text.setAttribute("x", left + 3); text.textContent = g.dataset.n.slice(0, Math.floor(width / 8));
  }
}
for (const g of frames) g.addEventListener("click", () => zoom(+g.dataset.x, Math.max(1, +g.dataset.w)));
]]></script>
`
