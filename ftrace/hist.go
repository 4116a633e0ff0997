package ftrace

import "kscope/kernel"

// hist is a histogram.
type hist struct{}

func histTrigger(x *trigger, c *kernel.VCPU, e *trigEvent) {}

func (x *trigger) freeHist() error { return nil }

func (x *trigger) histSpec(b []byte) []byte { return b }

func (u *eventUse) varsReferenced() bool { return false }

func (u *eventUse) histCommand(c *kernel.VCPU, param string, remove bool) error { return kernel.EINVAL }
