package user

import (
	"bytes"
	"encoding/base64"
	"strconv"
)

var base64Options = []option{{'d', "decode", false, 0}, {'i', "ignore-garbage", false, 0}, {'w', "wrap", true, 0}}

// base64Command encodes or decodes a file.
func base64Command(c *cmd) int {
	found, files, status, done := c.parse(base64Options, 1)
	if done {
		return status
	}
	decode, garbage, wrap := false, false, 76
	for _, o := range found {
		switch o.id {
		case 'd':
			decode = true
		case 'i':
			garbage = true
		case 'w':
			n, err := strconv.Atoi(o.value)
			if err != nil || n < 0 {
				c.errorf("invalid wrap size: %s", quoted(o.value))
				return 1
			}
			wrap = n
		}
	}
	if len(files) > 1 {
		c.errorf("extra operand %s", quoted(files[1]))
		return c.tryHelp(1)
	}
	in, ok := c.input(orStdin(files)[0], "")
	if !ok {
		return 1
	}
	for in.fill() {
		in.hold(len(in.buf))
	}
	data := in.buf
	in.close()
	if in.err != 0 {
		c.errorf("read error: %s", in.err.Error())
		return 1
	}
	if !decode {
		text := []byte(base64.StdEncoding.EncodeToString(data))
		for ; wrap > 0 && len(text) > wrap; text = text[wrap:] {
			c.print(append(text[:wrap:wrap], '\n')...)
		}
		if c.print(text...); wrap > 0 && len(text) > 0 {
			c.print('\n')
		}
		return 0
	}
	data = bytes.ReplaceAll(data, []byte{'\n'}, nil)
	if garbage {
		data = bytes.Map(func(r rune) rune {
			if r < 0x80 && (wordByte(byte(r)) && r != '_' || r == '+' || r == '/' || r == '=') {
				return r
			}
			return -1
		}, data)
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, err := base64.StdEncoding.Decode(out, data)
	c.print(out[:n]...)
	if err != nil {
		c.errorf("invalid input")
		return 1
	}
	return 0
}
