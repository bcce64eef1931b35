package remote

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	abs := func(s string) string { return "/cwd/" + s }
	for _, c := range []struct {
		in       string
		want     URL
		text     string
		stripped bool
	}{
		{"hub.git", URL{Scheme: "file", Path: "/cwd/hub.git"}, "/cwd/hub.git", false},
		{"file:///srv/hub.git", URL{Scheme: "file", Path: "/srv/hub.git"}, "/srv/hub.git", false},
		{"git@host:me/memory.git", URL{Scheme: "ssh", User: "git", Host: "host", Path: "me/memory.git"}, "git@host:me/memory.git", false},
		{"host:memory.git", URL{Scheme: "ssh", Host: "host", Path: "memory.git"}, "host:memory.git", false},
		{"ssh://git@host:2222/me/m.git", URL{Scheme: "ssh", User: "git", Host: "host:2222", Path: "/me/m.git"}, "ssh://git@host:2222/me/m.git", false},
		{"ssh://git:pw@host/m.git", URL{Scheme: "ssh", User: "git", Host: "host", Path: "/m.git"}, "ssh://git@host/m.git", true},
		{"ssh://host/~/m.git", URL{Scheme: "ssh", Host: "host", Path: "~/m.git"}, "ssh://host/~/m.git", false},
		{"https://host/me/m.git/", URL{Scheme: "https", Host: "host", Path: "/me/m.git"}, "https://host/me/m.git", false},
		{"https://me:pw@host:8443/m.git", URL{Scheme: "https", Host: "host:8443", Path: "/m.git"}, "https://host:8443/m.git", true},
		{"https://host/a%2Fb/", URL{Scheme: "https", Host: "host", Path: "/a/b"}, "https://host/a%2Fb", false},
		{"HTTP://token@host/m.git", URL{Scheme: "http", Host: "host", Path: "/m.git"}, "http://host/m.git", true},
	} {
		got, stripped, err := ParseURL(c.in, abs)
		c.want.text = c.text
		if err != nil || got != c.want || stripped != c.stripped || got.String() != c.text {
			t.Errorf("ParseURL(%q) = %+v, %v, %v, want %+v, %v", c.in, got, stripped, err, c.want, c.stripped)
		}
		again, _, err := ParseURL(got.String(), nil)
		if err != nil || again != got {
			t.Errorf("ParseURL(%q) again = %+v, %v", got, again, err)
		}
	}
	for _, s := range []string{"", "ext::sh -c id", "fd::3", "ftp://host/x", "ssh://-oProxyCommand=x/y", "-oProxyCommand=x:y", "ssh://host", "ssh://host/", "host:", "host:-x", "https://", "https://h/x?y=z",
		"https://h/x#y", "file://other/x", "a\nb", "ssh://a b/c", "us'er@host:x", "https://u:p@:80:90/x",
		"https://h/x%0Ahost=other", "https://h/%00", "ssh://h/x%0ay", "ssh://u%0a@h/x", "file:///x%0ay",
		"file:///x?y", "file:///x#y", "ssh://h/x?y", "ssh://h/x#y"} {
		if u, _, err := ParseURL(s, abs); !errors.Is(err, ErrURL) {
			t.Errorf("ParseURL(%q) = %+v, %v, want ErrURL", s, u, err)
		} else if strings.Contains(err.Error(), "u:p") {
			t.Errorf("the error holds a password: %v", err)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"git@host:x", "ssh://h:1/x", "https://u:p@h/x", "file:///x", "x", "file:///://", "file:///x://y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, _, err := ParseURL(s, func(s string) string { return "/" + s })
		if err != nil {
			return
		}
		if u.Scheme == "ssh" && (strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User, "-") || strings.HasPrefix(u.Path, "-")) {
			t.Errorf("ParseURL(%q) = %+v, which ssh takes for an option", s, u)
		}
		again, _, err := ParseURL(u.String(), func(s string) string { return s })
		if err != nil || again.Scheme != u.Scheme || again.Path != u.Path || again.Host != u.Host {
			t.Errorf("ParseURL(%q) = %+v, and of that %+v, %v", s, u, again, err)
		}
	})
}

