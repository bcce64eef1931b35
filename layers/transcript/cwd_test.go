package transcript

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

// TestCwd looks for the working directory in sessions whose first record is longer than what is looked at of most.
func TestCwd(t *testing.T) {
	t.Parallel()
	long := `"message":{"role":"user","content":"` + strings.Repeat("x", 8<<20) + `"}`
	next := `{"type":"user","cwd":"/other","message":{"role":"user","content":"a"}}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"before", `{"type":"user","cwd":"/w",` + long + "}\n" + next, "/w"},
		{"behind", `{"type":"user",` + long + `,"cwd":"/w"}` + "\n" + next, "/w"},
		{"none", `{"type":"user",` + long + "}\n" + strings.Repeat(`{"type":"progress"}`+"\n", 1000) + next, ""},
		{"without a line end", `{"cwd":"/w"}`, "/w"},
		{"short", `{"type":"summary"}` + "\n" + next, "/other"},
		{"garbage", strings.Repeat("x", 2<<20) + "\n" + next, ""},
	} {
		if got, err := Cwd(strings.NewReader(c.text)); got != c.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	broken := errors.New("broken")
	if got, err := Cwd(iotest.ErrReader(broken)); got != "" || !errors.Is(err, broken) {
		t.Errorf("unreadable: %q, %v", got, err)
	}
}
