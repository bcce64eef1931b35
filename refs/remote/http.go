package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/memvcs/mem/objects/pack"
)

const (
	// patience is how long a server may take to begin its answer to a push: it unpacks all of it first.
	patience = 10 * time.Minute
	// quiet is how long nothing at all may arrive, unless [World.Quiet] says otherwise. Git's servers give a sign of life every
	// five seconds while they count and compress.
	quiet = 30 * time.Second
	// begin and last are how many times that a server may take to begin to send a pack, and to send the next part of it: signs of
	// life alone, or a byte now and then, would go on for ever.
	begin, last = 4, 20
	// part is how much of a pack has to arrive in that time.
	part = 64 << 10
)

func (c *Client) quiet() time.Duration {
	if c.world.Quiet > 0 {
		return c.world.Quiet
	}
	return quiet
}

// A StalledError says that a server did not send anything for too long, or nothing that matters.
type StalledError struct{ After time.Duration }

func (e *StalledError) Error() string { return fmt.Sprintf("nothing came for %v", e.After) }

// An httpSession is a conversation of several requests.
type httpSession struct {
	*advert
	c    *Client
	base string
}

func newHTTPClient(proxy func(*http.Request) (*url.URL, error)) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: proxy, TLSHandshakeTimeout: 15 * time.Second, ResponseHeaderTimeout: patience, MaxResponseHeaderBytes: 1 << 20,
			DialContext: (&net.Dialer{Timeout: 15 * time.Second}).DialContext, ForceAttemptHTTP2: true,
			WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10,
		},
		CheckRedirect: checkRedirect,
	}
}

// checkRedirect lets a server send us to another path, or from http to https, but to no other host: that would take a token
// somewhere else.
func checkRedirect(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	same := strings.EqualFold(r.URL.Hostname(), first.Hostname()) && (r.URL.Host == first.Host || r.URL.Scheme == "https") &&
		(r.URL.Scheme == first.Scheme || r.URL.Scheme == "https")
	if !same || len(via) > 5 || r.Method != http.MethodGet {
		return fmt.Errorf("it sends us to %s://%s%s, which may not be wanted; use that address if it is", r.URL.Scheme, r.URL.Host, r.URL.Path)
	}
	return nil
}

