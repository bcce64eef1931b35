package transcript

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// TestScannerBehindLimit scans a record whose message and tool result are longer than what is held of it, cut in every way, and
// wants of it what stands before, between and behind them.
func TestScannerBehindLimit(t *testing.T) {
	t.Parallel()
	const limit = 3 * maxShortMember
	long := strings.Repeat("long ", limit)
	for _, c := range []struct{ name, message, title string }{
		{"text", `{"role":"user","content":"Mend the \"shop\" ` + long + `"}`, "Mend the"},
		{"block", `{"role":"user","content":[{"type":"image","source":{"data":"AAAA"}},{"type":"text","text":"Mend the shop ` + long + `"}]}`, "Mend the"},
		{"image", `{"role":"user","content":[{"type":"image","source":{"data":"` + long + `"}},{"type":"text","text":"late"}]}`, ""},
		{"command", `{"role":"user","content":"<local-command-stdout>` + long + `"}`, ""},
	} {
		line := `{"type":"user","message":` + c.message + `,"uuid":"u1","timestamp":"2026-01-15T10:00:00Z", "cwd" : "C:\\w",` +
			`"toolUseResult":"` + long + `","sessionId":"s1","gitBranch":"` + strings.Repeat("b", 3000) + `","version":"` + strings.Repeat("v", maxShortMember) + `"}`
		in := line + "\n" + `{"type":"assistant","gitBranch":"main","message":{"id":"m"}}` + "\n"
		one := limited(in, len(in), limit)
		if one.Cwd != `C:\w` || one.SessionID != "s1" || one.First.IsZero() || one.Version != "" || one.Branch != "main" || one.Typed != 0 || !strings.HasPrefix(one.Title, c.title) || (one.Title == "") != (c.title == "") {
			t.Errorf("%s: %+v", c.name, one)
		}
		for _, glued := range []string{in, `{"torn":"` + in, "\n{}" + in} {
			one := limited(glued, len(glued), limit)
			for chunk := 1; chunk < len(glued); chunk += 1 + chunk/8 {
				if got := limited(glued, chunk, limit); !reflect.DeepEqual(got, one) {
					t.Fatalf("%s in chunks of %d: %+v, want %+v", c.name, chunk, got, one)
				}
			}
		}
	}
}

// limited scans text in chunks, holding only so much of a value.
func limited(text string, chunk, limit int) Carry {
	sc := NewScanner(Carry{}, func([]byte) (sum [32]byte) { return sum })
	sc.h.limit = limit
	for len(text) > 0 {
		n := min(chunk, len(text))
		fmt.Fprint(sc, text[:n])
		text = text[n:]
	}
	return sc.Summary().Carry
}

// TestCwd looks for the working directory in sessions whose first record is longer than what is looked at of most.
func TestCwd(t *testing.T) {
	t.Parallel()
	long := `"message":{"role":"user","content":"` + strings.Repeat("x", headLimit) + `"}`
	next := `{"type":"user","cwd":"/other","message":{"role":"user","content":"a"}}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"before", `{"type":"user","cwd":"/w",` + long + "}\n" + next, "/w"},
		{"behind", `{"type":"user",` + long + `,"cwd":"/w"}` + "\n" + next, "/w"},
		{"not closed", `{"cwd":"/w",` + long, "/w"},
		{"none", `{"type":"user",` + long + "}\n" + strings.Repeat(`{"type":"progress"}`+"\n", 1000) + next, ""},
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
