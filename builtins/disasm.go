package builtins

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"kscope/kernel"
	"kscope/kernel/x86"
)

// bytesWidth is the column of instruction bytes: ten of them, which hardly any instruction of a kernel exceeds.
const bytesWidth = 10 * 3

// kernelDisasm implements kernel.disasm.
func kernelDisasm(c *call) (starlark.Value, error) {
	n, bytes, marks := 8, true, true
	addr, err := c.unpackAddr("x", "n?", &n, "bytes?", &bytes, "marks?", &marks)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > 10000 {
		return nil, c.errorf("n = %d: want 1 to 10000 instructions", n)
	}
	var out strings.Builder
	start, off := c.g.M.Symbols().At(addr)
	if start.Name != "" {
		fmt.Fprintf(&out, "%016x <%s>:\n", start.Addr, start.Name)
	} else if t, ok := c.g.M.ShadowName(addr); ok {
		fmt.Fprintf(&out, "%016x <%s>:\n", t.Addr, t.Name)
		off = addr - t.Addr
	}
	for range n {
		size, line, err := c.g.disasmLine(addr, off, bytes, marks)
		if err != nil {
			return nil, c.fault(addr, err)
		}
		out.WriteString(line)
		addr, off = addr+uint64(size), off+uint64(size)
		if start.Name != "" && off >= start.Size {
			break
		}
	}
	return str(out.String()), nil
}

// disasmLine is one instruction: "  +0x5  55                    push rbp".
func (g *Guest) disasmLine(addr, off uint64, bytes, marks bool) (int, string, error) {
	code, err := g.codeAt(addr)
	if err != nil {
		return 0, "", err
	}
	text, size, err := x86.Disasm(code, addr, g.symbolAt)
	if err != nil {
		text, size = "(bad)", 1
	}
	line := fmt.Sprintf("  +%#-5x ", off)
	if bytes {
		line += fmt.Sprintf("%-*s ", bytesWidth, fmt.Sprintf("% x", code[:size]))
	}
	line += text
	if mark := g.mark(addr, code); marks && mark != "" {
		line += fmt.Sprintf("%*s; %s", max(1, 68-len(line)), "", mark)
	}
	return size, strings.TrimRight(line, " ") + "\n", nil
}

// codeAt reads up to 15 bytes, fewer where memory ends.
func (g *Guest) codeAt(addr uint64) ([]byte, error) {
	code := make([]byte, 15)
	err := g.M.Read(addr, code)
	if err != nil {
		code = code[:min(15, 4096-addr%4096)]
		err = g.M.Read(addr, code)
	}
	return code, err
}

// symbolAt names the targets of branches; trampolines have names too.
func (g *Guest) symbolAt(addr uint64) (string, uint64) {
	if s, _ := g.M.Symbols().At(addr); s.Name != "" {
		return s.Name, s.Addr
	}
	if t, ok := g.M.ShadowName(addr); ok {
		return t.Name, t.Addr
	}
	return "", 0
}

// mark tells what is special about an address: an ftrace site and who patched it, an int3, other changed text.
func (g *Guest) mark(addr uint64, code []byte) string {
	var mark string
	if g.traceable(addr) {
		mark = "fentry site"
	}
	if code[0] == 0xcc {
		mark = join(mark, "int3")
	}
	if p, ok := g.lastPoke(addr); ok {
		mark = join(mark, "patched by "+p.By)
	}
	return mark
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

// lastPoke is the latest change of the text at addr, unless a later one undid it.
func (g *Guest) lastPoke(addr uint64) (kernel.Poke, bool) {
	var first, last kernel.Poke
	found := false
	for _, patch := range g.M.Text().Patches() {
		for _, p := range patch.Pokes {
			if p.Addr == addr {
				if !found {
					first = p
				}
				last, found = p, true
			}
		}
	}
	return last, found && string(first.Old) != string(last.New)
}
