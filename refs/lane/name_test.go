package lane

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// TestRecordIsCanonical reads a record back, and refuses the same record in another form.
func TestRecordIsCanonical(t *testing.T) {
	t.Parallel()
	d, err := NewDevice("host", bytes.NewReader(make([]byte, 100)))
	if err != nil {
		t.Fatal(err)
	}
	r, b, err := NewRecord("set", d, 7, time.Unix(1, 0), map[string]string{"a": "<b>"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := CheckRecord(b, r.ID)
	if err != nil || got.Kind != "set" || got.Lamport != 7 || string(got.Body) != `{"a":"<b>"}` {
		t.Errorf("CheckRecord = %+v, %v", got, err)
	}
	for _, other := range []string{" " + string(b), strings.Replace(string(b), `"set"`, `""`, 1)} {
		if _, err := DecodeRecord([]byte(other)); !errors.Is(err, ErrRecord) {
			t.Errorf("DecodeRecord(%s): %v, want ErrRecord", other, err)
		}
	}
}

// TestNames reads the names that branches have here and on remotes, and refuses all others.
func TestNames(t *testing.T) {
	t.Parallel()
	project, device := strings.Repeat("a", 16), strings.Repeat("b", 32)
	for _, l := range []Lane{
		{Project: Project(project), Device: device},
		{Project: Project(project), Device: device, Originals: true},
	} {
		if got, ok := ParseRemoteRef(l.Ref()); !ok || got != l {
			t.Errorf("ParseBranch(%s) = %+v, %v", l.Ref(), got, ok)
		}
	}
	for _, ref := range []string{
		"refs/heads/main", Prefix + project, Prefix + project + "/x", Prefix + string(Home) + "/" + device,
		Prefix + project + "/" + device + "/x", Prefix + strings.ToUpper(project) + "/" + device,
	} {
		if l, ok := ParseRemoteRef(ref); ok {
			t.Errorf("ParseBranch(%s) = %+v, want none", ref, l)
		}
	}
}

// TestCleanName makes names with which git accepts a commit.
func TestCleanName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"desk": "desk", "my desk": "my desk", " desk. ": "desk", "de<s>k\n": "desk", "": "device", " .,": "device",
		"desk\u00a0": "desk", "\u3000desk": "desk", "desk.\u0085 ": "desk", "\u00a0": "device", "a\u00a0b": "a\u00a0b",
		"b\xffad\u2003": "b\ufffdad",
	} {
		got := CleanName(in)
		if got != want {
			t.Errorf("CleanName(%q) = %q, want %q", in, got, want)
		}
		c := gitstore.Commit{Tree: pack.ID{1}, Name: got, Email: "x@mem.invalid", Time: time.Unix(1e9, 0)}
		if _, err := gitstore.EncodeCommit(c); err != nil {
			t.Errorf("a commit of %q: %v", got, err)
		}
	}
}

func FuzzDecodeRecord(f *testing.F) {
	d := Device{ID: strings.Repeat("a", 32)}
	_, b, _ := NewRecord("note", d, 3, time.Unix(1e9, 0), map[string]string{"a": "<b>"})
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeRecord(b)
		if err != nil {
			return
		}
		again, err := r.Encode()
		if err != nil || !bytes.Equal(again, b) || r.ID != objects.Sum(b) {
			t.Fatalf("%q decodes to something that encodes to %q, %v", b, again, err)
		}
	})
}
