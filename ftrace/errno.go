package ftrace

import (
	"errors"
	"fmt"

	"kscope/kernel"
)

// errnoOf finds the errno in an error. Every error that can reach a user carries one.
func errnoOf(err error) kernel.Errno {
	var e kernel.Errno
	if !errors.As(err, &e) {
		panic(fmt.Sprintf("BUG: ftrace: error without errno: %v", err))
	}
	return e
}
