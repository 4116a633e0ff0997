package ftrace

import "kscope/kernel"

// Code behind the jump labels of tracepoints costs no instructions of the guest: kernel.AddCold.

// coldPieces are the pieces behind the sites of a tracepoint. A target that two sites share tells not where to go back to: there
// the gate returns to the compiler's code, whose instructions count.
func (p *points) coldPieces(tp *tracepoint, sites []jumpSite) (out []kernel.Cold) {
	gate, ok := p.t.m.Symbols().Lookup("__traceiter_" + tp.name)
	if !ok {
		return nil
	}
	for i, s := range sites {
		shared := false
		for j, x := range sites {
			shared = shared || i != j && x.target == s.target
		}
		if piece, ok := p.t.m.ColdPiece(s.code, s.target, gate); ok && !shared {
			out = append(out, piece)
		}
	}
	return out
}

// addCold makes the cold text of all tracepoints known.
func (p *points) addCold() {
	var all []kernel.Cold
	for _, tp := range p.list {
		all = append(all, p.coldPieces(tp, tp.sites)...)
	}
	p.t.m.AddCold(all)
}