func FuzzAdvert(f *testing.F) {
	f.Add([]byte("003f0000000000000000000000000000000000000001 refs/heads/a\x00caps\n0000"))
	f.Add(append(pkt(nil, "%040d %s\x00%s", 1, "refs/heads/p/x", "side-band-64k"), flush...))
	f.Add([]byte("0009ERR x0000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := readAdvertisement(newPktReader(bytes.NewReader(b)))
		if err != nil {
			return
		}
		for _, r := range a.refs {
			if strings.Contains(r.Name, "..") || !strings.HasPrefix(r.Name, "refs/heads/") || r.ID.IsZero() {
				t.Errorf("branch %+v", r)
			}
		}
	})
}

func FuzzBand(f *testing.F) {
	f.Add([]byte("0006\x01x0006\x02y0000"))
	f.Fuzz(func(t *testing.T, b []byte) {
		said := 0
		n, err := io.Copy(io.Discard, newSideBand(newPktReader(bytes.NewReader(b)), func(s string) { said += len(s) }))
		if n+int64(said) > int64(len(b)) {
			t.Errorf("%d bytes and %d said, of %d: %v", n, said, len(b), err)
		}
	})
}

// TestRemoteMessages reads messages of remotes: progress that is overwritten, lines that end with CRLF, long lines, and
// a last line without an end.
func TestRemoteMessages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", maxMessage)
	in := "counting 1%\rcounting 2%\rcounted\nrejected by a hook\r\n" + long + "\nlast"
	want := []string{"counted", "rejected by a hook", long[:maxMessage], "last"}
	var got []string
	band := newSideBand(newPktReader(bytes.NewReader(append(pkt(nil, "\x02%s", in), flush...))),
		func(s string) { got = append(got, s) })
	if _, err := io.ReadAll(band); err != nil || !slices.Equal(got, want) {
		t.Errorf("printed %q, %v, want %q", got, err, want)
	}
	in = "a\r\n\n" + long + "x\nlast"
	want = []string{"a", long[:maxMessage], "last"}
	for _, size := range []int{len(in), 7} {
		stderr := newStderrLines()
		for chunk := range slices.Chunk([]byte(in), size) {
			if n, err := stderr.Write(chunk); n != len(chunk) || err != nil {
				t.Fatalf("Write = %d, %v", n, err)
			}
		}
		if got := stderr.text(); got != strings.Join(want, "; ") {
			t.Errorf("stderr in chunks of %d: %q, want %q", size, got, want)
		}
	}
	cut := newStderrLines()
	fmt.Fprintf(cut, "x%s\n", long)
	if got := cut.text(); got != "x"+long[:maxMessage-2] {
		t.Errorf("a long line was cut to %q", got)
	}
}

// A fake is a server that answers as it is told.
func fake(t *testing.T, advert, answer func(w http.ResponseWriter, r *http.Request)) *Client {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /m.git/info/refs", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-"+r.FormValue("service")+"-advertisement")
		advert(w, r)
	})
	for _, s := range []Service{Upload, Receive} {
		mux.HandleFunc("POST /m.git/"+string(s), func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/x-"+string(s)+"-result")
			answer(w, r)
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	u, _, err := ParseURL(server.URL+"/m.git", nil)
	if err != nil {
		t.Fatal(err)
	}
	return New(u, World{Agent: "mem/test", Quiet: 2 * time.Minute, Getenv: func(string) string { return "" }, // of a machine that others use too
		Command: func(ctx context.Context, _ []string, name string, args ...string) *exec.Cmd {
			return exec.CommandContext(ctx, "false")
		}})
}

func laneName(i int) string { return fmt.Sprintf("refs/heads/p/%016x/%032x", i, i) }

func oneLane(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "%s0000", pkt(nil, "# service=%s\n", r.FormValue("service")))
	w.Write(append(pkt(nil, "%040d %s\x00side-band-64k report-status", 1, laneName(1)), flush...))
}

func limits() pack.Limits {
	return pack.Limits{Bytes: 1 << 30, Objects: 1_000_000, Object: 64 << 20, Ratio: 100}
}

