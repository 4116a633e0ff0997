package kprobe

import (
	"bytes"
	"errors"
	"testing"

	"kscope/kernel"
)

// TestDirect holds compiled programs against the interpreter, with the registers of each kind of hit: what they store, and that a fault
// stores nothing.
func TestDirect(t *testing.T) {
	k := boot(t, kernel.Config{CPUs: 1})
	line := func(letter, args string) *Event {
		l, err := k.parseLine(fields(letter + ":e vfs_read " + args))
		if err != nil {
			t.Fatal(err)
		}
		e := &Event{Line: l, k: k}
		e.lay()
		for _, a := range e.Args {
			must(t, a.resolve(k.m.Symbols()))
		}
		return e
	}
	entry := line("p", "%di %dx:u8 %cx:s16 %sp:x32 %flags %ip %cs:u16 %orig_ax +8(%di):u32 +0(+16(%di)) +0(+0(+16(%di))):x16 +4(%di):b4@3/32 %dx:b7@1/16 "+
		"+0(%si):u8 +0(%dx) +4090(%sp):x64 +1(%sp):u64 $stack $stack0 $stack3:u8 @jiffies @init_task:x8[4] $arg1:x32 $arg3 -0(%di):symbol $comm")
	ret := line("r", "$retval $retval:s8 %bx +0(%bx):u32 +0(+0(%sp)):u16")
	var kinds [4]int
	compiled, faults := 0, 0
	same := func(kind int, e *Event) func(h *Hit) {
		return func(h *Hit) {
			kinds[kind]++
			f := &fetcher{k: k, c: h.C, regs: h.Regs}
			for _, a := range e.Args {
				if a.store == storeString {
					continue
				}
				slow := *a
				slow.direct = direct{}
				got, want := bytes.Repeat([]byte{0xa5}, 1024), bytes.Repeat([]byte{0xa5}, 1024)
				f.put(a, got, 0, nil)
				f.put(&slow, want, 0, nil)
				if !bytes.Equal(got, want) {
					t.Errorf("%s, kind %d: % x, interpreted % x", a.Text, kind, got[a.offset:a.offset+a.size()], want[a.offset:a.offset+a.size()])
				}
				if a.direct.size != 0 {
					compiled++
					if want[a.offset] == 0xa5 {
						faults++
					}
				}
			}
		}
	}
	at := k.addr(t, "vfs_read")
	sym, _ := k.m.Symbols().At(at)
	offs := k.Boundaries(sym)
	step := &Probe{Addr: at + uint64(offs[2]), NoJump: true, Pre: same(0, entry)}
	through := &Probe{Addr: at, Pre: same(1, entry)}
	r := &Ret{Probe: Probe{Addr: at}, Return: same(2, ret)}
	var jump *Probe
	k.do(t, func() error {
		err := errors.Join(k.Register(step), k.Enable(step), k.Register(through), k.Enable(through), k.RegisterRet(r), k.Enable(&r.Probe))
		for _, off := range offs[8:] {
			p := &Probe{Addr: at + uint64(off), Pre: same(3, entry)}
			if jump == nil && k.Register(p) == nil {
				if p.Unoptimized() == "" {
					jump = p
					return errors.Join(err, k.Enable(p))
				}
				err = errors.Join(err, k.Unregister(p))
			}
		}
		return err
	})
	k.pass(t, optimised)
	cats(t, k, 2)
	if jump == nil || k.sites[jump.Addr].opt != optJumping || kinds[0] == 0 || kinds[1] == 0 || kinds[2] == 0 || kinds[3] == 0 || faults == 0 || compiled < 100 {
		t.Errorf("hits by kind %v, %d compiled programs, %d faults", kinds, compiled, faults)
	}
}
