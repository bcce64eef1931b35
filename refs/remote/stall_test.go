package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memvcs/mem/objects/pack"
)

// little is a limit that servers who send nothing reach soon.
const little = 20 * time.Millisecond

// tag is a line of a list that nobody wants.
const tag = "003d0000000000000000000000000000000000000000 refs/tags/x1234\n"

func wantStalled(t *testing.T, ctx context.Context, err error) {
	t.Helper()
	var stalled *StalledError
	if !errors.As(err, &stalled) || !errors.Is(err, ErrDropped) || ctx.Err() != nil {
		t.Errorf("%v, want a StalledError", err)
	}
}

// TestStalledServers fetches from and pushes to servers that send nothing, or nothing that matters, and never end. Nothing waits for ever.
func TestStalledServers(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is it seen that the other side has gone
		<-r.Context().Done()
	}
	again := func(first, text string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // as above
			io.WriteString(w, first)
			for {
				if _, err := io.WriteString(w, text); err != nil || r.Context().Err() != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(2 * time.Millisecond) // a server that lives
			}
		}
	}
	for name, c := range map[string]struct {
		advert, answer func(http.ResponseWriter, *http.Request)
		push           bool
	}{
		"no list":         {advert: hang},
		"an endless list": {advert: again("001e# service=git-upload-pack\n0000", tag)},
		"no answer":       {advert: oneLane, answer: hang},
		"no pack": {advert: oneLane, answer: func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "0008NAK\n")
			w.(http.Flusher).Flush()
			hang(w, r)
		}},
		"endless progress":      {advert: oneLane, answer: again("0008NAK\n", "000d\x02working\n")},
		"endless signs of life": {advert: oneLane, answer: again("0008NAK\n", "0005\x01")},
		"no word on a push":     {advert: oneLane, answer: hang, push: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			client := fake(t, c.advert, c.answer)
			client.world.Quiet = little
			if c.push {
				wantStalled(t, ctx, pushTo(ctx, client, 1))
				return
			}
			wantStalled(t, ctx, fetchFrom(ctx, t, client))
		})
	}
}

// pushTo pushes n small objects.
func pushTo(ctx context.Context, c *Client, n int) error {
	s, err := c.Open(ctx, Receive)
	if err != nil {
		return err
	}
	e := pack.Encode(pack.Blob, make([]byte, 100), 0)
	err = s.Push(ctx, Batch{Updates: []Update{{Ref: laneName(2), New: pack.ID{1}}}, Objects: n, Size: int64(n * e.Size()), Entries: func(yield func(pack.Entry) error) error {
		for range n {
			if err := yield(e); err != nil {
				return err
			}
		}
		return nil
	}})
	return errors.Join(err, s.Close())
}

// TestStalledSSH talks to servers behind ssh that do the same, and to one that does not end when it is told to.
func TestStalledSSH(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("SKIPPED: there is no shell to be the server")
	}
	line := string(pkt(nil, "%040d %s", 1, laneName(1)+`\000side-band-64k report-status`))
	list := fmt.Sprintf("printf '%04x%s0000'; ", len(line)-3, line[4:])
	in := string(pkt(nil, "unpack ok\n")) + string(pkt(nil, "ok %s\n", laneName(2))) + flush
	report := fmt.Sprintf("printf '%04x\\001%s0000'; ", len(in)+5, strings.ReplaceAll(in, "\n", `\n`))
	for name, c := range map[string]struct {
		script string
		push   int
		fine   bool // it does what is wanted, but never ends
	}{
		"no list":               {script: "sleep 60"},
		"half a list":           {script: "printf 00; sleep 60"},
		"an endless list":       {script: "while :; do printf '" + strings.ReplaceAll(tag, "\n", `\n`) + "' || exit; sleep 0.002; done"},
		"no answer":             {script: list + "sleep 60"},
		"no pack":               {script: list + "printf '0008NAK\\n'; sleep 60"},
		"endless signs of life": {script: list + "printf '0008NAK\\n'; while :; do printf '0005\\001' || exit; sleep 0.002; done"},
		"a shell in between":    {script: list + "(sleep 60); :"},
		"it does not listen":    {script: list + "sleep 60", push: 20_000},
		"no word on a push":     {script: list + "cat > /dev/null; sleep 60", push: 1},
		"no end":                {script: list + report + "cat > /dev/null; exec sleep 60", push: 1, fine: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			quiet := little
			if c.fine { // the shell has its time to do it
				quiet = 3 * time.Second
			}
			client := New(URL{Scheme: "ssh", Host: "host", Path: "/m.git"}, World{Quiet: quiet, Getenv: func(string) string { return "" },
				Command: func(ctx context.Context, _ []string, _ string, _ ...string) *exec.Cmd {
					return exec.CommandContext(ctx, sh, "-c", c.script)
				}})
			var err error
			if c.push > 0 {
				err = pushTo(ctx, client, c.push)
			} else {
				err = fetchFrom(ctx, t, client)
			}
			if c.fine {
				if err != nil || ctx.Err() != nil {
					t.Errorf("%v, want no error: all was done", err)
				}
				return
			}
			wantStalled(t, ctx, err)
		})
	}
}

// TestPushSSHStoreError pushes data that cannot be read: the error is that of the store, and the push does not wait for
// the remote.
func TestPushSSHStoreError(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("SKIPPED: there is no shell to be the server")
	}
	line := string(pkt(nil, "%040d %s", 1, laneName(1)+`\000report-status`))
	script := fmt.Sprintf("printf '%04x%s0000'; cat > /dev/null; exec sleep 60", len(line)-3, line[4:])
	client := New(URL{Scheme: "ssh", Host: "host", Path: "/m.git"}, World{Quiet: time.Second,
		Getenv: func(string) string { return "" },
		Command: func(ctx context.Context, _ []string, _ string, _ ...string) *exec.Cmd {
			return exec.CommandContext(ctx, sh, "-c", script)
		}})
	s, err := client.Open(t.Context(), Receive)
	if err != nil {
		t.Fatal(err)
	}
	broken, start := errors.New("broken store"), time.Now()
	err = s.Push(t.Context(), Batch{Updates: []Update{{Ref: laneName(2), New: pack.ID{1}}}, Objects: 1, Size: 100,
		Entries: func(func(pack.Entry) error) error { return broken }})
	if !errors.Is(err, broken) || errors.Is(err, ErrDropped) {
		t.Errorf("Push: %v, want %v", err, broken)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("it waited for %v", d)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestSlowReader lets who reads take its time with what came: that is no silence of the server. A server that is silent is found out all the same.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended error
		in, out := io.Pipe()
		w := World{Quiet: little}.stallTimer(func(err error) { ended = err; in.CloseWithError(err) })
		go io.WriteString(out, "abc")
		l := &stallReader{r: in, w: w, limit: little}
		w.expect(little)
		b := make([]byte, 1)
		for range 3 {
			if _, err := l.Read(b); err != nil || ended != nil {
				t.Fatalf("a reader that is slow: %v, %v", err, ended)
			}
			time.Sleep(10 * little)
		}
		var stalled *StalledError
		if _, err := l.Read(b); !errors.As(err, &stalled) || !errors.As(ended, &stalled) {
			t.Errorf("a server that is silent: %v, %v, want a StalledError", err, ended)
		}
		w.stop()
	})
}
