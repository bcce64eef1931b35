package redact

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/testdata/gen/plants"
)

// TestSourceFindings counts what is found in the texts under the directories of MEM_SOURCES, such as the source of libraries: at most two
// in a megabyte. Private keys are not counted: libraries hold real ones, for their tests. The findings go to the file MEM_FINDINGS.
func TestSourceFindings(t *testing.T) {
	list := os.Getenv("MEM_SOURCES")
	if list == "" {
		t.Skip("SKIPPED: no MEM_SOURCES")
	}
	rules, err := New(scanner.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	size, found, keys := 0, 0, 0
	for _, dir := range filepath.SplitList(list) {
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil || len(raw) > 4<<20 || bytes.IndexByte(raw, 0) >= 0 || !utf8.Valid(raw) {
				return err
			}
			var n Numbers
			clean, cuts := rules.Redact([]byte(plants.AsText(string(raw))), &n)
			size += len(raw)
			for _, c := range cuts {
				mark := clean[c.At : int(c.At)+c.Len]
				if RuleOf(mark) == "private-key" {
					keys++
					continue
				}
				found++
				fmt.Fprintf(&out, "%s\t%s\t%s\n", path, clean[max(0, int(c.At)-80):int(c.At)+c.Len], c.Bytes)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if name := os.Getenv("MEM_FINDINGS"); name != "" {
		if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d findings and %d private keys in %.1f MB: %.3f a MB", found, keys, float64(size)/1e6, float64(found)*1e6/float64(max(1, size)))
	if found*500_000 > size {
		t.Errorf("%d findings in %d bytes: look at them", found, size)
	}
}
