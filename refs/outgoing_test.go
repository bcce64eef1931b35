package refs

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
)

// pieces reads what visits pieces: a line for each, with the bytes that a remote lacks.
func pieces(t testing.TB, visit func(func(Piece) error) error) (lines []string) {
	t.Helper()
	if err := visit(func(p Piece) error {
		b, err := io.ReadAll(p.Content)
		if err != nil {
			return err
		}
		if int64(len(b)) != p.Size {
			t.Errorf("%s %s: %d bytes, the size is %d", p.Kind, p.Name.Short(), len(b), p.Size)
		}
		if p.Kind == "stream" && (objects.Sum(b) != p.End || p.From > int64(len(b))) {
			t.Errorf("stream %s: the hashes of %d and of %d bytes do not match", p.Name.Short(), p.From, len(b))
		}
		text := string(b[p.From:])
		if p.Kind == "commit" {
			text, _, _ = strings.Cut(strings.SplitN(text, "\n", 3)[2], "\n")
		}
		if p.Kind == "record" || p.Kind == "point" {
			text = ""
		}
		lines = append(lines, strings.TrimSpace(p.Kind+" "+text))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestOutgoing grows a stream in two commits: all is outgoing at first, then only what is newer, and of the stream only
// its new end.
func TestOutgoing(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	name, tail := stream.Name("s", 0), &stream.Tail{Hash: objects.NewHasher()}
	add := func(base int, text, object string) Lane {
		t.Helper()
		if _, err := grow(t, r, name, tail, base, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := r.Update(t.Context(), testProject, "put "+object, func(tx *Tx) error {
			_, err := tx.Put(t.Context(), strings.NewReader(object))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return ownLane(t, r, testProject)
	}
	first := add(0, "one\n", "object 1")
	second := add(1, "two\n", "object 2")
	outgoing := func(have Lane) []string {
		return pieces(t, func(visit func(Piece) error) error {
			return r.Outgoing(t.Context(), second, func(c string) bool { return c == have.Tip.String() }, visit)
		})
	}
	all := outgoing(Lane{})
	for _, want := range []string{"commit put object 1", "commit put object 2", "object object 1", "object object 2", "format mem 1", "record", "stream one\ntwo"} {
		if !slices.Contains(all, want) {
			t.Errorf("outgoing are %q, without %q", all, want)
		}
	}
	if got := outgoing(first); !slices.Equal(got, []string{"commit grow", "point", "commit put object 2", "object object 2", "stream two"}) {
		t.Errorf("after the first push outgoing are %q", got)
	}
	if got := outgoing(second); got != nil {
		t.Errorf("after the last push outgoing are %q", got)
	}

	stop := errors.New("stop")
	n := 0
	visit := func(Piece) error { n++; return stop }
	none := func(string) bool { return false }
	if err := r.Outgoing(t.Context(), second, none, visit); !errors.Is(err, stop) || n != 1 {
		t.Errorf("after an error: %v after %d pieces", err, n)
	}
	if err := r.Outgoing(t.Context(), Lane{Project: "00000000000000cc", Device: second.Device}, none, visit); err != nil || n != 1 {
		t.Errorf("of no lane: %v after %d pieces", err, n-1)
	}
}

// TestOutgoingAfterRestart reads a lane that restarted without an object: it is not among the pieces.
func TestOutgoingAfterRestart(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	var secret objects.Hash
	if err := r.Update(t.Context(), testProject, "put", func(tx *Tx) (err error) {
		for i := range 2 {
			if secret, err = tx.Put(t.Context(), strings.NewReader(fmt.Sprint("object ", i))); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := r.Rewrite(t.Context(), testProject, "forget", func(old, tx *Tx) error {
		return tx.CopyFrom(old, func(_ string, h objects.Hash) bool { return h != secret })
	}); err != nil {
		t.Fatal(err)
	}
	got := pieces(t, func(visit func(Piece) error) error {
		return r.Outgoing(t.Context(), ownLane(t, r, testProject), func(string) bool { return false }, visit)
	})
	if slices.Contains(got, "object object 1") || !slices.Contains(got, "object object 0") || !slices.Contains(got, "commit forget") ||
		slices.Contains(got, "commit put") {
		t.Errorf("after a restart without an object the pieces are %q", got)
	}
}
