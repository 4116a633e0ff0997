package ring

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Text is the readable form of a page: a line for the header and one for each item with its delta and bytes.
//
//	page 1000000 lost 3
//	data +0 0100000064000000
//	extend +200000000
//	padding +1 00000000
//
// ParseText gives the page back, byte for byte up to its commit.
func Text(page []byte) (string, error) {
	var s strings.Builder
	missed, err := DecodePage(page, func(e Entry) bool {
		fmt.Fprintf(&s, "%s +%d", e.Kind, e.Delta)
		if e.Kind == Data || e.Kind == Padding {
			s.WriteString(" " + hex.EncodeToString(e.Data))
		}
		s.WriteByte('\n')
		return true
	})
	if err != nil {
		return "", err
	}
	head := fmt.Sprintf("page %d", binary.LittleEndian.Uint64(page))
	if missed != 0 {
		head += fmt.Sprintf(" lost %d", missed)
	}
	return head + "\n" + s.String(), nil
}

// ParseText builds a page from its text.
func ParseText(text string) ([]byte, error) {
	page := make([]byte, HeaderSize, PageSize)
	le := binary.LittleEndian
	missed := int64(0)
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		f := append(strings.Fields(line), "", "", "", "")
		bad := func() ([]byte, error) { return nil, fmt.Errorf("ring text line %d: %q", i+1, line) }
		if i == 0 {
			ts, err := strconv.ParseUint(f[1], 10, 64)
			if f[2] == "lost" && err == nil {
				missed, err = strconv.ParseInt(f[3], 10, 64)
			}
			if f[0] != "page" || err != nil {
				return bad()
			}
			le.PutUint64(page, ts)
			continue
		}
		delta, err := strconv.ParseUint(strings.TrimPrefix(f[1], "+"), 10, 59)
		data, err2 := hex.DecodeString(f[2])
		if err != nil || err2 != nil || len(data)&3 != 0 {
			return bad()
		}
		h := uint32(delta << 5)
		switch {
		case f[0] == "extend":
			page = le.AppendUint32(le.AppendUint32(page, h|typeExtend), uint32(delta>>deltaBits))
		case f[0] == "stamp":
			page = le.AppendUint32(le.AppendUint32(page, h|typeTimeStamp), uint32(delta>>deltaBits))
		case f[0] == "padding" && delta == 0:
			page = append(le.AppendUint32(page, typePadding), data...)
		case f[0] == "padding":
			page = append(le.AppendUint32(le.AppendUint32(page, h|typePadding), uint32(len(data)+4)), data...)
		case f[0] == "data" && len(data) > 0 && len(data) <= maxSmall:
			page = append(le.AppendUint32(page, h|uint32(len(data)/4)), data...)
		case f[0] == "data":
			page = append(le.AppendUint32(le.AppendUint32(page, h), uint32(len(data)+4)), data...)
		default:
			return bad()
		}
	}
	commit := uint64(len(page) - HeaderSize)
	if missed != 0 {
		commit |= missedEvents
	}
	if missed > 0 {
		commit |= missedStored
		page = le.AppendUint64(page, uint64(missed))
	}
	le.PutUint64(page[8:], commit)
	return page, nil
}
