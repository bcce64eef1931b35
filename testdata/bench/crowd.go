package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	crowdClients = 64
	crowdPause   = time.Second // between two pages of a client
	crowdRounds  = 20
)

// crowd measures how much 64 clients that read pages slow down the writers next to them: a capture, as a hook makes it, and a
// compression. Rounds with and without readers alternate.
func (b *bench) crowd(c corpus) (rows []row, err error) {
	s, err := b.serveSite()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	projects, all, err := s.sessions()
	if err != nil {
		return nil, err
	}
	paths := []string{"/", "/search?q=error"}
	for _, p := range projects {
		paths = append(paths, "/p/"+p, "/p/"+p+"/next", "/p/"+p+"/history")
	}
	for _, one := range all[:min(webSessions, len(all))] {
		paths = append(paths, "/s/"+one.ID, "/s/"+one.ID+"/transcript")
	}
	middle := all[min(webSessions, len(all)-1)]
	source := filepath.Join(b.tmp, "crowd", "0c0c0c0c-0000-4000-8000-000000000001.jsonl")
	if err := os.MkdirAll(filepath.Dir(source), 0o700); err != nil {
		return nil, err
	}
	lines, shrunk := 0, 3
	capture := func(name string) *probe {
		p := &probe{name: name, argv: []string{b.mem, "add", source}}
		p.prep = func() error {
			lines++
			return appendLines(source, lines)
		}
		return p
	}
	compress := func(name string) *probe {
		p := &probe{name: name}
		p.prep = func() error { // a ratio that was not asked for before: else it would be found
			shrunk++
			p.argv = []string{b.mem, "compress", middle.ID, "--ratio", fmt.Sprint(shrunk)}
			return nil
		}
		return p
	}
	alone := []*probe{capture("capture alone"), compress("compress alone")}
	loaded := []*probe{capture("capture next to them"), compress("compress next to them")}
	var read, failed atomic.Int64
	var first atomic.Value
	for range crowdRounds {
		if err := b.round(alone...); err != nil {
			return nil, err
		}
		ctx, stop := context.WithCancel(context.Background())
		var clients sync.WaitGroup
		for i := range crowdClients {
			clients.Go(func() {
				pause(ctx, crowdPause*time.Duration(i)/crowdClients)
				for n := i; ctx.Err() == nil; n++ {
					if err := s.whole(paths[n%len(paths)]); err != nil {
						failed.Add(1)
						first.CompareAndSwap(nil, err.Error())
					}
					read.Add(1)
					pause(ctx, crowdPause)
				}
			})
		}
		time.Sleep(300 * time.Millisecond)
		err := b.round(loaded...)
		stop()
		clients.Wait()
		if err != nil {
			return nil, err
		}
	}
	detail, _ := first.Load().(string)
	none := row{Bar: "web", What: "errors and torn pages of 64 clients", Corpus: c.name, Value: float64(failed.Load()),
		Detail: strings.TrimSpace(fmt.Sprintf("%d pages, one a second of each client %s", read.Load(), detail))}
	none.Demand, none.Least = atMost(0)
	d, least := atMost(1.10)
	return []row{
		none,
		ratio("web", "a capture next to 64 reading clients / alone", c.name, loaded[0], alone[0], d, least),
		ratio("web", "a compression next to 64 reading clients / alone", c.name, loaded[1], alone[1], d, least),
	}, nil
}

// whole reads a page that must be there to its end.
func (s *site) whole(path string) error {
	body, _, err := s.get(path)
	if err == nil && !strings.HasSuffix(strings.TrimSpace(string(body)), "</html>") {
		err = fmt.Errorf("GET %s: torn", path)
	}
	return err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// appendLines lets a session grow by a request and an answer.
func appendLines(file string, n int) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	at := time.Date(2026, 1, 20, 10, 0, n, 0, time.UTC).Format(time.RFC3339)
	_, err = fmt.Fprintf(f, `{"type":"user","uuid":"u%d","sessionId":%q,"cwd":"/home/dev/crowd","timestamp":%q,"message":{"role":"user","content":"request %d: make it faster"}}`+"\n"+
		`{"type":"assistant","uuid":"a%d","sessionId":%q,"cwd":"/home/dev/crowd","timestamp":%q,"message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":"Done, %d."}]}}`+"\n",
		n, sessionOf(file), at, n, n, sessionOf(file), at, n, n)
	return errors.Join(err, f.Close())
}

// oneDirectory lets all records of a transcript name the same directory.
func oneDirectory(text []byte) []byte {
	return regexp.MustCompile(`"cwd":"[^"]*"`).ReplaceAll(text, []byte(`"cwd":"/home/dev/many"`))
}
