package main

import (
	"fmt"

	"kscope/kernel"
)

// machineCheck is an invariant that every machine of every golden must hold, whatever the golden prints: no IPI is taken
// before its send, no task runs before its waking.
type machineCheck struct {
	name string
	// watch begins to look at a machine that has just booted, and returns what says in the end whether the invariant held.
	watch func(m *kernel.Machine) (verdict func() error)
}

// machineChecks are the invariants.
func machineChecks() []machineCheck {
	return []machineCheck{{"order", func(m *kernel.Machine) func() error {
		w, err := m.WatchOrder()
		if err != nil {
			return func() error { return err }
		}
		return w.Err
	}}}
}

// checks are the checks of one golden's machines.
type checks struct {
	rows  []machineCheck
	asked []func() error
}

// watch puts a machine under all checks.
func (c *checks) watch(m *kernel.Machine) {
	for _, mc := range c.rows {
		verdict := mc.watch(m)
		c.asked = append(c.asked, func() error {
			if err := verdict(); err != nil {
				return fmt.Errorf("%s: %w", mc.name, err)
			}
			return nil
		})
	}
}

// verdicts are the broken invariants, one line each.
func (c *checks) verdicts() []string {
	var broken []string
	for _, verdict := range c.asked {
		if err := verdict(); err != nil {
			broken = append(broken, err.Error())
		}
	}
	return broken
}