// openHTTP asks for the list of branches, as nobody at first, and as somebody if the server wants that.
func (c *Client) openHTTP(ctx context.Context, s Service) (Session, error) {
	resp, err := c.do(ctx, http.MethodGet, c.base()+"/info/refs?service="+string(s), "", 0, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if t := resp.Header.Get("Content-Type"); t != "application/x-"+string(s)+"-advertisement" {
		return nil, fmt.Errorf("%w: it answers with %.60q", ErrProtocol, t)
	}
	l := newLines(resp.Body)
	line, err := l.next()
	if err == nil && strings.TrimSuffix(string(line), "\n") == "# service="+string(s) {
		line, err = l.next()
	}
	if err != nil {
		return nil, early(err)
	}
	if msg, ok := strings.CutPrefix(string(line), "ERR "); ok {
		return nil, refusal(msg)
	}
	if line != nil {
		return nil, fmt.Errorf("%w: %.60q where its list should begin", ErrProtocol, line)
	}
	a, err := readAdvert(l)
	if err != nil {
		return nil, early(err)
	}
	base, _, _ := strings.Cut(resp.Request.URL.String(), "/info/refs")
	return &httpSession{a, c, base}, nil
}

// Public reports whether anybody can read the remote.
func (c *Client) Public(ctx context.Context) (bool, error) {
	if !c.url.Web() {
		return false, nil
	}
	resp, err := c.send(ctx, http.MethodGet, c.base()+"/info/refs?service="+string(Upload), "", 0, nil, "", "")
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK, nil
}

func (c *Client) base() string { return c.url.String() }

// Fetch receives what the wanted commits need.
func (s *httpSession) Fetch(ctx context.Context, want, have []pack.ID, w *pack.Writer, lim pack.Limits) (pack.Receipt, error) {
	wants := s.wants(want, have, s.c.world.Agent)
	resp, err := s.post(ctx, Upload, int64(len(wants)), func() io.Reader { return bytes.NewReader(wants) })
	if err != nil {
		return pack.Receipt{}, err
	}
	defer resp.Body.Close()
	resp.Body.(*lively).steady(last*s.c.quiet(), &lim)
	return s.receive(newLines(resp.Body), w, lim, s.c.world.Say)
}

// steady makes the body fail when too little of a pack comes with it.
func (l *lively) steady(every time.Duration, lim *pack.Limits) {
	l.parts = time.AfterFunc(every, func() { l.cancel(&StalledError{every}) })
	told, seen := lim.Progress, int64(0)
	lim.Progress = func(n int64) {
		if seen += n; seen >= part {
			seen = 0
			l.parts.Reset(every)
		}
		if told != nil {
			told(n)
		}
	}
}

// Push sends a batch. Its length is known, so that nothing has to hold it.
func (s *httpSession) Push(ctx context.Context, b Batch) error {
	head := s.commands(b, s.c.world.Agent)
	size := int64(len(head)) + pack.StreamSize(b.Size)
	failed := make(chan error, 8) // one for each try
	resp, err := s.post(ctx, Receive, size, func() io.Reader {
		r, w := io.Pipe()
		go func() {
			_, err := w.Write(head)
			if err == nil {
				err = pack.Stream(w, b.Objects, b.Size, b.Entries)
			}
			if err != nil && !errors.Is(err, io.ErrClosedPipe) {
				failed <- err
			}
			w.CloseWithError(err)
		}()
		return r
	})
	if err != nil {
		select {
		case why := <-failed:
			return why
		default:
			return err
		}
	}
	defer resp.Body.Close()
	return s.report(resp.Body, b, s.c.world.Say)
}

// Close ends the conversation.
func (s *httpSession) Close() error {
	s.c.http.CloseIdleConnections()
	return nil
}

func (s *httpSession) post(ctx context.Context, svc Service, size int64, body func() io.Reader) (*http.Response, error) {
	resp, err := s.c.do(ctx, http.MethodPost, s.base+"/"+string(svc), "application/x-"+string(svc)+"-request", size, body)
	if err != nil {
		return nil, err
	}
	if t := resp.Header.Get("Content-Type"); t != "application/x-"+string(svc)+"-result" {
		resp.Body.Close()
		return nil, fmt.Errorf("%w: it answers with %.60q", ErrProtocol, t)
	}
	return resp, nil
}

// do sends a request, again with a user and a password if the server asks for them.
func (c *Client) do(ctx context.Context, method, address, kind string, size int64, body func() io.Reader) (*http.Response, error) {
	user, password := c.login.user, c.login.password
	for try := 0; ; try++ {
		resp, err := c.send(ctx, method, address, kind, size, body, user, password)
		if err != nil {
			return nil, err
		}
		switch resp.StatusCode {
		case http.StatusOK:
			c.approve(ctx, user, password)
			return resp, nil
		case http.StatusUnauthorized:
			resp.Body.Close()
			if user != "" || password != "" {
				c.reject(ctx, user, password)
				return nil, fmt.Errorf("%w: %s does not accept the password of %s", ErrAuth, c.url, user)
			}
			if user, password, err = c.fill(ctx); err != nil {
				return nil, err
			}
			continue
		}
		defer resp.Body.Close()
		return nil, c.statusError(resp)
	}
}

func (c *Client) statusError(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		return fmt.Errorf("%s: %w", c.url, ErrAbsent)
	case http.StatusForbidden:
		return fmt.Errorf("%w: %s says %s", ErrAuth, c.url, resp.Status)
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 300)) // what there is helps
	return fmt.Errorf("%s says %s: %.300s", c.url, resp.Status, bytes.TrimSpace(text))
}

func (c *Client) send(ctx context.Context, method, address, kind string, size int64, body func() io.Reader, user, password string) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var r io.Reader
	if body != nil {
		r = body()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, r)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	req.ContentLength = size
	req.Header.Set("User-Agent", "git/2.39 ("+c.world.Agent+")") // some servers answer only git
	if kind != "" {
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Accept", strings.TrimSuffix(kind, "request")+"result")
	}
	if user != "" || password != "" {
		req.SetBasicAuth(user, password)
	}
	wait := c.quiet()
	if strings.HasSuffix(address, "/"+string(Upload)) {
		wait *= begin
	} else if body != nil {
		wait = patience
	}
	timer := time.AfterFunc(wait, func() { cancel(&StalledError{wait}) })
	resp, err := c.http.Do(req)
	if err != nil {
		timer.Stop()
		var stalled *StalledError
		if errors.As(context.Cause(ctx), &stalled) {
			return nil, fmt.Errorf("%w: %w", ErrDropped, stalled)
		}
		cancel(nil)
		if err = withoutURL(err); errors.Is(err, io.EOF) || broken(err) {
			err = fmt.Errorf("%w: %w", ErrDropped, err)
		}
		return nil, err
	}
	timer.Stop()
	limit := c.quiet()
	resp.Body = &lively{ReadCloser: resp.Body, cancel: cancel, limit: limit, timer: time.AfterFunc(limit, func() { cancel(&StalledError{limit}) }), ctx: ctx}
	return resp, nil
}

// withoutURL takes the address, which is long, out of an error of net/http.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// A lively body fails when nothing arrives for too long.
type lively struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	limit  time.Duration
	timer  *time.Timer
	parts  *time.Timer // of a pack; nil: none is awaited
}

func (l *lively) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	l.timer.Reset(l.limit)
	if err != nil && err != io.EOF && context.Cause(l.ctx) != nil {
		err = context.Cause(l.ctx)
	}
	return n, err
}

func (l *lively) Close() error {
	l.timer.Stop()
	if l.parts != nil {
		l.parts.Stop()
	}
	err := l.ReadCloser.Close()
	l.cancel(nil)
	return err
}
