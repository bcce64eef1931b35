package remote

import (
	"bytes"
	"cmp"
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

// An httpSession is a session of several HTTP requests.
type httpSession struct {
	*advertisement
	c    *Client
	base string
}

func newHTTPClient(proxy func(*http.Request) (*url.URL, error)) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: proxy, TLSHandshakeTimeout: 15 * time.Second, MaxResponseHeaderBytes: 1 << 20,
			DialContext: (&net.Dialer{Timeout: 15 * time.Second}).DialContext, ForceAttemptHTTP2: true,
			WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10,
		},
		CheckRedirect: checkRedirect,
	}
}

// checkRedirect allows redirects to another path, or from http to https, but not to another host, because that would
// send a token there.
func checkRedirect(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	same := strings.EqualFold(r.URL.Hostname(), first.Hostname()) &&
		(r.URL.Host == first.Host || r.URL.Scheme == "https") &&
		(r.URL.Scheme == first.Scheme || r.URL.Scheme == "https")
	if !same || len(via) > 5 || r.Method != http.MethodGet {
		return fmt.Errorf("it redirects to %s://%s%s; if that is intended, use that address", r.URL.Scheme,
			r.URL.Host, r.URL.Path)
	}
	return nil
}

// openHTTP requests the advertisement, at first without credentials, and with them if the server requires that.
func (c *Client) openHTTP(ctx context.Context, s Service) (_ Session, err error) {
	defer func() {
		if err != nil {
			c.waitApproved()
		}
	}()
	resp, err := c.do(ctx, request{method: http.MethodGet, address: c.base() + "/info/refs?service=" + string(s)})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if t := resp.Header.Get("Content-Type"); t != "application/x-"+string(s)+"-advertisement" {
		return nil, fmt.Errorf("%w: content type %.60q", ErrProtocol, t)
	}
	l := newPktReader(resp.Body)
	line, err := l.next()
	if err == nil && strings.TrimSuffix(string(line), "\n") == "# service="+string(s) {
		line, err = l.next()
	}
	if err != nil {
		return nil, unexpectedEnd(err)
	}
	if msg, ok := strings.CutPrefix(string(line), "ERR "); ok {
		return nil, serverError(msg)
	}
	if line != nil {
		return nil, fmt.Errorf("%w: %.60q instead of its list of branches", ErrProtocol, line)
	}
	a, err := readAdvertisement(l)
	if err != nil {
		return nil, unexpectedEnd(err)
	}
	address := resp.Request.URL.String() // after redirects
	end := strings.LastIndex(address, "/info/refs")
	if end < 0 {
		return nil, fmt.Errorf("%w: it redirects to %.200q", ErrProtocol, address)
	}
	return &httpSession{a, c, address[:end]}, nil
}

// Public reports whether anybody can read the remote.
func (c *Client) Public(ctx context.Context) (bool, error) {
	if !c.url.web() {
		return false, nil
	}
	q := request{method: http.MethodGet, address: c.base() + "/info/refs?service=" + string(Upload)}
	resp, err := c.send(ctx, q, "", "")
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK, nil
}

func (c *Client) base() string { return c.url.String() }

// Fetch receives the objects of the wanted commits.
func (s *httpSession) Fetch(ctx context.Context, want, have []pack.ID, w *pack.Writer,
	lim pack.Limits) (pack.Receipt, error) {
	defer tick(lim.Progress)()
	wants := s.fetchRequest(want, have, s.c.world.Agent)
	resp, err := s.post(ctx, Upload, int64(len(wants)), func() io.Reader { return bytes.NewReader(wants) })
	if err != nil {
		return pack.Receipt{}, err
	}
	defer resp.Body.Close()
	return s.receivePack(newPktReader(resp.Body), w, resp.Body.(*responseBody).watch.limits(lim), s.c.world.Print)
}

// Push sends a batch. Its length is known in advance, so it needs no buffer.
func (s *httpSession) Push(ctx context.Context, b Batch) error {
	head := s.pushRequest(b, s.c.world.Agent)
	size := int64(len(head)) + pack.StreamSize(b.Size)
	body := &pushBody{write: func(w io.Writer) error {
		if _, err := w.Write(head); err != nil {
			return err
		}
		return pack.Stream(w, b.Objects, b.Size, b.Entries)
	}}
	resp, err := s.post(ctx, Receive, size, body.start)
	if err != nil {
		return cmp.Or(body.stop(), err)
	}
	defer resp.Body.Close()
	err = s.readReport(resp.Body, b, s.c.world.Print)
	return cmp.Or(err, body.stop())
}

