package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsRecording checks that the recording of the README shows the commands that mem demo runs, is an XML file and is small.
func TestDocsRecording(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "images", "demo.svg"))
	must(t, err)
	if len(b) > 200_000 {
		t.Errorf("the recording has %d bytes, want at most 200,000", len(b))
	}
	for d := xml.NewDecoder(bytes.NewReader(b)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	env := testEnv(t, t.TempDir(), &out, &errs)
	if code := run(t.Context(), env, []string{"demo", "--sample"}); code != 0 {
		t.Fatalf("mem demo: exit status %d: %s", code, errs.String())
	}
	shown := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(b), ""))
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSuffix(line, "\n"); (strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "- ")) && !strings.Contains(shown, line) {
			t.Errorf("the recording does not show %q: go run ./testdata/record", line)
		}
	}
}
