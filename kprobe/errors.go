package kprobe

import (
	"fmt"
	"strings"

	"kscope/kernel"
)

// message is a row of the error table: ERRORS of kernel/trace/trace_probe.h, text for text.
type message string

const (
	msgBadMaxactType message = "Maxactive is not for kprobe"
	msgBadMaxact     message = "Invalid maxactive number"
	msgMaxactTooBig  message = "Maxactive is too big"
	msgBadProbeAddr  message = "Invalid probed address or symbol"
	msgNonUniq       message = "The symbol is not unique"
	msgBadRetprobe   message = "Retprobe address must be an function entry"
	msgBadSuffix     message = "Invalid probed address suffix"
	msgNoGroup       message = "Group name is not specified"
	msgGroupTooLong  message = "Group name is too long"
	msgBadGroup      message = "Group name must follow the same rules as C identifiers"
	msgNoEvent       message = "Event name is not specified"
	msgEventTooLong  message = "Event name is too long"
	msgBadEvent      message = "Event name must follow the same rules as C identifiers"
	msgEventExists   message = "Given group/event name is already used by another event"
	msgRetval        message = "$retval is not available on probe"
	msgBadStack      message = "Invalid stack number"
	msgBadArgNum     message = "Invalid argument number"
	msgBadVar        message = "Invalid $-variable specified"
	msgBadReg        message = "Invalid register name"
	msgBadMem        message = "Invalid memory address"
	msgBadImm        message = "Invalid immediate value"
	msgStrNoClose    message = `String is not closed with '"'`
	msgFileOnKprobe  message = "File offset is not available with kprobe"
	msgTooManyOps    message = "Dereference is too much nested"
	msgNeedBrace     message = "Dereference needs a brace"
	msgBadDeref      message = "Invalid dereference offset"
	msgOpenBrace     message = "Dereference brace is not closed"
	msgCommDeref     message = "$comm can not be dereferenced"
	msgBadFetch      message = "Invalid fetch argument"
	msgArrayNoClose  message = "Array is not closed"
	msgArraySuffix   message = "Array has wrong suffix"
	msgArrayNum      message = "Invalid array size"
	msgArrayBig      message = "Array number is too big"
	msgBadType       message = "Unknown type is specified"
	msgBadString     message = "String accepts only memory argument"
	msgBadSymstr     message = "Symbol String doesn't accept data/userdata"
	msgTooBig        message = "Event too big (too many fields?)"
	msgBadBitfield   message = "Invalid bitfield"
	msgArgTooLong    message = "Argument name is too long"
	msgNoArgName     message = "Argument name is not specified"
	msgBadArgName    message = "Argument name must follow the same rules as C identifiers"
	msgUsedArg       message = "This argument name is already used"
	msgExprTooLong   message = "Argument expression is too long"
	msgNoArgBody     message = "No argument expression"
	msgBadInsn       message = "Probe point is not an instruction boundary"
	msgFailed        message = "Failed to register probe event"
	msgDiffType      message = "Probe type is different from existing probe"
	msgDiffArg       message = "Argument type or name is different from existing probe"
	msgNoEventInfo   message = "This requires both group and event name to attach"
	msgBadAttach     message = "Attached event does not exist"
	msgBadAttachArg  message = "Attached event does not have this field"
	msgNoFilter      message = "No filter rule after 'if'"
	msgSame          message = "There is already the exact same probe event"
)

// SyntaxError is an error in a line of kprobe_events. Pos is a byte offset in Command, which is the line with single blanks,
// or just behind it.
type SyntaxError struct {
	Command string
	Pos     int
	Msg     string // "" when Linux says nothing but the errno
	Also    string // what Linux says of the same place before that
	Err     kernel.Errno
}

func (e *SyntaxError) Error() string {
	if e.Msg == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %v\n  Command: %s\n%s^", e.Msg, e.Err, e.Command, strings.Repeat(" ", len("  Command: ")+e.Pos))
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// source makes positioned errors for the words of one command: trace_probe_log.
type source struct {
	words []string
}

// fail is an error at an offset in word i.
func (s source) fail(i, off int, msg message, err kernel.Errno) *SyntaxError {
	pos := 0
	for j := 0; j < i && j < len(s.words); j++ {
		pos += len(s.words[j]) + 1
	}
	return &SyntaxError{Command: strings.Join(s.words, " "), Pos: pos + off, Msg: string(msg), Err: err}
}

// silent is an error without an entry in error_log.
func (s source) silent(err kernel.Errno) *SyntaxError {
	return &SyntaxError{Command: strings.Join(s.words, " "), Err: err}
}

// isName says whether a name is a C identifier (is_good_name).
func isName(s string) bool {
	for i, c := range []byte(s) {
		digit := c >= '0' && c <= '9'
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (!digit || i == 0) {
			return false
		}
	}
	return s != ""
}
