package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testNote is a control file as the tests write it.
type testNote struct {
	Name string   `json:"name"`
	Tips []string `json:"tips"`
}

func encodeNote(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

// TestSumFindsEveryFlippedByte changes each byte of a file with a sum in several ways: no change goes unseen, be it in
// the content, in the name of the member "sum" or in the sum.
func TestSumFindsEveryFlippedByte(t *testing.T) {
	t.Parallel()
	whole := WithSum(encodeNote(t, testNote{"desk", []string{"aa", "bb"}}))
	if err := CheckSum(whole); err != nil {
		t.Fatalf("CheckSum of a whole file = %v", err)
	}
	for i := range whole {
		for _, bit := range []byte{0x01, 0x04, 0x20, 0x80} {
			b := bytes.Clone(whole)
			b[i] ^= bit
			if CheckSum(b) == nil {
				t.Errorf("byte %d (%q) with bit %#x flipped is accepted:\n%s", i, whole[i], bit, b)
			}
		}
	}
}

// TestSumFindsTruncation cuts a file at each byte: only the whole file is accepted.
func TestSumFindsTruncation(t *testing.T) {
	t.Parallel()
	whole := WithSum(encodeNote(t, testNote{"desk", []string{"aa"}}))
	for n := range whole {
		if err := CheckSum(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are accepted:\n%s", n, len(whole), whole[:n])
		}
	}
}

// TestSumIsAMember reads a file with a sum as JSON: it has one member more, and the others are unchanged.
func TestSumIsAMember(t *testing.T) {
	t.Parallel()
	b := WithSum(encodeNote(t, testNote{"desk", nil}))
	var got struct {
		testNote
		Sum string `json:"sum"`
	}
	if err := json.Unmarshal(b, &got); err != nil || got.Name != "desk" || len(got.Sum) != 64 {
		t.Errorf("%s decodes to %+v, %v", b, got, err)
	}
	nested := WithSum(encodeNote(t, map[string]any{"a": map[string]any{"b": []int{1}}}))
	if err := CheckSum(nested); err != nil || !json.Valid(nested) {
		t.Errorf("an object at the end of a file: %s: %v", nested, err)
	}
}

// TestSumIsNeeded takes no file without a sum, whatever it contains, for one that mem wrote.
func TestSumIsNeeded(t *testing.T) {
	t.Parallel()
	plain := encodeNote(t, testNote{"desk", []string{"aa"}})
	for name, c := range map[string]struct {
		in string
		ok bool
	}{
		"with a sum":         {string(WithSum(plain)), true},
		"as mem encodes it":  {string(plain), false},
		"nothing":            {"", false},
		"another name":       {strings.Replace(string(WithSum(plain)), `"sum"`, `"sun"`, 1), false},
		"something after it": {string(WithSum(plain)) + "{}", false},
		"a sum twice":        {string(WithSum(WithSum(plain))), true}, // the last one is that of the file
		"the sum of another": {strings.Replace(string(WithSum(plain)), "desk", "disk", 1), false},
	} {
		if err := CheckSum([]byte(c.in)); (err == nil) != c.ok {
			t.Errorf("%s: CheckSum(%q) = %v, want ok == %v", name, c.in, err, c.ok)
		}
	}
}

func TestReadNote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	whole := WithSum(encodeNote(t, testNote{"desk", []string{"aa"}}))
	write("whole.json", whole)
	write("empty.json", nil)
	write("cut.json", whole[:len(whole)/2])
	write("other.json", WithSum([]byte("{\n  \"name\": 3\n}\n")))
	if err := os.Mkdir(filepath.Join(dir, "dir.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	var v testNote
	if ok, err := ReadNote(dir, "whole.json", &v); !ok || err != nil || v.Name != "desk" || len(v.Tips) != 1 {
		t.Errorf("ReadNote(whole.json) = %v, %v with %+v", ok, err, v)
	}
	if ok, err := ReadNote(dir, "none.json", &v); ok || err != nil {
		t.Errorf("ReadNote of a missing file = %v, %v; want false without an error", ok, err)
	}
	for _, name := range []string{"empty.json", "cut.json", "other.json"} {
		ok, err := ReadNote(dir, name, &v)
		if ok || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("ReadNote(%s) = %v, %v; want ErrDamaged with the file", name, ok, err)
		}
	}
	if ok, err := ReadNote(dir, "dir.json", &v); ok || err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("ReadNote of a directory = %v, %v; want an error that is no damage", ok, err)
	}
}

func FuzzCheckSum(f *testing.F) {
	f.Add([]byte("{}"))
	f.Add(WithSum([]byte("{\n  \"a\": 1\n}\n")))
	f.Fuzz(func(t *testing.T, b []byte) {
		if CheckSum(b) != nil {
			return
		}
		for i := range b {
			other := bytes.Clone(b)
			if other[i] ^= 1; CheckSum(other) == nil {
				t.Errorf("%q and %q are accepted", b, other)
			}
		}
	})
}
