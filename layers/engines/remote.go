package engines

import (
	"bytes"
	"cmp"
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

	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/objects"
)

// A Server is an HTTP server with a model.
type Server struct {
	URL     string                                           // base, without the path of an endpoint
	Key     func(ctx context.Context) (string, error)        // called once, when first needed; nil: no key
	Proxy   func(*http.Request) (*url.URL, error)            // nil: none
	Timeout time.Duration                                    // for one answer with all retries; 0 means 10 minutes
	Sleep   func(ctx context.Context, d time.Duration) error // between retries; nil waits by the clock

	once   sync.Once
	client *http.Client
	key    string
	keyErr error
}

// maxTries is the number of attempts for a request.
const maxTries = 5

// A temporary error is worth a retry after the time requested by the server; less than zero if it requested none.
type temporary struct {
	error
	after time.Duration
}

func (t *temporary) Unwrap() error { return t.error }

// start creates the client and reads the key.
func (s *Server) start(ctx context.Context) error {
	s.once.Do(func() {
		s.client = &http.Client{
			Transport: &http.Transport{
				Proxy: s.Proxy, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 15 * time.Second,
				DialContext: (&net.Dialer{Timeout: 15 * time.Second}).DialContext, MaxResponseHeaderBytes: 1 << 20,
			},
			// A redirect would send the key to another server.
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

// Loopback reports whether the server is on this machine.
func (s *Server) Loopback() bool {
	u, err := url.Parse(s.URL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// retry calls do until it succeeds, fails permanently, or has failed maxTries times. The usage of all attempts is added
// up.
func (s *Server) retry(ctx context.Context, do func(context.Context) (Answer, error)) (Answer, error) {
	limit := cmp.Or(s.Timeout, defaultTimeout)
	return withTimeout(ctx, limit, func(ctx context.Context) (Answer, error) {
		if err := s.start(ctx); err != nil {
			return Answer{}, err
		}
		var spent Usage
		var waited time.Duration
		for try := 1; ; try++ {
			a, err := do(ctx)
			if err != nil { // an interrupted answer is paid for
				a.Usage.Output = max(a.Usage.Output, tokens.For("").Count(a.Text))
			}
			spent = spent.Add(a.Usage.clamp())
			a.Usage = spent
			var t *temporary
			if err == nil || !errors.As(err, &t) || ctx.Err() != nil {
				return a, s.maskKey(err)
			}
			wait := t.after
			if wait < 0 {
				wait = 500 * time.Millisecond << try // 1, 2, 4, 8 s
			}
			if waited += wait; try == maxTries || waited > limit {
				return a, s.maskKey(fmt.Errorf("%w (tried %d times)", t.error, try))
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

// maskKey removes the key from an error text.
func (s *Server) maskKey(err error) error {
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

// maxBody limits the size of a response.
const maxBody = 32 << 20

// post sends v as JSON. The response has status 200; the caller closes its body.
func (s *Server) post(ctx context.Context, path string, header http.Header, v any) (*http.Response, error) {
	body, err := objects.JSONLine(v)
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
		resp.Body = limited{io.LimitReader(resp.Body, maxBody), resp.Body}
		return resp, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		text = nil // the status suffices
	}
	return nil, responseError(resp, text)
}

type limited struct {
	io.Reader
	io.Closer
}

// A statusError is a response with another status than 200.
type statusError struct {
	Code    int
	Message string
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("the server answers %d %s", e.Code, http.StatusText(e.Code))
	if e.Code == 529 {
		text = "the server answers 529 Overloaded"
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return strings.TrimSpace(text)
}

// responseError converts a response to an error.
func responseError(resp *http.Response, body []byte) error {
	e := &statusError{resp.StatusCode, errorMessage(body)}
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fmt.Errorf("%w: %w", ErrAuth, e)
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code == http.StatusConflict, code >= 500:
		return &temporary{e, retryAfter(resp.Header)}
	}
	return e
}

// errorMessage extracts the message from the body of an error response.
func errorMessage(body []byte) string {
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
		return oneLine(string(body))
	case json.Unmarshal(v.Error, &inner) == nil && inner.Message != "":
		return oneLine(inner.Message)
	case json.Unmarshal(v.Error, &text) == nil && text != "":
		return oneLine(text)
	}
	return oneLine(v.Message)
}

// retryAfter returns the time to wait, less than zero if the server names no number of seconds.
func retryAfter(h http.Header) time.Duration {
	s, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	if err != nil {
		return -1
	}
	return time.Duration(s) * time.Second
}

// interrupted returns the error for a stream that ended too early.
func interrupted(err error) error {
	if err == nil {
		return &temporary{errors.New("the answer ended too early"), -1}
	}
	if errors.Is(err, errStream) {
		return err
	}
	return &temporary{fmt.Errorf("the answer ended too early: %w", err), -1}
}

// oneLine returns the beginning of what a server or a program says.
func oneLine(s string) string { return tokens.OneLine(strings.ToValidUTF8(s, "\uFFFD"), 300) }
