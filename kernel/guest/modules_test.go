package guest

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every module source has its .ko, made from these headers.
func TestModulesFresh(t *testing.T) {
	srcs, err := Sources(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	mods := ModuleSources(srcs)
	if len(mods) != len(Modules()) {
		t.Fatalf("%d modules have sources, %d are built", len(mods), len(Modules()))
	}
	for _, name := range Modules() {
		var all []byte
		for _, file := range mods[name] {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, src...)
		}
		want, err := ModuleVersion(os.DirFS("."), all)
		if err != nil {
			t.Fatal(err)
		}
		if got := ModInfo(Module(name), "srcversion"); len(got) != 1 || got[0] != want {
			t.Errorf("modules/%s.ko.gz is not built from these sources: run go generate ./kernel/guest and commit modules/*.ko.gz too", name)
		}
	}
}

// seedModule is the seeds' kprobe example: register_kprobe is unknown until something exports it, but it compiles.
const seedModule = "/work/shared/seeds/ftrace-and-kprobe.txt"

func gcc(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"gcc", "ld", "objcopy", "nm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs ", tool)
		}
	}
}

func buildModule(t *testing.T, name, source string) []byte {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, name+".c")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "run", "./gen", "-root", ".", "-m", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ko, err := os.ReadFile(filepath.Join(dir, name+".ko"))
	if err != nil {
		t.Fatal(err)
	}
	return ko
}

// A user's own module builds from the shipped headers.
func TestUserModule(t *testing.T) {
	gcc(t)
	ko := buildModule(t, "hello-world", `#include <linux/init.h>
#include <linux/module.h>
#include <linux/kernel.h>
static int times = 2;
module_param(times, int, 0444);
static int __init hello_init(void) { while (times--) pr_info("hello\n"); return 0; }
static void __exit hello_exit(void) { pr_info("bye\n"); }
module_init(hello_init);
module_exit(hello_exit);
MODULE_LICENSE("GPL");
`)
	f, err := elf.NewFile(bytes.NewReader(ko))
	if err != nil || f.Type != elf.ET_REL || f.Section(".gnu.linkonce.this_module") == nil || f.Section("__mcount_loc") == nil {
		t.Fatalf("%v %v", err, f)
	}
	if !bytes.Contains(ko, []byte("name=hello_world\x00")) {
		t.Error("its name is not hello_world")
	}
}

func TestSeedModule(t *testing.T) {
	gcc(t)
	text, err := os.ReadFile(seedModule)
	if err != nil {
		t.Skip("no seeds here: ", err)
	}
	_, src, _ := strings.Cut(string(text), "Kernel Module Example: Tracing do_sys_open\n")
	src, _, ok := strings.Cut(src, "\nAfter compiling and loading")
	if !ok {
		t.Fatal("the seed has another text")
	}
	src = strings.ReplaceAll(src, "\n\"", "\\n\"") // its line ends were lost in print
	ko := buildModule(t, "kprobe_example", src)
	f, err := elf.NewFile(bytes.NewReader(ko))
	if err != nil {
		t.Fatal(err)
	}
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	unknown := ""
	for _, s := range syms {
		if s.Section == elf.SHN_UNDEF && s.Name != "" {
			unknown += s.Name + " "
		}
	}
	for _, want := range []string{"register_kprobe", "unregister_kprobe", "register_kretprobe", "unregister_kretprobe", "_printk"} {
		if !strings.Contains(" "+unknown, " "+want+" ") {
			t.Errorf("no use of %s: %s", want, unknown)
		}
	}
}
