package x86

import "kscope/kernel/mem"

// CPU is one virtual CPU.
type CPU struct {
	ID    int
	Insns uint64    // counted instructions executed; exact whenever Go code runs
	Exc   Exception // of the last ExitException

	StaleInsns uint64 // instructions executed from a held fetch window whose bytes had changed
	Int3Hits   uint64 // int3 instructions executed
}

// State is everything of a CPU that a snapshot must keep.
type State struct{}

// New makes a CPU in the state of design: long mode, CPL 0, paging on, everything else zero.
func New(id int, phys *mem.Phys, env Env) *CPU { panic("TODO") }

func (c *CPU) Run(n int64) Exit                                      { panic("TODO") }
func (c *CPU) RequestStop()                                          { panic("TODO") }
func (c *CPU) Deliver(vec uint8, err uint32, hasErr, soft bool) bool { panic("TODO") }
func (c *CPU) DeliverExc() bool                                      { panic("TODO") } // Deliver of c.Exc, with CR2
func (c *CPU) Interrupt(vec uint8) bool                              { panic("TODO") }
func (c *CPU) NMI() bool                                             { panic("TODO") } // false: blocked, try again after iret
func (c *CPU) SetIRQ(pending bool)                                   { panic("TODO") }
func (c *CPU) CanInterrupt() bool                                    { panic("TODO") }
func (c *CPU) InShadow() bool                                        { panic("TODO") }
func (c *CPU) GateReturn(rax uint64)                                 { panic("TODO") }
func (c *CPU) Reg(r int) uint64                                      { panic("TODO") }
func (c *CPU) SetReg(r int, v uint64)                                { panic("TODO") }
func (c *CPU) RIP() uint64                                           { panic("TODO") }
func (c *CPU) SetRIP(v uint64)                                       { panic("TODO") }
func (c *CPU) Flags() uint64                                         { panic("TODO") }
func (c *CPU) SetFlags(v uint64)                                     { panic("TODO") }
func (c *CPU) CPL() int                                              { panic("TODO") }
func (c *CPU) CR0() uint64                                           { panic("TODO") }
func (c *CPU) CR2() uint64                                           { panic("TODO") }
func (c *CPU) CR3() uint64                                           { panic("TODO") }
func (c *CPU) CR4() uint64                                           { panic("TODO") }
func (c *CPU) SetCR2(v uint64)                                       { panic("TODO") }
func (c *CPU) SetCR3(v uint64)                                       { panic("TODO") }
func (c *CPU) FSBase() uint64                                        { panic("TODO") }
func (c *CPU) GSBase() uint64                                        { panic("TODO") }
func (c *CPU) KernelGSBase() uint64                                  { panic("TODO") }
func (c *CPU) SetFSBase(v uint64)                                    { panic("TODO") }
func (c *CPU) SetGSBase(v uint64)                                    { panic("TODO") }
func (c *CPU) SetKernelGSBase(v uint64)                              { panic("TODO") }
func (c *CPU) EFER() uint64                                          { panic("TODO") }
func (c *CPU) Seg(s int) uint16                                      { panic("TODO") } // ES CS SS DS FS GS = 0..5
func (c *CPU) Read(va uint64, b []byte) error                        { panic("TODO") }
func (c *CPU) Write(va uint64, b []byte) error                       { panic("TODO") }
func (c *CPU) U64(va uint64) (uint64, error)                         { panic("TODO") }
func (c *CPU) PutU64(va, v uint64) error                             { panic("TODO") }
func (c *CPU) Str(va uint64, max int) (string, error)                { panic("TODO") }
func (c *CPU) HoldWindow()                                           { panic("TODO") }
func (c *CPU) Window() (start, end uint64, held bool)                { panic("TODO") }
func (c *CPU) Fork(phys *mem.Phys, env Env) *CPU                     { panic("TODO") }
func (c *CPU) SaveState() State                                      { panic("TODO") }
func (c *CPU) LoadState(s State)                                     { panic("TODO") }
func (c *CPU) FlushTLB()                                             { panic("TODO") }
func (c *CPU) InvalidateCode(pa uint64, n int)                       { panic("TODO") }

// Disasm prints one instruction as x86asm does, with the gaps of its tables filled. sym may be nil.
func Disasm(code []byte, pc uint64, sym func(uint64) (string, uint64)) (text string, n int, err error) {
	panic("TODO")
}