// TestHostileServers fetches from servers that mean ill. Each is told off soon, and with little memory.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	zeros := pack.Encode(pack.Blob, make([]byte, 32<<20), 9)
	bomb := func(w io.Writer, n int) {
		var size int64
		for range n {
			size += int64(zeros.Size())
		}
		pack.Stream(w, n, size, func(yield func(pack.Entry) error) error {
			for range n {
				if err := yield(zeros); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var bombs bytes.Buffer
	bomb(&bombs, 200) // before anybody waits for it
	band := func(w io.Writer, b []byte) {
		for len(b) > 0 {
			n := min(len(b), 65000)
			fmt.Fprintf(w, "%04x\x01", n+5)
			w.Write(b[:n])
			b = b[n:]
		}
	}
	nak := func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "0008NAK\n") }
	for name, c := range map[string]struct {
		advert, answer func(http.ResponseWriter, *http.Request)
		want           error
	}{
		"a page": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }, nil, ErrProtocol},
		"a million branches": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s0000", pkt(nil, "# service=%s\n", r.FormValue("service")))
			for i := range 1_000_000 {
				if _, err := w.Write(pkt(nil, "%040d %s\n", i+1, laneName(i))); err != nil {
					return
				}
			}
		}, nil, ErrTooMany},
		"an endless list": {func(w http.ResponseWriter, r *http.Request) {
			for {
				if _, err := w.Write(pkt(nil, "%040d refs/tags/x\n", 0)); err != nil {
					return
				}
			}
		}, nil, ErrProtocol},
		"huge names": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s0000", pkt(nil, "# service=%s\n", r.FormValue("service")))
			name := "refs/heads/" + strings.Repeat("x", 60_000)
			for i := range maxBranches {
				if _, err := w.Write(pkt(nil, "%040d %s\n", i+1, name)); err != nil {
					return
				}
			}
			io.WriteString(w, flush)
		}, nil, ErrProtocol},
		"cut off": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s0000", pkt(nil, "# service=%s\n", r.FormValue("service")))
			w.Write(pkt(nil, "%040d %s\n", 1, laneName(1)))
		}, nil, ErrDropped},
		"an error": {func(w http.ResponseWriter, r *http.Request) { w.Write(pkt(nil, "ERR Repository not found.")) }, nil, ErrAbsent},
		"a bomb": {oneLane, func(w http.ResponseWriter, r *http.Request) {
			nak(w, r)
			band(w, bombs.Bytes())
			io.WriteString(w, flush)
		}, pack.ErrTooLarge},
		"a huge number of objects": {oneLane, func(w http.ResponseWriter, r *http.Request) {
			nak(w, r)
			band(w, binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), 1<<31))
		}, pack.ErrTooLarge},
		"a broken pack": {oneLane, func(w http.ResponseWriter, r *http.Request) {
			nak(w, r)
			band(w, []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01garbage garbage"))
			io.WriteString(w, flush)
		}, pack.ErrCorrupt},
		"no pack": {oneLane, func(w http.ResponseWriter, r *http.Request) { nak(w, r) }, ErrDropped},
		"a refusal": {oneLane, func(w http.ResponseWriter, r *http.Request) {
			w.Write(pkt(nil, "ERR upload-pack: not our ref"))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			start := time.Now()
			err := fetchFrom(ctx, t, fake(t, c.advert, c.answer))
			t.Logf("refused after %v", time.Since(start).Round(time.Millisecond))
			runtime.ReadMemStats(&after)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if used := int64(after.HeapSys) - int64(before.HeapSys); used > 256<<20 {
				t.Errorf("it took %d MB", used>>20)
			}
		})
	}
}

