package web

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
)

// maxBody is the maximum size of a request body in bytes.
const maxBody = 1 << 20

// policy restricts pages to content from this server.
const policy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// A guard authenticates the requests to "mem serve". A request must be addressed to this machine, must not come from
// another site, and needs the cookie of the printed URL or a token of "mem token". It is safe for concurrent use.
type guard struct {
	// bodyTime is how long a request may take to arrive; then the connection is closed.
	bodyTime time.Duration

	store  string
	cookie string // its value signs a browser in
	random io.Reader
	cross  *http.CrossOriginProtection

	mu     sync.Mutex
	port   int
	hosts  []string
	tokens []string // unused one-time tokens
}

// newGuard returns a guard with a random cookie.
func newGuard(store string, random io.Reader) (*guard, error) {
	g := &guard{bodyTime: 10 * time.Second, store: store, random: random, cross: http.NewCrossOriginProtection()}
	var err error
	g.cookie, err = secret(random)
	return g, err
}

// secret returns 256 random bits in hexadecimal.
func secret(r io.Reader) (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// At sets the port that the server listens on.
func (g *guard) At(port int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := strconv.Itoa(port)
	g.port, g.hosts = port, []string{"127.0.0.1:" + p, "localhost:" + p, "[::1]:" + p}
}

// cookieName returns a name that depends on the port, because browsers send cookies to all ports of a host.
func (g *guard) cookieName() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return "mem-" + strconv.Itoa(g.port)
}

// SignInURL returns a URL with a new one-time token, "" if the source of randomness fails.
func (g *guard) SignInURL() string {
	t, err := secret(g.random)
	if err != nil {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens = append(g.tokens, t)
	return "http://127.0.0.1:" + strconv.Itoa(g.port) + "/?token=" + t
}

// redeem invalidates a one-time token and reports whether it was valid.
func (g *guard) redeem(token string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.tokens, func(t string) bool { return equal(t, token) })
	if i < 0 {
		return false
	}
	g.tokens = slices.Delete(g.tokens, i, i+1)
	return true
}

// equal compares two secrets in constant time.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// isOwnHost reports whether host is a name of this server. It prevents DNS rebinding.
func (g *guard) isOwnHost(host string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.hosts, strings.ToLower(host))
}

// An errorHandler responds with an error.
type errorHandler func(w http.ResponseWriter, r *http.Request, err error)

// protect returns a handler that passes permitted requests to next.
func (g *guard) protect(readOnly bool, fail errorHandler, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setSecurityHeaders(w.Header())
		if r.ContentLength != 0 {
			body, err := g.body(w, r)
			if err != nil {
				fail(w, r, err)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		if err := g.sameSite(r); err != nil {
			fail(w, r, err)
			return
		}
		if token := r.URL.Query().Get("token"); token != "" && r.Method == http.MethodGet && !api.IsAPI(r) {
			g.signIn(w, r, token, fail)
			return
		}
		if !isPublic(r) {
			if err := g.authenticate(r); err != nil {
				fail(w, r, err)
				return
			}
		}
		if readOnly && changes(r) {
			fail(w, r, api.NewProblem(http.StatusForbidden, "read_only", "this server was started with --read-only"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// body reads the body of a request. If it is late, a deadline in the past ends the reading and the connection.
func (g *guard) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	connection := http.NewResponseController(w)
	late := time.AfterFunc(g.bodyTime, func() {
		_ = connection.SetReadDeadline(time.Unix(1, 0)) // a connection that is closed already has none
	})
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case !late.Stop():
		return nil, api.NewProblem(http.StatusRequestTimeout, "timeout",
			fmt.Sprintf("the body did not arrive within %v", g.bodyTime))
	case errors.As(err, &large):
		return nil, err
	case err != nil:
		return nil, api.BadRequest("read the body: " + err.Error())
	}
	return body, nil
}

func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer browsers call the origin of our own forms "null"
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// isPublic reports whether a request needs no authentication: the assets of the sign-in page.
func isPublic(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/assets/")
}

// changes reports whether a request may change something.
func changes(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return false
	}
	return r.Method != http.MethodPost || !isPreview(r.URL.Path)
}

// isPreview reports whether a path is that of a preview: a POST request of the API without changes. A session or a
// composition can be named "preview", too.
func isPreview(path string) bool {
	path, ok := strings.CutPrefix(path, api.Prefix)
	return ok && slices.ContainsFunc([]string{"/versions/preview", "/compositions/preview", "/decay/preview"},
		func(end string) bool { return strings.HasSuffix(path, end) })
}

// sameSite returns an error if a request is not addressed to this server or comes from another site.
func (g *guard) sameSite(r *http.Request) error {
	if !g.isOwnHost(r.Host) {
		return api.NewProblem(http.StatusForbidden, "foreign_host", "the host of the request is not this server")
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" || u.Host != r.Host {
			return api.NewProblem(http.StatusForbidden, "foreign_origin", "another site sent the request")
		}
	}
	if err := g.cross.Check(r); err != nil {
		return api.NewProblem(http.StatusForbidden, "foreign_origin", "another site sent the request")
	}
	return nil
}

// authenticate accepts a browser with the cookie and a program with a token.
func (g *guard) authenticate(r *http.Request) error {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		switch valid, err := validToken(g.store, bearer); {
		case err != nil:
			return err
		case !valid:
			return api.NewProblem(http.StatusUnauthorized, "unauthorized", "the token is not valid",
				"create one: mem token add NAME")
		}
		return nil
	}
	if c, err := r.Cookie(g.cookieName()); err == nil && equal(c.Value, g.cookie) {
		return nil
	}
	return api.NewProblem(http.StatusUnauthorized, "unauthorized", "the request has no token",
		"open the address that mem serve printed", "programs: mem token add NAME")
}

// signIn sets the cookie for a valid one-time token and redirects to the URL without the token. A browser does not send
// the cookie with a redirect of a request that a file or another site began, so that such a request gets a page that
// goes there.
func (g *guard) signIn(w http.ResponseWriter, r *http.Request, token string, fail errorHandler) {
	if !g.redeem(token) && g.authenticate(r) != nil {
		fail(w, r, api.NewProblem(http.StatusUnauthorized, "unauthorized",
			"the token of this address was used before or is wrong", "start mem serve again"))
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookieName(), Value: g.cookie, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	q := r.URL.Query()
	q.Del("token")
	to := url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/\\"), RawQuery: q.Encode()}
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		w.Header().Set("Refresh", "0; url="+to.String())
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><title>mem</title><a href=\"%s\">Continue</a>\n", html.EscapeString(to.String()))
		return
	}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}
