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

// These errors mean that a file is damaged.
var (
	errSum   = errors.New("its checksum does not match")
	errNoSum = errors.New("its checksum is missing")
)

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

// CheckSum checks the sum of a file of [WithSum].
func CheckSum(b []byte) error {
	i := bytes.LastIndex(b, []byte(sumPrefix))
	if i < 0 {
		return errNoSum
	}
	sum, ok := strings.CutSuffix(string(b[i+len(sumPrefix):]), sumSuffix)
	if !ok || sum != objects.Sum(append(bytes.Clone(b[:i]), bodyEnd...)).String() {
		return errSum
	}
	return nil
}

// ReadNote decodes the JSON file name in dir into v. It returns false if there is no such file. The error wraps
// [ErrDamaged] if [CheckSum] fails.
func ReadNote(dir, name string, v any) (bool, error) {
	file := filepath.Join(dir, name)
	b, err := pack.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", file, err)
	}
	if err = CheckSum(b); err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w: %w", file, ErrDamaged, err)
	}
	return true, nil
}
