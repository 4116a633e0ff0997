package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"kscope/kernel/guest"
)

// corruptions of the test module, with what Linux 6.1's elf_validity_check and its successors say.
var corruptions = []struct {
	name string
	make func(ko []byte) []byte
	err  Errno
	line string
}{
	{"empty", func(ko []byte) []byte { return nil }, ENOEXEC, "Invalid ELF header len 0"},
	{"short", func(ko []byte) []byte { return ko[:63] }, ENOEXEC, "Invalid ELF header len 63"},
	{"text", func(ko []byte) []byte { return bytes.Repeat([]byte("no ELF\n"), 20) }, ENOEXEC, "Invalid ELF header magic: != \x7fELF"},
	{"executable", put16(16, 2), ENOEXEC, "Invalid ELF header type: 2 != 1"},
	{"arm64", put16(18, 183), ENOEXEC, "Invalid architecture in ELF header: 183"},
	{"32 bit", func(ko []byte) []byte { ko[4] = 1; return ko }, ENOEXEC, "Invalid architecture in ELF header: 62"},
	{"header size", put16(58, 40), ENOEXEC, "Invalid ELF section header size"},
	{"header offset", func(ko []byte) []byte { binary.LittleEndian.PutUint64(ko[40:], 1<<63); return ko }, ENOEXEC, "Invalid ELF section header overflow"},
	{"truncated", func(ko []byte) []byte { return ko[:len(ko)-200] }, ENOEXEC, ""},
	{"name index", put16(62, 900), ENOEXEC, "Invalid ELF section name index: 900 || e_shstrndx (900) >= e_shnum ("},
	{"section 0", section(0, 4, 1), ENOEXEC, "ELF Spec violation: section 0 type(1)!=SH_NULL or non-zero len or addr"},
	{"section offset", section(1, 24, 1<<40), ENOEXEC, "Invalid ELF section in module (section 1 type 1)"},
	{"section size", section(1, 32, ^uint64(0)), ENOEXEC, "Invalid ELF section in module (section 1 type 1)"},
	{"alignment", section(1, 48, 3), ENOEXEC, "kscope_test: section .text is aligned to 3"},
	{"no module", rename(".gnu.linkonce.this_module", ".gnu.linkonce.that_module"), ENOEXEC, "kscope_test: No module found in object"},
	{"vermagic", rename("vermagic=6.1.0-kscope", "vermagic=6.1.0-18-amd"), ENOEXEC, ""},
}

func put16(off int, v uint16) func([]byte) []byte {
	return func(ko []byte) []byte { binary.LittleEndian.PutUint16(ko[off:], v); return ko }
}

