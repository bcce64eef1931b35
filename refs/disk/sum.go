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

// errSum means that a file is damaged.
var errSum = errors.New("its checksum does not match")

const (
	sumPrefix = ",\n  \"sum\": \""
	sumSuffix = "\"\n}\n"
	bodyEnd   = "\n}\n"
)

// WithSum adds a last member "sum" to an indented JSON object: the BLAKE3 hash of the file without that member. It
// reveals damage.
func WithSum(b []byte) []byte {
	body := bytes.TrimSuffix(b, []byte(bodyEnd))
	return append(append(append(bytes.Clone(body), sumPrefix...), objects.Sum(b).String()...), sumSuffix...)
}

// CheckSum checks the sum of a file of [WithSum]. A file without a sum is not checked.
func CheckSum(b []byte) error {
	i := bytes.LastIndex(b, []byte(sumPrefix))
	if i < 0 {
		return nil
	}
	sum, ok := strings.CutSuffix(string(b[i+len(sumPrefix):]), sumSuffix)
	if !ok || sum != objects.Sum(append(bytes.Clone(b[:i]), bodyEnd...)).String() {
		return errSum
	}
	return nil
}

// CheckJSON checks that b has a correct sum or, if it has none, that it is the encoding of v. It decodes b into v then.
func CheckJSON(b []byte, v any) error {
	if err := CheckSum(b); err != nil {
		return err
	}
	if bytes.Contains(b, []byte(sumPrefix)) {
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

// CheckNote checks the sum of a JSON control file whose fields another package defines. Without a sum the file must be
// valid JSON, and must not end in something that looks like a damaged sum.
func CheckNote(b []byte) error {
	if err := CheckSum(b); err != nil || bytes.Contains(b, []byte(sumPrefix)) {
		return err
	}
	if !json.Valid(b) {
		return errors.New("it is not JSON")
	}
	if at := len(b) - len(sumSuffix) - 2*objects.Size - len(sumPrefix); at >= 0 {
		differ := 0
		for i := range sumPrefix {
			if b[at+i] != sumPrefix[i] {
				differ++
			}
		}
		if differ <= 2 {
			return errSum
		}
	}
	return nil
}

// ReadNote decodes the JSON file name in dir into v. It returns false if there is no such file. The error wraps
// [ErrDamaged] if [CheckNote] fails.
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
