package x86

// HostCoder is an Env that lets blocks be translated to the host's code, where that is known how: see jit.go. Without it they
// are interpreted; nothing else differs.
type HostCoder interface {
	// HostCode is after how many entries a block is translated; 0: never. See WarmBlock.
	HostCode() int
}

// WarmBlock is an answer for HostCoder: what a boot or a script runs a few times only is not translated.
const WarmBlock = 8
