package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/refs/disk"
)

// A storedToken permits a program to use the API of every server of a memory. Only its hash is stored, in one file per token
// in the directory "tokens".
type storedToken struct {
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	SHA256  string    `json:"sha256,omitempty"` // of the token, hexadecimal
}

// errTokenName means that a token cannot have that name.
var errTokenName = errors.New("want 1 to 64 letters, digits, '-' and '_'")

// tokenFile returns the file of a token.
func tokenFile(store, name string) (string, error) {
	odd := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	}
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, odd) {
		return "", fmt.Errorf("name of a token %q: %w", name, errTokenName)
	}
	return filepath.Join(store, "tokens", name+".json"), nil
}

// addToken creates a token and returns it. It cannot be read later. The error wraps [fs.ErrExist] if the name exists.
func addToken(store, name string, now time.Time, random io.Reader) (string, error) {
	file, err := tokenFile(store, name)
	if err != nil {
		return "", err
	}
	token, err := secret(random)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	b, err := json.Marshal(storedToken{name, now.UTC().Truncate(time.Second), hashOf(token)})
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("store the token: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("store the token: %w", err), os.Remove(file))
	}
	return token, errors.Join(disk.SyncDir(filepath.Dir(file)), disk.SyncDir(store))
}

func hashOf(token string) string {
	h := sha256.Sum256([]byte(token))
	return hex.EncodeToString(h[:])
}

// listTokens returns the tokens of a memory, sorted by name. If some cannot be read, it returns the others and an error.
func listTokens(store string) ([]storedToken, error) {
	dir := filepath.Join(store, "tokens")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	var out []storedToken
	var errs error
	for _, e := range entries {
		t, err := readToken(filepath.Join(dir, e.Name()), e)
		switch {
		case err == nil:
			out = append(out, t)
		case !errors.Is(err, fs.ErrNotExist): // removed meanwhile
			errs = errors.Join(errs, fmt.Errorf("read the token %s: %w", e.Name(), err))
		}
	}
	slices.SortFunc(out, func(a, b storedToken) int { return strings.Compare(a.Name, b.Name) })
	return out, errs
}

// readToken reads the file of a token. It does not open a pipe or a device, which could block.
func readToken(file string, e fs.DirEntry) (t storedToken, err error) {
	if !e.Type().IsRegular() {
		return t, errors.New("it is not a file")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(b, &t)
}

// removeToken deletes a token, also a damaged one. A dry run only looks for it. The error wraps [fs.ErrNotExist] if the
// name does not exist.
func removeToken(store, name string, dryRun bool) error {
	file, err := tokenFile(store, name)
	if err != nil {
		return err
	}
	if dryRun {
		_, err = os.Lstat(file)
		return err
	}
	return errors.Join(os.Remove(file), disk.SyncDir(filepath.Dir(file)))
}

// validToken reports whether the memory has that token. Its duration does not depend on which one. A damaged token
// does not make the others invalid.
func validToken(store, token string) (bool, error) {
	all, err := listTokens(store)
	valid := false
	for _, t := range all {
		valid = equal(t.SHA256, hashOf(token)) || valid
	}
	if valid {
		return true, nil
	}
	return false, err
}
