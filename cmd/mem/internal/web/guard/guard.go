// Package guard decides which requests "mem serve" answers: those addressed to this machine, sent by no other
// site, and signed in by the cookie of a printed address or by a token of "mem token".
package guard

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
)

// MaxBody is how many bytes a request may carry.
const MaxBody = 1 << 20

// policy lets a page use what this server serves and nothing else.
const policy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// A Guard decides which requests are answered.
type Guard struct {
	store  string
	cookie string // its value signs a browser in
	random io.Reader
	cross  *http.CrossOriginProtection

	mu     sync.Mutex
	port   int
	hosts  []string
	tokens []string // of addresses that no browser has used yet
}

// New returns a guard with a secret of its own.
func New(store string, random io.Reader) (*Guard, error) {
	g := &Guard{store: store, random: random, cross: http.NewCrossOriginProtection()}
	var err error
	g.cookie, err = secret(random)
	return g, err
}

// secret returns 256 bits that nobody can guess.
func secret(r io.Reader) (string, error) {
	var b [32]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// At sets the port that the server listens on.
func (g *Guard) At(port int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := strconv.Itoa(port)
	g.port, g.hosts = port, []string{"127.0.0.1:" + p, "localhost:" + p, "[::1]:" + p}
}

// cookieName is different for each port: browsers send cookies to all ports of a host.
func (g *Guard) cookieName() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return "mem-" + strconv.Itoa(g.port)
}

// Invitation returns an address with a new one-time token, "" if there is no randomness left.
func (g *Guard) Invitation() string {
	t, err := secret(g.random)
	if err != nil {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens = append(g.tokens, t)
	return "http://127.0.0.1:" + strconv.Itoa(g.port) + "/?token=" + t
}

// redeem uses a one-time token up.
func (g *Guard) redeem(token string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(g.tokens, func(t string) bool { return equal(t, token) })
	if i < 0 {
		return false
	}
	g.tokens = slices.Delete(g.tokens, i, i+1)
	return true
}

// equal compares two secrets in a time that tells nothing about them.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// ours reports whether host is a name of this server, so that a page whose name was pointed at this machine is refused.
func (g *Guard) ours(host string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.hosts, strings.ToLower(host))
}

// A failure answers a request with an error.
type failure func(w http.ResponseWriter, r *http.Request, err error)

// Protect returns a handler that lets through to next what may pass.
func (g *Guard) Protect(readOnly bool, fail failure, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		if err := g.sameSite(r); err != nil {
			fail(w, r, err)
			return
		}
		if token := r.URL.Query().Get("token"); token != "" && r.Method == http.MethodGet && !api.IsAPI(r) {
			g.exchange(w, r, token, fail)
			return
		}
		if !isPublic(r) {
			if err := g.known(r); err != nil {
				fail(w, r, err)
				return
			}
		}
		if readOnly && changes(r) {
			fail(w, r, api.NewProblem(http.StatusForbidden, "read_only", "this server was started with --read-only"))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
		next.ServeHTTP(w, r)
	})
}

func harden(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer browsers call the origin of our own forms "null"
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// isPublic reports whether a request needs no token: what the sign-in page is made of.
func isPublic(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/assets/")
}

// changes reports whether a request may change something. A preview looks like it and does not.
func changes(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return false
	}
	return r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/preview")
}

// sameSite refuses what is not addressed to this server, or comes from another site.
func (g *Guard) sameSite(r *http.Request) error {
	if !g.ours(r.Host) {
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

// known finds out who asks: a browser with the cookie, or a program with a token.
func (g *Guard) known(r *http.Request) error {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		switch valid, err := ValidToken(g.store, bearer); {
		case err != nil:
			return err
		case !valid:
			return api.NewProblem(http.StatusUnauthorized, "unauthorized", "the token is not valid",
				"make one: mem token add NAME")
		}
		return nil
	}
	if c, err := r.Cookie(g.cookieName()); err == nil && equal(c.Value, g.cookie) {
		return nil
	}
	return api.NewProblem(http.StatusUnauthorized, "unauthorized", "the request has no token",
		"open the address that mem serve printed", "programs: mem token add NAME")
}

// exchange signs a browser in with the token of its address, and shows it the same page without.
func (g *Guard) exchange(w http.ResponseWriter, r *http.Request, token string, fail failure) {
	if !g.redeem(token) && g.known(r) != nil {
		fail(w, r, api.NewProblem(http.StatusUnauthorized, "unauthorized",
			"the token of this address was used before or is wrong", "start mem serve again"))
		return
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookieName(), Value: g.cookie, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	q := r.URL.Query()
	q.Del("token")
	to := url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/\\"), RawQuery: q.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}
