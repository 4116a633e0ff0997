package ftrace

import (
	"fmt"
	"strings"

	"kscope/kernel"
)

// userPlace names an address of a task's user space with the option sym-userobj: the file that is mapped there and how far from the
// mapping's begin, as seq_print_user_ip in kernel/trace/trace_output.c; what has no file, or whose task is gone, is an address. It
// looks when the trace is read, as Linux does.
func (p *printer) userPlace(b []byte, tgid uint32, ip uint64) []byte {
	file, start := p.t.mappedFile(tgid, ip)
	if file != "" {
		b = fmt.Appendf(b, "%s[+0x%x]", file, ip-start)
	}
	if file == "" || p.SymAddr {
		b = append(hex16(append(b, " <"...), ip), '>')
	}
	return b
}

// mappedFile is the file of the first mapping that ends above ip (find_vma), "" when it has none.
func (t *Tracer) mappedFile(tgid uint32, ip uint64) (path string, start uint64) {
	task, vma := t.m.Types().Struct("task_struct"), t.m.Types().Struct("vm_area_struct")
	if task == nil || vma == nil {
		return "", 0
	}
	for _, x := range t.m.Tasks() {
		if uint32(x.Pid) != tgid {
			continue
		}
		mm := word(kernel.NewObj(t.m, task, x.Addr), "mm")
		if mm == 0 {
			return "", 0
		}
		head := kernel.NewObj(t.m, t.m.Types().Struct("mm_struct"), mm)
		list, err := head.Field("mmap")
		if err != nil {
			return "", 0
		}
		at := word(list, "next")
		for range 1 << 16 {
			if at == list.Addr || at == 0 {
				break
			}
			v := kernel.NewObj(t.m, vma, at-uint64(vma.Field("vm_list").Offset))
			if word(v, "vm_end") > ip {
				if file := word(v, "vm_file"); file != 0 {
					path = t.filePath(file)
				}
				return path, word(v, "vm_start")
			}
			at = word(v, "vm_list", "next")
		}
		return "", 0
	}
	return "", 0
}

// filePath is d_path of a struct file: names up to the root of its mount, and so on through the mounts above.
func (t *Tracer) filePath(file uint64) string {
	types := t.m.Types()
	f := kernel.NewObj(t.m, types.Struct("file"), file)
	at, mnt := word(f, "f_path", "dentry"), word(f, "f_path", "mnt")
	mount := types.Struct("mount")
	if mount == nil || at == 0 || mnt == 0 {
		return ""
	}
	var names []string
	for range 256 {
		d := kernel.NewObj(t.m, types.Struct("dentry"), at)
		m := kernel.NewObj(t.m, mount, mnt-uint64(mount.Field("mnt").Offset))
		switch parent := word(d, "d_parent"); {
		case at == word(m, "mnt", "mnt_root"):
			up := word(m, "mnt_parent")
			if up == 0 || up == m.Addr {
				return "/" + strings.Join(names, "/")
			}
			at, mnt = word(m, "mnt_mountpoint"), up+uint64(mount.Field("mnt").Offset)
		case parent == at:
			return "/" + strings.Join(names, "/")
		default:
			name, err := t.m.Str(word(d, "d_name", "name"), maxName+1)
			if err != nil {
				return ""
			}
			names = append([]string{pathEscape.Replace(name)}, names...)
			at = parent
		}
	}
	return ""
}

// pathEscape is mangle_path for a newline, which is all that trace_seq_path escapes.
var pathEscape = strings.NewReplacer("\n", "\\012")

// word reads a number in a struct; 0 when it is not there.
func word(o kernel.Obj, path ...string) uint64 {
	o, err := o.Path(path...)
	if err != nil {
		return 0
	}
	x, _ := o.Uint()
	return x
}
