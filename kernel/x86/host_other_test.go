//go:build !(linux && amd64)

package x86_test

import "testing"

func newHost(t testing.TB) runner {
	t.Skip("the host is no amd64 Linux, so there is no CPU to compare with")
	return nil
}