func fetchFrom(ctx context.Context, t *testing.T, c *Client) error {
	s, err := c.Open(ctx, Upload)
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := pack.Create(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	_, err = s.Fetch(ctx, []pack.ID{{1}}, nil, w, limits())
	return err
}

// TestRedirects follows a server to another path, and to no other host.
func TestRedirects(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s was asked of the other host", r.Method, r.URL)
	}))
	defer other.Close()
	to := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/old") {
			http.Redirect(w, r, to+strings.Replace(r.URL.RequestURI(), "/old", "/new", 1), http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		oneLane(w, r)
	}))
	defer server.Close()
	u, _, err := ParseURL(server.URL+"/old", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(u, World{}).Open(context.Background(), Upload)
	if err != nil || len(s.Refs()) != 1 || s.(*httpSession).base != server.URL+"/new" {
		t.Errorf("redirected on the same host: %+v, %v", s, err)
	}
	inside, _, err := ParseURL(server.URL+"/old/info/refs/m.git", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err = New(inside, World{}).Open(context.Background(), Upload)
	if err != nil || s.(*httpSession).base != server.URL+"/new/info/refs/m.git" {
		t.Errorf("redirected below /info/refs: %+v, %v", s, err)
	}
	to = "/list?from="
	if _, err := New(u, World{}).Open(context.Background(), Upload); !errors.Is(err, ErrProtocol) {
		t.Errorf("redirected to another kind of path: %v", err)
	}
	to = other.URL
	if _, err := New(u, World{}).Open(context.Background(), Upload); err == nil || !strings.Contains(err.Error(), "redirects to") {
		t.Errorf("redirected to another host: %v", err)
	}
}

// TestApprove lets a conversation begin while git's credential helpers are told that the password was right. It does not end before they know,
// nor does an attempt that fails.
func TestApprove(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no printf to stand for git")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git, which would be looked for")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var told atomic.Int32
	var broken atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "pw" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		if !broken.Load() {
			oneLane(w, r)
		}
	}))
	defer server.Close()
	u, _, err := ParseURL(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan struct{})
	client := func() *Client {
		return New(u, World{Command: func(ctx context.Context, _ []string, _ string, args ...string) *exec.Cmd {
			if args[1] == "approve" {
				select {
				case <-opened:
				case <-ctx.Done():
				}
				told.Add(1)
			}
			return exec.CommandContext(ctx, "printf", `username=me\npassword=pw\n`)
		}})
	}
	s, err := client().Open(ctx, Upload)
	if err != nil {
		t.Fatal(err)
	}
	if told.Load() != 0 {
		t.Error("it waited for the helpers")
	}
	close(opened)
	if err := s.Close(); err != nil || told.Load() != 1 {
		t.Errorf("closed: %v, the helpers were told %d times, want once", err, told.Load())
	}
	broken.Store(true)
	if _, err := client().Open(ctx, Upload); err == nil || told.Load() != 2 {
		t.Errorf("failed: %v, the helpers were told %d times, want twice", err, told.Load())
	}
}

// TestCredentialErrors asks for a password when git's credential helpers have none, cannot run, or the user cancels.
func TestCredentialErrors(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	u, _, err := ParseURL(server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		program string
		cancel  bool
		want    error
	}{
		"none":           {program: "false", want: ErrAuth},
		"not installed":  {program: "no-such-program-of-mem", want: ErrAuth},
		"cannot start":   {program: t.TempDir(), want: os.ErrPermission},
		"user cancelled": {program: "false", cancel: true, want: context.Canceled},
	} {
		if name == "cannot start" && runtime.GOOS == "windows" {
			continue // a directory is no program there
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err := New(u, World{Command: func(ctx context.Context, _ []string, _ string, _ ...string) *exec.Cmd {
			if c.cancel {
				cancel()
			}
			return exec.CommandContext(ctx, c.program)
		}}).Open(ctx, Upload)
		cancel()
		if !errors.Is(err, c.want) || c.want != ErrAuth && errors.Is(err, ErrAuth) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestReports reads what servers say became of a push.
func TestReports(t *testing.T) {
	t.Parallel()
	b := Batch{Updates: []Update{{Ref: laneName(1), New: pack.ID{1}}}, Entries: func(func(pack.Entry) error) error { return nil }}
	report := func(lines ...string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			var in []byte
			for _, l := range lines {
				in = pkt(in, "%s\n", l)
			}
			in = append(in, flush...)
			fmt.Fprintf(w, "%04x\x01%s%04x\x02hello\n0000", len(in)+5, in, 11)
		}
	}
	push := func(answer func(http.ResponseWriter, *http.Request)) error {
		c := fake(t, oneLane, answer)
		said := ""
		c.world.Print = func(s string) { said += s }
		s, err := c.Open(context.Background(), Receive)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Push(context.Background(), b)
		if err == nil && said != "hello" {
			t.Errorf("it said %q", said)
		}
		return err
	}
	if err := push(report("unpack ok", "ok "+laneName(1))); err != nil {
		t.Errorf("a push that went well: %v", err)
	}
	var rejected *RejectedError
	if err := push(report("unpack ok", "ng "+laneName(1)+" hook declined")); !errors.As(err, &rejected) || rejected.Why[0] != "hook declined" {
		t.Errorf("a push that was rejected: %v", err)
	}
	if err := push(report("unpack index-pack abnormal exit")); !errors.Is(err, ErrRejected) {
		t.Errorf("a push that was not unpacked: %v", err)
	}
	if err := push(report("unpack ok")); !errors.Is(err, ErrProtocol) {
		t.Errorf("a push without a word of the branch: %v", err)
	}
	if err := push(report("unpack ok", "ng "+laneName(2)+" no")); !errors.Is(err, ErrProtocol) {
		t.Errorf("a report about another branch: %v", err)
	}
	endless := pkt(nil, "ng %s no\n", laneName(2))
	endless = pkt(nil, "\x01%s", bytes.Repeat(endless, 60_000/len(endless)))
	err := push(func(w http.ResponseWriter, r *http.Request) {
		for range 5000 { // 300 MB
			if _, err := w.Write(endless); err != nil {
				return
			}
		}
		t.Error("an endless report was read to its end")
	})
	if err == nil {
		t.Error("an endless report: no error")
	}
}

// TestEarlyAnswers pushes to servers that answer before they have read the pack. Nothing reads entries after Push.
func TestEarlyAnswers(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"forbidden": http.StatusForbidden, "login": http.StatusUnauthorized} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := fake(t, oneLane, nil)
			s, err := c.Open(t.Context(), Receive)
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
			}))
			defer server.Close()
			s.(*httpSession).base = server.URL
			e := pack.Encode(pack.Blob, make([]byte, 8<<20), 0)
			var running atomic.Int32
			entries := func(yield func(pack.Entry) error) error {
				running.Add(1)
				defer running.Add(-1)
				for range 16 {
					if err := yield(e); err != nil {
						return err
					}
				}
				return nil
			}
			err = s.Push(t.Context(), Batch{Objects: 16, Size: 16 * int64(e.Size()), Entries: entries})
			if !errors.Is(err, ErrAuth) {
				t.Errorf("Push: %v, want ErrAuth", err)
			}
			if n := running.Load(); n != 0 {
				t.Errorf("%d goroutines still read entries", n)
			}
		})
	}
}

