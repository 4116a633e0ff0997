package event

import (
	"encoding/hex"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestLinuxRecords prints records that Linux 6.1 wrote (out of trace_pipe_raw) by its own format files, and holds each line
// against what Linux's trace showed. testdata/linux61.txt: "sym ADDR OFFSET SIZE NAME[ [MODULE]],…", "event SYSTEM" with
// the format file, "rec HEX" and "txt LINE". Pointers that %p hashes do not count.
func TestLinuxRecords(t *testing.T) {
	raw, err := os.ReadFile("testdata/linux61.txt")
	if err != nil {
		t.Fatal(err)
	}
	type sym struct {
		off, size string
		names     []string
	}
	syms := map[uint64]sym{}
	hashed := regexp.MustCompile(`\b00000000[0-9a-f]{8}\b`)
	plain := func(s string) string { return hashed.ReplaceAllString(s, "PTR") }
	var f *Format
	var rec []byte
	events, records := 0, 0
	rows := regexp.MustCompile(`(?ms)^(sym|event|rec|txt) (.*?)\n(?:(?:sym|event|rec|txt) |\z)`)
	for rest := string(raw); ; {
		m := rows.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		key, body := rest[m[2]:m[3]], rest[m[4]:m[5]]
		rest = rest[m[5]+1:]
		switch key {
		case "sym":
			w := strings.SplitN(body, " ", 4)
			a, _ := strconv.ParseUint(w[0], 16, 64)
			syms[a] = sym{w[1], w[2], strings.Split(w[3], ",")}
		case "event":
			system, text, _ := strings.Cut(body, "\n")
			if f, err = ParseFormat(system, text+"\n"); err != nil {
				t.Error(err)
			}
			if f.File() != strings.TrimRight(text, "\n")+"\n" {
				t.Errorf("format read and written:\n%s\nwas\n%s", f.File(), text)
			}
			events++
		case "rec":
			rec, _ = hex.DecodeString(body)
		case "txt":
			if f.Text == nil {
				continue
			}
			records++
			p := &Printer{}
			want := plain(body) + "\n"
			p.Name = func(b []byte, a uint64, offset bool) []byte {
				s, ok := syms[a]
				if !ok {
					return strconv.AppendUint(append(b, "0x"...), a, 16)
				}
				name := s.names[0]
				for _, n := range s.names { // several names of one address: the one that Linux took
					if strings.Contains(want, strings.Fields(n)[0]) {
						name = n
					}
				}
				name, module, _ := strings.Cut(name, " ")
				if b = append(b, name...); offset {
					b = append(b, "+0x"+s.off+"/0x"+s.size...)
				}
				if module != "" {
					b = append(b, " "+module...)
				}
				return b
			}
			if f.Text(p, rec); plain(string(p.Buf)) != want {
				t.Errorf("%s:%s\n got %s\nwant %s", f.System, f.Name, p.Buf, body)
			}
		}
	}
	if events < 50 || records < 250 {
		t.Errorf("only %d events, %d records", events, records)
	}
}
