package x86

// Env is what the machine supplies to its CPUs. It is called on the machine's goroutine.
type Env interface {
	// RDMSR and WRMSR serve the MSRs that x86 does not own; false raises #GP.
	RDMSR(c *CPU, msr uint32) (uint64, bool)
	WRMSR(c *CPU, msr uint32, v uint64) bool
	// TSC is the value rdtsc reads; c.Insns is exact when it is called.
	TSC(c *CPU) uint64
	// CodeWrite says that a store of CPU c (or of the host: nil) is about to change n bytes of a frame with decoded code.
	CodeWrite(c *CPU, pa uint64, n int)
	// Gate, Shadow and EntryCounter are asked when code is decoded. A nil counter counts nothing.
	Gate(va uint64) bool
	Shadow(va uint64) bool
	EntryCounter(va uint64) *uint64
	// CPUID may replace the topology leaves; ok false keeps x86's defaults.
	CPUID(c *CPU, leaf, sub uint32) (a, b, cx, d uint32, ok bool)
}

// Exit is why Run returned.
type Exit uint8

const (
	ExitBudget    Exit = iota // n counted instructions were executed
	ExitGate                  // RIP is a gate address, not executed yet; see GateReturn. Of a Gater: a gate or trap has been settled
	ExitHalt                  // after hlt
	ExitPause                 // after pause
	ExitHypercall             // after vmcall at CPL 3
	ExitException             // c.Exc holds it; not yet delivered: fault = state before the instruction, trap = after
	ExitWindow                // SetIRQ(true) and an interrupt can be taken now
	ExitStop                  // RequestStop was called
	ExitShutdown              // triple fault

	exitStep // none: a trap or gate has set TF in shadow text, as a probe does whose instruction runs in a slot; see steps
)

var exitNames = [...]string{"budget", "gate", "halt", "pause", "hypercall", "exception", "window", "stop", "shutdown"}

func (e Exit) String() string { return exitNames[e] }

// Exception is an exception, trap or software interrupt that the CPU raised and nobody has delivered yet.
type Exception struct {
	Vec    uint8
	HasErr bool
	Soft   bool // int n, int3, int1: DPL of the gate is checked
	Err    uint32
	CR2    uint64 // page faults: the address
	odd    bool   // a non-canonical address: #SS instead of #GP when the stack was meant
	At     uint64 // of a Soft one: the instruction's address; RIP is behind it
}

// Register numbers of Reg and SetReg.
const (
	RAX = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// Bits of RFLAGS.
const (
	FlagCF   = 1 << 0
	FlagPF   = 1 << 2
	FlagAF   = 1 << 4
	FlagZF   = 1 << 6
	FlagSF   = 1 << 7
	FlagTF   = 1 << 8
	FlagIF   = 1 << 9
	FlagDF   = 1 << 10
	FlagOF   = 1 << 11
	FlagIOPL = 3 << 12
	FlagNT   = 1 << 14
	FlagRF   = 1 << 16
	FlagAC   = 1 << 18
	FlagID   = 1 << 21
)

// Exception vectors.
const (
	VecDE  = 0
	VecDB  = 1
	VecNMI = 2
	VecBP  = 3
	VecOF  = 4
	VecUD  = 6
	VecNM  = 7
	VecDF  = 8
	VecTS  = 10
	VecNP  = 11
	VecSS  = 12
	VecGP  = 13
	VecPF  = 14
	VecAC  = 17
)