// TestDirErrors opens directories that are no repositories.
func TestDirErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "nothing")} {
		u, _, err := ParseURL(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(u, World{}).Open(context.Background(), Upload); !errors.Is(err, ErrAbsent) {
			t.Errorf("Open(%s): %v, want ErrAbsent", path, err)
		}
	}
}

// TestManyBranches opens remotes that list as many branches as there may be, and tags beside, and one branch more.
func TestManyBranches(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub.git")
	if err := gitstore.Init(dir); err != nil {
		t.Fatal(err)
	}
	u, _, err := ParseURL(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	inDir := New(u, World{})
	file := func(n int) *Client {
		var b bytes.Buffer
		for i := range n {
			fmt.Fprintf(&b, "%040d %s\n", i+1, laneName(i))
		}
		fmt.Fprintf(&b, "%040d refs/tags/v1\n", 1)
		if err := os.WriteFile(filepath.Join(dir, "packed-refs"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return inDir
	}
	listed := func(n int) *Client {
		return fake(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s0000", pkt(nil, "# service=%s\n", r.FormValue("service")))
			for i := range n {
				if _, err := w.Write(pkt(nil, "%040d %s\n", i+1, laneName(i))); err != nil {
					return
				}
			}
			w.Write(append(pkt(nil, "%040d refs/tags/v1\n", 1), flush...))
		}, nil)
	}
	for name, c := range map[string]struct {
		open func() *Client
		ok   bool
	}{
		"http": {func() *Client { return listed(maxBranches) }, true}, "http, one more": {func() *Client { return listed(maxBranches + 1) }, false},
		"directory":           {func() *Client { return file(maxBranches) }, true},
		"directory, one more": {func() *Client { return file(maxBranches + 1) }, false},
		"directory, a huge file": {func() *Client {
			client := file(1)
			if err := os.Truncate(filepath.Join(dir, "packed-refs"), 1<<30); err != nil {
				t.Fatal(err)
			}
			return client
		}, false},
	} {
		s, err := c.open().Open(context.Background(), Upload)
		switch {
		case !c.ok && errors.Is(err, ErrTooMany):
		case !c.ok:
			t.Errorf("%s: %v, want ErrTooMany", name, err)
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case len(s.Refs()) != maxBranches:
			t.Errorf("%s: %d branches, want %d", name, len(s.Refs()), maxBranches)
		}
		if s != nil {
			s.Close()
		}
	}
}

// made returns the objects of a commit on top of another, of which somebody says something.
func made(t testing.TB, parent pack.ID, text string) (pack.ID, []pack.Entry) {
	t.Helper()
	blob := pack.Encode(pack.Blob, []byte(text), 1)
	b, err := gitstore.EncodeTree([]gitstore.TreeEntry{{Name: "format", ID: blob.ID}})
	if err != nil {
		t.Fatal(err)
	}
	tree := pack.Encode(pack.Tree, b, 1)
	if b, err = gitstore.EncodeCommit(gitstore.Commit{Tree: tree.ID, Parent: parent, Name: "a", Email: "a@b", Time: time.Unix(0, 0), Message: text}); err != nil {
		t.Fatal(err)
	}
	commit := pack.Encode(pack.Commit, b, 1)
	return commit.ID, []pack.Entry{blob, tree, commit}
}

// batch sends objects and moves a branch.
func batch(ref string, at, id pack.ID, entries []pack.Entry) Batch {
	return Batch{Updates: []Update{{ref, at, id}}, Entries: func(yield func(pack.Entry) error) error {
		for _, e := range entries {
			if err := yield(e); err != nil {
				return err
			}
		}
		return nil
	}}
}

// TestPushesAtOnce pushes to the same branch of a directory from several sides at once, as one store does under two names and all members
// of an encrypted remote do: who was told that it was taken is in the branch, and nobody hears of more than that it was not.
func TestPushesAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub.git")
	if err := gitstore.Init(dir); err != nil {
		t.Fatal(err)
	}
	const ref = "refs/heads/keys"
	var mu sync.Mutex
	taken := map[pack.ID]bool{}
	var sides sync.WaitGroup
	for side := range 3 {
		sides.Go(func() {
			for i := range 20 {
				c := New(URL{Scheme: "file", Path: dir}, World{Mark: fmt.Sprintf("device%d", side/2)})
				s, err := c.Open(t.Context(), Receive)
				if err != nil {
					t.Error(err)
					return
				}
				var at pack.ID
				for _, r := range s.Refs() {
					at = r.ID
				}
				id, entries := made(t, at, fmt.Sprintf("%d of %d", i, side))
				if err = s.Push(t.Context(), batch(ref, at, id, entries)); err == nil {
					mu.Lock()
					taken[id] = true
					mu.Unlock()
				} else if !errors.Is(err, ErrRejected) {
					t.Errorf("Push: %v", err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	sides.Wait()
	g, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	id, err := g.Ref(ref)
	for n := 0; !id.IsZero() && err == nil; n++ {
		var c gitstore.Commit
		if c, err = g.Commit(id); !taken[id] {
			t.Errorf("commit %q is in the branch, and nobody was told so", c.Message)
		}
		delete(taken, id)
		id = c.Parent
	}
	if err != nil || len(taken) > 0 {
		t.Errorf("%d commits were taken and are not in the branch, %v", len(taken), err)
	}
}

// TestSweepBesidePush takes out of a directory what one device has forgotten while another one pushes the very same: that stays.
func TestSweepBesidePush(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hub.git")
	if err := gitstore.Init(dir); err != nil {
		t.Fatal(err)
	}
	g, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	push := func(who, ref, text string, drop bool) pack.ID {
		c := New(URL{Scheme: "file", Path: dir}, World{Mark: who})
		s, err := c.Open(t.Context(), Receive)
		if err != nil {
			t.Error(err)
			return pack.ID{}
		}
		var at pack.ID
		for _, r := range s.Refs() {
			if r.Name == ref {
				at = r.ID
			}
		}
		id, entries := made(t, pack.ID{}, text)
		if err = s.Push(t.Context(), batch(ref, at, id, entries)); err == nil && drop {
			_, err = c.Sweep(t.Context(), nil)
		}
		if err = errors.Join(err, s.Close()); err != nil {
			t.Errorf("%s: %v", who, err)
		}
		return id
	}
	for i := range 40 {
		same := fmt.Sprintf("what both have, %d", i)
		push("laptop", "refs/heads/laptop", same, false)
		var sides sync.WaitGroup
		sides.Go(func() { push("laptop", "refs/heads/laptop", fmt.Sprintf("what is left, %d", i), true) })
		id := push("desk", fmt.Sprintf("refs/heads/desk%d", i), same, false)
		sides.Wait()
		c, err := g.Commit(id)
		if err == nil {
			_, err = g.Tree(c.Tree)
		}
		if err == nil {
			_, err = g.Get(pack.Name(pack.Blob, []byte(same)), pack.Blob)
		}
		if err != nil {
			t.Fatalf("what the desk has pushed: %v", err)
		}
	}
}
