package refs

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/memvcs/mem/objects"
)

// errSum says that a small file is not as mem wrote it.
var errSum = errors.New("it is not as it was written: its sum is another")

const (
	sumLead = ",\n  \"sum\": \""
	sumTail = "\"\n}\n"
	bodyEnd = "\n}\n"
)

// withSum adds a last member "sum" to an indented JSON object: the BLAKE3 of the file without that member. It
// tells a damaged file from a good one, and which of its bytes was damaged.
func withSum(b []byte) []byte {
	body := bytes.TrimSuffix(b, []byte(bodyEnd))
	return append(append(append(bytes.Clone(body), sumLead...), objects.Sum(b).String()...), sumTail...)
}

// checkSum checks a file that withSum made. One without a sum was written by an older mem, and nothing is said of it.
func checkSum(b []byte) error {
	i := bytes.LastIndex(b, []byte(sumLead))
	if i < 0 {
		return nil
	}
	sum, ok := strings.CutSuffix(string(b[i+len(sumLead):]), sumTail)
	if !ok || sum != objects.Sum(append(bytes.Clone(b[:i]), bodyEnd...)).String() {
		return errSum
	}
	return nil
}

// strictJSON checks that b is what mem writes: with a right sum, or, of an older mem, what v encodes to.
func strictJSON(b []byte, v any) error {
	if err := checkSum(b); err != nil {
		return err
	}
	if bytes.Contains(b, []byte(sumLead)) {
		return nil
	}
	if err := json.Unmarshal(b, v); err != nil {
		return err
	}
	again, err := json.MarshalIndent(v, "", "  ")
	if err == nil && !bytes.Equal(append(again, '\n'), b) {
		err = errors.New("it is not in the form that mem writes")
	}
	return err
}

// MendByte looks for the one byte of a file whose change makes good report true. That costs little for files of
// some hundred bytes.
func MendByte(b []byte, good func([]byte) bool) ([]byte, bool) {
	const most = 16 << 10
	if len(b) > most {
		return nil, false
	}
	b = bytes.Clone(b)
	for bit := range 8 { // a flipped bit is the likeliest
		for i := range b {
			if b[i] ^= 1 << bit; good(b) {
				return b, true
			}
			b[i] ^= 1 << bit
		}
	}
	for i, was := range b {
		for d := range 255 {
			if b[i] = was + byte(d+1); good(b) {
				return b, true
			}
		}
		b[i] = was
	}
	return nil, false
}

// mendSum is [MendByte] of a file that withSum made.
func mendSum(b []byte) ([]byte, bool) {
	return MendByte(b, func(b []byte) bool {
		return len(b) > 0 && b[len(b)-1] == '\n' && bytes.Contains(b, []byte(sumLead)) && checkSum(b) == nil
	})
}
