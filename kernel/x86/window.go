package x86

// window is the fetch window of a parked CPU: see HoldWindow.
type window struct {
	held bool
}

// HoldWindow is for another CPU's write to text: see window.
func (c *CPU) HoldWindow() {}

// Window returns the held fetch window.
func (c *CPU) Window() (start, end uint64, held bool) { return 0, 0, c.win.held }

func (c *CPU) stepHeld() int { panic("BUG: no window") }
