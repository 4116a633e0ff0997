package kernel

// Flags of open (asm-generic/fcntl.h).
const (
	ORdonly    = 0
	OWronly    = 1
	ORdwr      = 2
	OCreat     = 0o100
	OExcl      = 0o200
	OTrunc     = 0o1000
	OAppend    = 0o2000
	ONonblock  = 0o4000
	ODirectory = 0o200000
	OCloexec   = 0o2000000
)

// Types of files, of a mode's bits (uapi/linux/stat.h).
const (
	ModeType = 0o170000
	ModeFIFO = 0o010000
	ModeChr  = 0o020000
	ModeDir  = 0o040000
	ModeBlk  = 0o060000
	ModeReg  = 0o100000
	ModeLnk  = 0o120000
	ModeSock = 0o140000
)
