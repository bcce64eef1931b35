package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
)

// errSum says that a small file is not as mem wrote it.
var errSum = errors.New("it is not as it was written: its sum is another")

const (
	sumLead = ",\n  \"sum\": \""
	sumTail = "\"\n}\n"
	bodyEnd = "\n}\n"
)

// WithSum adds a last member "sum" to an indented JSON object: the BLAKE3 of the file without that member. It
// tells a damaged file from a good one, and which of its bytes was damaged.
func WithSum(b []byte) []byte {
	body := bytes.TrimSuffix(b, []byte(bodyEnd))
	return append(append(append(bytes.Clone(body), sumLead...), objects.Sum(b).String()...), sumTail...)
}

// CheckSum checks a file that WithSum made. One without a sum was written by an older mem, and nothing is said of it.
func CheckSum(b []byte) error {
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

// CheckJSON checks that b is what mem writes: with a right sum, or, of an older mem, what v encodes to.
func CheckJSON(b []byte, v any) error {
	if err := CheckSum(b); err != nil {
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

// CorrectByte looks for the one byte of a file whose change makes good report true. That costs little for files of
// some hundred bytes.
func CorrectByte(b []byte, good func([]byte) bool) ([]byte, bool) {
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

// CorrectSummed is [CorrectByte] of a file that WithSum made.
func CorrectSummed(b []byte) ([]byte, bool) {
	return CorrectByte(b, func(b []byte) bool {
		return len(b) > 0 && b[len(b)-1] == '\n' && bytes.Contains(b, []byte(sumLead)) && CheckSum(b) == nil
	})
}

// CheckNote checks a control file of JSON whose form another package knows. One without a sum was written by an
// older mem: it must be JSON, and not what a sum looks like that was damaged.
func CheckNote(b []byte) error {
	if err := CheckSum(b); err != nil || bytes.Contains(b, []byte(sumLead)) {
		return err
	}
	if !json.Valid(b) {
		return errors.New("it is not JSON")
	}
	if at := len(b) - len(sumTail) - 2*objects.Size - len(sumLead); at >= 0 {
		differ := 0
		for i := range sumLead {
			if b[at+i] != sumLead[i] {
				differ++
			}
		}
		if differ <= 2 {
			return errSum
		}
	}
	return nil
}

func ReadNote(dir, name string, v any) (bool, error) {
	file := filepath.Join(dir, name)
	b, err := pack.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", file, err)
	}
	if err = CheckNote(b); err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w: %w", file, ErrDamaged, err)
	}
	return true, nil
}
