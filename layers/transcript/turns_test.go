package transcript

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	const (
		u1   = `{"type":"user","uuid":"u1","cwd":"/a","message":{"content":"one"}}` + "\n"
		a1   = `{"type":"assistant","uuid":"a1","cwd":"/a"}` + "\n"
		here = `{"type":"user","uuid":"u1","cwd":"/b","message":{"content":"[one]"}}` + "\n" // another machine
		u2   = `{"type":"user","uuid":"u2"}` + "\n"
		cost = `{"type":"cost-state"}` + "\n"
		note = `{"type":"system","uuid":"s1"}` + "\n"
		bare = `{"type":"user","timestamp":"t","message":{"content":"x"}}` + "\n"
		torn = `{"type":"user","uuid":"u2","mess`
	)
	for _, c := range []struct {
		a, b         string
		turns        int
		moreA, moreB bool
		continued    bool
	}{
		{u1 + a1, here + a1, 2, false, false, true},
		{u1 + a1, u1 + a1 + u2, 2, false, true, true},
		{u1 + a1 + u2, u1 + a1, 2, true, false, false},
		{u1 + a1 + cost + note, u1 + a1 + u2, 2, false, true, true},
		{u1 + a1, u1 + u2, 1, true, true, false},
		{u1 + cost + a1, u1 + a1, 2, false, false, true},
		{u1 + a1 + torn, u1 + a1 + u2, 2, false, true, true},
		{bare + a1, bare + a1 + u2, 2, false, true, true},
		{bare, strings.ReplaceAll(bare, "x", "y"), 0, true, true, false},
		{"", u1, 0, false, true, false},
		{u1 + a1, strings.Replace(u1, "one", "another text", 1) + a1, 0, true, true, false}, // the same uuid, other words
		{strings.Replace(u1, "one", "see /a/x for the first and the last: TOKEN_1", 1), strings.Replace(u1, "one", "see /b/y for the first and the last: [secret]", 1), 1, false, false, true},
		{"no json\n", "no json\n" + u1, 0, false, true, false},
		{u1, "", 0, true, false, false},
	} {
		got, err := Compare(strings.NewReader(c.a), strings.NewReader(c.b))
		if err != nil || got.Turns != c.turns || got.MoreA != c.moreA || got.MoreB != c.moreB || got.Continued() != c.continued {
			t.Errorf("%q and %q: %+v, %v; want %+v", c.a, c.b, got, err, c)
		}
	}
	got, err := Compare(strings.NewReader(u1+a1+cost), strings.NewReader(here+a1+u2))
	if err != nil || got.EndA != int64(len(u1+a1)-1) || got.EndB != int64(len(here+a1)-1) {
		t.Errorf("the common part ends at %+v, %v", got, err)
	}
	broken := errors.New("broken")
	for _, pair := range [][2]io.Reader{{iotest.ErrReader(broken), strings.NewReader(u1)}, {strings.NewReader(u1), iotest.ErrReader(broken)}} {
		if _, err := Compare(pair[0], pair[1]); !errors.Is(err, broken) {
			t.Errorf("a file that cannot be read: %v", err)
		}
	}
}