// A pushBody streams a push into the body of a request, and again if the request is repeated.
type pushBody struct {
	write func(io.Writer) error
	r     *io.PipeReader // nil before the first request
	done  chan error
}

// start returns the body of the next request.
func (p *pushBody) start() io.Reader {
	_ = p.stop() // the server did not read all of it
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := p.write(w)
		w.CloseWithError(err)
		done <- err
	}()
	p.r, p.done = r, done
	return r
}

// stop ends the stream, and returns an error that is not caused by the connection.
func (p *pushBody) stop() error {
	if p.r == nil {
		return nil
	}
	p.r.Close()
	err := <-p.done
	p.r = nil
	if errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// Close ends the session.
func (s *httpSession) Close() error {
	s.c.waitApproved()
	s.c.http.CloseIdleConnections()
	return nil
}

func (s *httpSession) post(ctx context.Context, svc Service, size int64,
	body func() io.Reader) (*http.Response, error) {
	resp, err := s.c.do(ctx, request{method: http.MethodPost, address: s.base + "/" + string(svc),
		contentType: "application/x-" + string(svc) + "-request", size: size, body: body})
	if err != nil {
		return nil, err
	}
	if t := resp.Header.Get("Content-Type"); t != "application/x-"+string(svc)+"-result" {
		resp.Body.Close()
		return nil, fmt.Errorf("%w: content type %.60q", ErrProtocol, t)
	}
	return resp, nil
}

// A request is one HTTP request to a server.
type request struct {
	method, address string
	contentType     string           // of the body; "" if there is none
	size            int64            // of the body
	body            func() io.Reader // may be nil; called for each try
}

// do sends a request. If the server requires authentication, it sends it again with credentials.
func (c *Client) do(ctx context.Context, q request) (*http.Response, error) {
	user, password := c.login.user, c.login.password
	for {
		resp, err := c.send(ctx, q, user, password)
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
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 300)) // a partial text helps too
	return fmt.Errorf("%s says %s: %.300s", c.url, resp.Status, strings.ToValidUTF8(string(bytes.TrimSpace(text)), ""))
}

func (c *Client) send(ctx context.Context, q request, user, password string) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := c.world.stallTimer(cancel)
	first, limit := watch.quiet, watch.quiet
	var r io.Reader
	if q.body != nil {
		r, first = q.body(), firstByteFactor*watch.quiet
	}
	if strings.HasSuffix(q.address, "/"+string(Receive)) {
		r, limit = &requestBody{r, watch}, reportFactor*watch.quiet
	}
	req, err := http.NewRequestWithContext(ctx, q.method, q.address, r)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	req.ContentLength = q.size
	req.Header.Set("User-Agent", "git/2.39 ("+c.world.Agent+")") // some servers answer only git
	if q.contentType != "" {
		req.Header.Set("Content-Type", q.contentType)
		req.Header.Set("Accept", strings.TrimSuffix(q.contentType, "request")+"result")
	}
	if user != "" || password != "" {
		req.SetBasicAuth(user, password)
	}
	watch.expect(first)
	resp, err := c.http.Do(req)
	if err != nil {
		watch.stop()
		cancel(nil)
		if err = watch.stalled(withoutURL(err)); errors.Is(err, io.EOF) || isDisconnect(err) {
			err = fmt.Errorf("%w: %w", ErrDropped, err)
		}
		return nil, err
	}
	watch.expect(limit)
	list := q.body == nil
	if list {
		watch.expectParts()
	}
	resp.Body = &responseBody{stallReader{resp.Body, watch, limit, list}, resp.Body, watch, cancel}
	return resp, nil
}

// A responseBody is a response body that fails if no data arrives for too long.
type responseBody struct {
	stallReader
	body   io.Closer
	watch  *stallTimer
	cancel context.CancelCauseFunc
}

// Close ends the request.
func (a *responseBody) Close() error {
	a.watch.stop()
	err := a.body.Close()
	a.cancel(nil)
	return err
}

// withoutURL removes the URL from an error of net/http.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
