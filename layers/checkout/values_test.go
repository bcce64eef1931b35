package checkout

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
)

// TestCopyValues writes values that are longer than those that are decoded, and lines that are not JSON objects.
func TestCopyValues(t *testing.T) {
	t.Parallel()
	lines := []string{`{"n":1}`, `{"long":"` + strings.Repeat("long text ", transcript.Longest/10+1) + `"}`, `torn {"x`,
		`{"n":4}`}
	file := strings.Join(lines, "\n\n") + "\n"
	for _, c := range [][2]int{{1, 4}, {2, 2}, {2, 3}, {3, 3}, {4, 4}, {5, 9}} {
		var out bytes.Buffer
		err := copyValues(c[0], c[1], &out, func(f func(io.Reader) error) error { return f(strings.NewReader(file)) })
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for i, line := range lines {
			if i+1 < c[0] || i+1 > c[1] {
				continue
			}
			want += line + "\n"
		}
		if out.String() != want {
			t.Errorf("values %d to %d: %d bytes, want %d", c[0], c[1], out.Len(), len(want))
		}
	}
}

// TestOutputsOfVersion writes a version whose settings, from another device, contain a path.
func TestOutputsOfVersion(t *testing.T) {
	t.Parallel()
	v := &records.Version{Label: "v001", Settings: records.VersionSettings{Mode: "x/../.claude/commands/x", Preset: "a"}}
	_, out, err := outputs(state.Rev{Kind: state.IsVersion, Version: v}, Place{Path: t.TempDir()}, "")
	if err != nil || len(out) != 3 { // text, values and versions.json
		t.Fatalf("outputs %v, %v", out, err)
	}
	for _, x := range out {
		if strings.Contains(x.name, "/") {
			t.Errorf("it writes %s, want a file in the directory", x.name)
		}
	}
}
