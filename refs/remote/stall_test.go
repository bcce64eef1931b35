package remote

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"
)

// TestStalledServers fetches from servers that send nothing, or nothing that matters, and never end. No fetch waits for ever.
func TestStalledServers(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is it seen that the other side has gone
		<-r.Context().Done()
	}
	again := func(text string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // as above
			io.WriteString(w, "0008NAK\n")
			for {
				if _, err := io.WriteString(w, text); err != nil || r.Context().Err() != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(5 * time.Millisecond) // a server that lives
			}
		}
	}
	for name, c := range map[string]struct {
		advert, answer func(http.ResponseWriter, *http.Request)
	}{
		"no list":   {hang, nil},
		"no answer": {oneLane, hang},
		"no pack": {oneLane, func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "0008NAK\n")
			w.(http.Flusher).Flush()
			hang(w, r)
		}},
		"endless progress":      {oneLane, again("000d\x02working\n")},
		"endless signs of life": {oneLane, again("0005\x01")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			client := fake(t, c.advert, c.answer)
			client.world.Quiet = 50 * time.Millisecond
			err := fetchFrom(ctx, t, client)
			var stalled *StalledError
			if !errors.As(err, &stalled) || ctx.Err() != nil {
				t.Errorf("%v, want a StalledError", err)
			}
		})
	}
}