// section changes a word of a section header.
func section(i, off int, v uint64) func([]byte) []byte {
	return func(ko []byte) []byte {
		at := int(binary.LittleEndian.Uint64(ko[40:])) + i*64 + off
		if off == 4 {
			binary.LittleEndian.PutUint32(ko[at:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(ko[at:], v)
		}
		return ko
	}
}

func rename(old, new string) func([]byte) []byte {
	return func(ko []byte) []byte { return bytes.ReplaceAll(ko, []byte(old), []byte(new)) }
}

func TestModuleRefusals(t *testing.T) {
	m := boot(t, Config{Seed: 3})
	for _, c := range corruptions {
		ko := c.make(bytes.Clone(guest.Module("kscope_test")))
		if c.name != "vermagic" {
			_, err := parseModule(ko)
			var refusal *modError
			if !errors.As(err, &refusal) || refusal.err != c.err || !strings.Contains(strings.Join(refusal.lines, "\n"), c.line) {
				t.Errorf("%s: %v, want %v: %s", c.name, err, c.err, c.line)
			}
		}
		if len(ko) == 0 {
			continue
		}
		if err := m.WriteFile("/bad.ko", ko, false); err != nil {
			t.Fatal(err)
		}
		at := len(m.Dmesg())
		if err := m.LoadModule("/bad.ko", ""); !errors.Is(err, c.err) {
			t.Errorf("%s: the guest says %v, want %v", c.name, err, c.err)
		}
		if log := logSince(m, at); !strings.Contains(log, strings.ReplaceAll(c.line, "\x7f", "\x7f")) {
			t.Errorf("%s: log %q", c.name, log)
		}
	}
	if n := len(m.mods.list); n != 0 || len(m.Oopses()) > 0 {
		t.Errorf("%d modules are left behind, %d oopses", n, len(m.Oopses()))
	}
	if !strings.Contains(logSince(m, 0), "kscope_test: version magic '6.1.0-18-amd SMP preempt mod_unload ' should be '6.1.0-kscope SMP preempt mod_unload '") {
		t.Error("no line about the version magic")
	}
}

// relocations that Linux refuses.
func TestModuleRelocations(t *testing.T) {
	base := modBases{moduleBase, moduleBase + 0x10000}
	unknown := func(string) (uint64, *Module, error) { return 0, nil, ENOENT }
	far := func(string) (uint64, *Module, error) { return 1 << 40, nil, nil }
	f, err := parseModule(guest.Module("kscope_test"))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = f.simplify(base, false, unknown)
	var refusal *modError
	if !errors.As(err, &refusal) || refusal.err != ENOENT || len(refusal.lines) < 10 || !strings.HasPrefix(refusal.lines[0], kernWarn+"kscope_test: Unknown symbol ") {
		t.Errorf("unknown symbols: %v", err)
	}
	values, _, err := f.simplify(base, false, far)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.relocate(base, values); !errors.As(err, &refusal) || refusal.err != ENOEXEC ||
		!strings.Contains(err.Error(), "overflow in relocation type 11 val ") || !strings.Contains(err.Error(), "`kscope_test' likely not compiled with -mcmodel=kernel") {
		t.Errorf("far symbols: %v", err)
	}
}

const moduleBase = 0xffffffffc0000000

// whole runs all of the loader that needs no machine; nothing may panic.
func whole(raw []byte) error {
	f, err := parseModule(raw)
	if err != nil {
		return err
	}
	base := modBases{moduleBase, moduleBase + f.core.size}
	values, _, err := f.simplify(base, false, func(name string) (uint64, *Module, error) { return kernelText, nil, nil })
	if err != nil {
		return err
	}
	for _, w := range append(f.image(base), f.kallsyms(base, values)...) {
		if w.addr < moduleBase || w.addr+uint64(len(w.data)) > moduleBase+f.core.size+f.init.size {
			panic("BUG: outside the module")
		}
	}
	writes, err := f.relocate(base, values)
	for _, w := range writes {
		if w.addr < moduleBase || w.addr+uint64(len(w.data)) > moduleBase+f.core.size+f.init.size {
			panic("BUG: relocated outside the module")
		}
	}
	f.unwindRows(base, values).row(moduleBase + 10)
	(&Module{types: f.types(values)}).Line(moduleBase + 10)
	return err
}

func FuzzModule(f *testing.F) {
	for _, name := range guest.Modules() {
		f.Add(guest.Module(name))
	}
	for _, c := range corruptions {
		f.Add(c.make(bytes.Clone(guest.Module("kscope_test"))))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := whole(raw)
		var refusal *modError
		if err != nil && !errors.As(err, &refusal) {
			t.Errorf("%T %v is no refusal", err, err)
		}
	})
}

// mutate changes some bytes, most of them in headers and tables.
func mutate(rng *rand.Rand, ko []byte) []byte {
	for range 1 + rng.IntN(4) {
		at := rng.IntN(len(ko))
		if rng.IntN(2) == 0 {
			off := int(binary.LittleEndian.Uint64(ko[40:]))
			at = off%len(ko) + rng.IntN(len(ko)-off%len(ko))
		}
		ko[at] = byte([]uint64{0, 1, 0xff, 0x80, rng.Uint64()}[rng.IntN(5)])
	}
	return ko
}

// Whatever the file, the host side neither panics nor hangs; 3,000 mutations of the test modules, and 40 of them in a guest.
func TestModuleMutations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	var files [][]byte
	for _, name := range guest.Modules() {
		files = append(files, guest.Module(name))
	}
	refused := 0
	for i := range 3000 {
		if whole(mutate(rng, bytes.Clone(files[i%len(files)]))) != nil {
			refused++
		}
	}
	if refused < 300 {
		t.Errorf("only %d refusals", refused)
	}
	base := withModules(t, 4)
	for range 40 {
		m := base.Fork(rng.Uint64())
		if err := m.WriteFile("/bad.ko", mutate(rng, bytes.Clone(guest.Module("kscope_test"))), false); err != nil {
			t.Fatal(err)
		}
		if m.LoadModule("/bad.ko", "") == nil {
			_ = m.UnloadModule("kscope_test")
		}
		m.Run(Until{Time: m.Now() + 5_000_000})
	}
}
