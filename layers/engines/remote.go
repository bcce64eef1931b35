package engines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Server is where a model is asked over HTTP.
type Server struct {
	URL     string                                           // base, without the path of an endpoint
	Key     func(ctx context.Context) (string, error)        // asked once, when it is first needed; nil: none
	Proxy   func(*http.Request) (*url.URL, error)            // nil: none
	Timeout time.Duration                                    // for one answer, all tries together; 0 means DefaultTimeout
	Sleep   func(ctx context.Context, d time.Duration) error // between tries; nil waits by the clock

	once   sync.Once
	client *http.Client
	key    string
	keyErr error
}

// tries is how often a request is sent before its failure is final.
const tries = 5

// A temporary error is worth another try, after as long as the server asked for; below zero it did not say.
type temporary struct {
	error
	after time.Duration
}

func (t *temporary) Unwrap() error { return t.error }

// start makes the client and finds the key.
func (s *Server) start(ctx context.Context) error {
	s.once.Do(func() {
		s.client = &http.Client{
			Transport: &http.Transport{
				Proxy: s.Proxy, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 15 * time.Second,
				DialContext: (&net.Dialer{Timeout: 15 * time.Second}).DialContext, MaxResponseHeaderBytes: 1 << 20,
			},
			// A redirect would take the key somewhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		s.keyErr = s.checkURL()
		if s.keyErr == nil && s.Key != nil {
			s.key, s.keyErr = s.Key(ctx)
		}
	})
	return s.keyErr
}

func (s *Server) checkURL() error {
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return fmt.Errorf("%w: %q is not an address of a server such as http://127.0.0.1:11434/v1", ErrSetup, s.URL)
	}
	return nil
}

// Loopback says whether the server is on this machine.
func (s *Server) Loopback() bool {
	u, err := url.Parse(s.URL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// again runs do until it succeeds, fails for good, or was tried often enough; what the tries cost adds up.
func (s *Server) again(ctx context.Context, do func(context.Context) (Answer, error)) (Answer, error) {
	limit := s.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}
	return inTime(ctx, limit, func(ctx context.Context) (Answer, error) {
		if err := s.start(ctx); err != nil {
			return Answer{}, err
		}
		var spent Usage
		var waited time.Duration
		for try := 1; ; try++ {
			a, err := do(ctx)
			spent = spent.Add(a.Usage.sane())
			a.Usage = spent
			var t *temporary
			if err == nil || !errors.As(err, &t) || ctx.Err() != nil {
				return a, s.withoutKey(err)
			}
			wait := t.after
			if wait < 0 {
				wait = 500 * time.Millisecond << try // 1, 2, 4, 8 s
			}
			if waited += wait; try == tries || waited > limit {
				return a, s.withoutKey(fmt.Errorf("%w (tried %d times)", t.error, try))
			}
			if err := s.sleep(ctx, wait); err != nil {
				return a, err
			}
		}
	})
}

func (s *Server) sleep(ctx context.Context, d time.Duration) error {
	if s.Sleep != nil {
		return s.Sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// withoutKey takes the key out of a message, should a server repeat it.
func (s *Server) withoutKey(err error) error {
	if err == nil || s.key == "" || !strings.Contains(err.Error(), s.key) {
		return err
	}
	return &masked{err, strings.ReplaceAll(err.Error(), s.key, "[key]")}
}

type masked struct {
	error
	text string
}

func (m *masked) Error() string { return m.text }
func (m *masked) Unwrap() error { return m.error }

// longestBody is the most that is read of one response.
const longestBody = 32 << 20

// post sends v as JSON. The response has the status 200; its body must be closed.
func (s *Server) post(ctx context.Context, path string, header http.Header, v any) (*http.Response, error) {
	body, err := compact(v)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(s.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "mem")
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, &temporary{err, -1}
	}
	if resp.StatusCode == http.StatusOK {
		resp.Body = limited{io.LimitReader(resp.Body, longestBody), resp.Body}
		return resp, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		text = nil // the status says enough
	}
	return nil, failure(resp, text)
}

type limited struct {
	io.Reader
	io.Closer
}

// A StatusError is a response that is no answer.
type StatusError struct {
	Code    int
	Message string
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("the server answers %d %s", e.Code, http.StatusText(e.Code))
	if e.Code == 529 {
		text = "the server answers 529 Overloaded"
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return strings.TrimSpace(text)
}

// failure makes an error of a response.
func failure(resp *http.Response, body []byte) error {
	e := &StatusError{resp.StatusCode, message(body)}
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fmt.Errorf("%w: %w", ErrAuth, e)
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code == http.StatusConflict, code >= 500:
		return &temporary{e, retryAfter(resp.Header)}
	}
	return e
}

// message finds what a server has to say in the body of an error.
func message(body []byte) string {
	var v struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	var inner struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(body, &v) != nil:
		return firstLine(string(body))
	case json.Unmarshal(v.Error, &inner) == nil && inner.Message != "":
		return firstLine(inner.Message)
	case json.Unmarshal(v.Error, &text) == nil && text != "":
		return firstLine(text)
	}
	return firstLine(v.Message)
}

func firstLine(s string) string {
	const most = 300
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// retryAfter reads how long to wait: seconds, or a date, which is held against the date of the response itself.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseUint(h.Get("Retry-After-Ms"), 10, 31); err == nil {
		return time.Duration(ms) * time.Millisecond
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseUint(v, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	then, err := http.ParseTime(v)
	now, errNow := http.ParseTime(h.Get("Date"))
	if err != nil || errNow != nil {
		return -1
	}
	return max(0, then.Sub(now))
}

// broken makes an error of a stream that ended too soon.
func broken(err error) error {
	if err == nil {
		return &temporary{fmt.Errorf("the answer breaks off"), -1}
	}
	if errors.Is(err, errStream) {
		return err
	}
	return &temporary{fmt.Errorf("the answer breaks off: %w", err), -1}
}
