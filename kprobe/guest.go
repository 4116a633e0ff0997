package kprobe

import (
	"errors"

	"kscope/kernel"
)

// The gates behind the guest's register_kprobe and its kin (kernel/guest/kernel/kprobes.c) and of the sysctl.

// gateArm: long kprobe_arm(struct kprobe *p, struct kretprobe *rp).
func (k *Kprobes) gateArm(c *kernel.VCPU) uint64 {
	if err := k.guestArm(c.Arg(0), c.Arg(1)); err != nil {
		var errno kernel.Errno
		if !errors.As(err, &errno) {
			panic("BUG: kprobe: an error without errno: " + err.Error())
		}
		return errno.Ret()
	}
	return 0
}

func (k *Kprobes) guestArm(at, rp uint64) error {
	if k.guests[at] != nil {
		return kernel.EINVAL // warn_kprobe_rereg
	}
	o, err := k.m.Obj("kprobe", at)
	if err != nil {
		return kernel.EOPNOTSUPP
	}
	get := func(o kernel.Obj, name string) uint64 {
		f, err := o.Field(name)
		if err != nil {
			panic("BUG: kprobe: " + err.Error())
		}
		x, _ := f.Uint()
		return x
	}
	addr, err := k.guestAddr(get(o, "addr"), get(o, "symbol_name"), get(o, "offset"))
	if err != nil {
		return err
	}
	g := &GuestProbe{at: at, pre: get(o, "pre_handler"), post: get(o, "post_handler")}
	p := &Probe{Addr: addr, C: g}
	if rp == 0 {
		err = k.Register(p)
	} else if p, err = k.guestRet(g, rp, addr, get); err == nil {
		err = k.RegisterRet(p.ret)
	}
	if err != nil {
		return err
	}
	p.Name = k.m.Symbols().Format(addr)
	k.guests[at] = p
	flags := get(o, "flags")
	if k.sites[addr].ftrace {
		flags |= 8 // KPROBE_FLAG_FTRACE
	}
	for name, x := range map[string]uint64{"addr": addr, "flags": flags, "opcode": uint64(k.first(addr))} {
		k.putField(o, name, x)
	}
	if flags&2 != 0 { // KPROBE_FLAG_DISABLED
		return nil
	}
	return k.Enable(p)
}

// first is the first byte of a probed instruction: kprobe.opcode.
func (k *Kprobes) first(addr uint64) byte {
	var b [1]byte
	_ = k.original(addr, b[:])
	return b[0]
}

func (k *Kprobes) putField(o kernel.Obj, name string, x uint64) {
	f, err := o.Field(name)
	if err != nil {
		panic("BUG: kprobe: " + err.Error())
	}
	b := make([]byte, f.Type.Size)
	for i := range b {
		b[i] = byte(x >> (8 * i))
	}
	if err := k.m.Write(f.Addr, b); err != nil {
		panic("BUG: kprobe: the guest's probe cannot be written: " + err.Error())
	}
}

// guestAddr is _kprobe_addr.
func (k *Kprobes) guestAddr(addr, name, off uint64) (uint64, error) {
	if (name != 0) == (addr != 0) {
		return 0, kernel.EINVAL
	}
	if name != 0 {
		text, err := k.m.Str(name, 128)
		if err != nil {
			return 0, kernel.EINVAL
		}
		var ok bool
		if addr, ok = k.m.Symbols().Lookup(text); !ok {
			return 0, kernel.ENOENT
		}
	}
	return addr + off, nil
}

// guestRet makes the kretprobe of a struct kretprobe.
func (k *Kprobes) guestRet(g *GuestProbe, at, addr uint64, get func(o kernel.Obj, name string) uint64) (*Probe, error) {
	o, err := k.m.Obj("kretprobe", at)
	if err != nil {
		return nil, kernel.EOPNOTSUPP
	}
	g.rp, g.entry, g.ret = at, get(o, "entry_handler"), get(o, "handler")
	r := &Ret{MaxActive: int(int32(get(o, "maxactive"))), Probe: Probe{Addr: addr, C: g}}
	r.Probe.ret = r
	pool, size := get(o, "pool"), get(o, "instance_size")
	for i := r.MaxActive - 1; i >= 0; i-- {
		g.free = append(g.free, pool+uint64(i)*size)
	}
	return &r.Probe, nil
}

// gateDisarm: long kprobe_disarm(struct kprobe *p).
func (k *Kprobes) gateDisarm(c *kernel.VCPU) uint64 {
	p := k.guests[c.Arg(0)]
	if p == nil {
		return kernel.EINVAL.Ret()
	}
	delete(k.guests, c.Arg(0))
	err := error(nil)
	if p.ret != nil {
		err = k.UnregisterRet(p.ret)
	} else {
		err = k.Unregister(p)
	}
	if err != nil {
		return kernel.EINVAL.Ret()
	}
	return 0
}

// gateSwitch: long kprobe_switch(struct kprobe *p, u64 on).
func (k *Kprobes) gateSwitch(c *kernel.VCPU) uint64 {
	p := k.guests[c.Arg(0)]
	if p == nil || k.setEnabled(p, c.Arg(1) != 0) != nil {
		return kernel.EINVAL.Ret()
	}
	return 0
}

// gateSysctl: long kprobes_optimization(s64 set), for /proc/sys/debug/kprobes-optimization.
func (k *Kprobes) gateSysctl(c *kernel.VCPU) uint64 {
	switch c.Arg(0) {
	case 0, 1:
		k.SetOptimization(c.Arg(0) == 1)
		return 0
	}
	if int64(c.Arg(0)) >= 0 {
		return kernel.EINVAL.Ret()
	}
	if k.noOpt {
		return 0
	}
	return 1
}

// truth is kstrtobool.
func truth(s string) (on, ok bool) {
	if s == "" {
		return false, false
	}
	switch s[0] {
	case 'y', 'Y', 't', 'T', '1':
		return true, true
	case 'n', 'N', 'f', 'F', '0':
		return false, true
	case 'o', 'O':
		if len(s) > 1 {
			switch s[1] {
			case 'n', 'N':
				return true, true
			case 'f', 'F':
				return false, true
			}
		}
	}
	return false, false
}
