package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
)

// TestGuard sends what must not be answered, and beside it what must.
func TestGuard(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	form := func(q *http.Request) { q.Header.Set("Content-Type", "application/x-www-form-urlencoded") }
	for _, c := range []struct {
		name, method, path string
		edit               func(*http.Request)
		want               int
	}{
		{"a browser that is signed in", "GET", "/", nil, 200},
		{"a foreign host", "GET", "/", func(q *http.Request) { q.Host = "evil.example" }, 403},
		{"a foreign host with our port", "GET", "/", func(q *http.Request) { q.Host = "evil.example:" + port(r) }, 403},
		{"our host without the port", "GET", "/", func(q *http.Request) { q.Host = "127.0.0.1" }, 403},
		{"localhost", "GET", "/", func(q *http.Request) { q.Host = "localhost:" + port(r) }, 200},
		{"no cookie", "GET", "/", func(q *http.Request) { q.Header.Del("Cookie") }, 401},
		{"no cookie, API", "GET", "/api/memory/projects", func(q *http.Request) { q.Header.Del("Cookie") }, 401},
		{"a wrong cookie", "GET", "/", func(q *http.Request) {
			q.Header.Set("Cookie", r.cookie.Name+"="+strings.Repeat("0", 64))
		}, 401},
		{"a wrong token of a program", "GET", "/api/memory/projects", func(q *http.Request) {
			q.Header.Del("Cookie")
			q.Header.Set("Authorization", "Bearer "+strings.Repeat("0", 64))
		}, 401},
		{"the token of a program", "GET", "/api/memory/projects", func(q *http.Request) {
			q.Header.Del("Cookie")
			q.Header.Set("Authorization", "Bearer "+r.token)
		}, 200},
		{"a wrong one-time token", "GET", "/?token=00", func(q *http.Request) { q.Header.Del("Cookie") }, 401},
		{"a foreign origin reads", "GET", "/api/memory/projects", func(q *http.Request) { q.Header.Set("Origin", "http://evil.example") }, 403},
		{"an origin on another port", "POST", "/theme", func(q *http.Request) { form(q); q.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		{"a form of another site", "POST", "/theme", func(q *http.Request) { form(q); q.Header.Set("Origin", "https://evil.example") }, 403},
		{"a form of a page without origin", "POST", "/theme", func(q *http.Request) { form(q); q.Header.Set("Origin", "null") }, 403},
		{"a form of another site, as browsers tell it", "POST", "/theme", func(q *http.Request) { form(q); q.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"a form of the same host and another port", "POST", "/theme", func(q *http.Request) { form(q); q.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		{"our own form", "POST", "/theme", func(q *http.Request) { form(q); q.Header.Set("Origin", r.http.URL) }, 303},
		{"a page that is not there", "GET", "/nothing", nil, 404},
		{"an endpoint that is not there", "GET", "/api/memory/nothing", nil, 404},
		{"a list of the assets", "GET", "/assets/", nil, 404},
		{"no cookie, an asset that is not there", "GET", "/assets/nothing", func(q *http.Request) { q.Header.Del("Cookie") }, 404},
	} {
		a := r.do(c.method, c.path, "theme=dark", c.edit)
		if a.status != c.want {
			t.Errorf("%s: %d, want %d: %.200s", c.name, a.status, c.want, a.body)
		}
		if a.status != 200 && c.name != "a page that is not there" && strings.Contains(a.body, string(r.project.ID)) {
			t.Errorf("%s: the answer names a project", c.name)
		}
		if csp := a.header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'self'") {
			t.Errorf("%s: policy %q", c.name, csp)
		}
	}
	if c := r.cookie; c.SameSite != http.SameSiteStrictMode || !c.HttpOnly || c.Path != "/" {
		t.Errorf("the cookie is %v", c)
	}
}

func port(r *rig) string {
	u, err := url.Parse(r.http.URL)
	must(r.t, err)
	return u.Port()
}

func TestOneTimeToken(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	at := r.server.SignInURL()
	for i, want := range []int{http.StatusSeeOther, http.StatusUnauthorized} {
		res, err := client().Get(at)
		must(t, err)
		must(t, res.Body.Close())
		if res.StatusCode != want || len(res.Cookies()) != 1-i {
			t.Errorf("use %d of the address: %d with %d cookies, want %d", i+1, res.StatusCode, len(res.Cookies()), want)
		}
	}
}

// TestSignInFromFile opens the address as a browser does that a file sends there: the cookie comes with a page, because
// browsers send it with no redirect of such a request.
func TestSignInFromFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	req, err := http.NewRequest(http.MethodGet, r.server.SignInURL(), nil)
	must(t, err)
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	res, err := client().Do(req)
	must(t, err)
	must(t, res.Body.Close())
	if res.StatusCode != http.StatusOK || len(res.Cookies()) != 1 || res.Header.Get("Refresh") != "0; url=/" {
		t.Errorf("%d with %d cookies, refresh %q", res.StatusCode, len(res.Cookies()), res.Header.Get("Refresh"))
	}
}

// TestSlowBody sends the start of a body and then nothing, signed in and not: the server closes the connection.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	r.server.guard.bodyTime = 300 * time.Millisecond
	for _, head := range []string{"Authorization: Bearer " + r.token + "\r\n", "Cookie: " + r.cookie.String() + "\r\n", ""} {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.http.URL, "http://"))
		must(t, err)
		must(t, c.SetDeadline(time.Now().Add(20*time.Second)))
		_, err = fmt.Fprintf(c, "POST /api/memory/decay/preview HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Length: 100\r\n%s\r\n{", port(r), head)
		must(t, err)
		answer, err := io.ReadAll(c) // ends when the server closes
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") {
			t.Errorf("%q: %.100q, %v, want 408 and the end of the connection", head, answer, err)
		}
		must(t, c.Close())
	}
}

// TestRedirectStays sends addresses that must not lead away from the server.
func TestRedirectStays(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	for _, back := range []string{"//evil.example/", "https://evil.example/", `/\evil.example`, "\t//evil.example", "javascript:alert(1)", ""} {
		a := r.post("/theme", url.Values{"theme": {"dark"}, "back": {back}})
		if to := a.header.Get("Location"); a.status != http.StatusSeeOther || to != "/" {
			t.Errorf("back to %q leads to %q", back, to)
		}
	}
	res, err := client().Get(strings.Replace(r.server.SignInURL(), "/?", "//evil.example/?", 1))
	must(t, err)
	must(t, res.Body.Close())
	if to := res.Header.Get("Location"); strings.HasPrefix(to, "//") {
		t.Errorf("signing in leads to %q", to)
	}
}

// TestPathTricks puts what is no name where names stand.
func TestPathTricks(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	for _, name := range []string{"..%2f..%2fetc%2fpasswd", "%2e%2e", "@", "@~1", "HEAD", "b3:9f2c", r.ids[0] + ":original", "a%00b", "%5c%5chost%5cshare", "..", "x%0d%0ay", "%ff", strings.Repeat("a", 5000)} {
		for _, path := range []string{"/projects/", "/sessions/%s/versions", "/sessions/" + r.ids[0] + "/versions/", "/compositions/", "/jobs/"} {
			at := api.Prefix + path + name
			if strings.Contains(path, "%s") {
				at = api.Prefix + strings.Replace(path, "%s", name, 1)
			}
			a := r.do(http.MethodGet, at, "", nil)
			if a.status < 300 || a.status >= 500 || strings.Contains(a.body, "root:") {
				t.Errorf("GET %.80s: %d %.200s", at, a.status, a.body)
			}
		}
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(w *api.World) { w.ReadOnly = true }, nil)
	r.api(http.MethodPost, "/sessions/"+r.ids[0]+"/versions", api.CompressionSettings{Ratio: 5}, nil, 403)
	r.api(http.MethodDelete, "/projects/"+string(r.project.ID)+"/sessions/"+r.ids[0], nil, nil, 403)
	r.api(http.MethodPost, "/sessions/"+r.ids[0]+"/versions/preview", api.CompressionSettings{Ratio: 5}, nil, 200)

	// A session or composition can be named "preview".
	r.api(http.MethodPost, "/projects/"+string(r.project.ID)+"/sessions/preview", nil, nil, 403)
	for _, name := range []string{"preview", "compositions/preview"} {
		if a := r.post("/p/"+string(r.project.ID)+"/drop/"+name, url.Values{"sure": {"1"}}); a.status != 403 {
			t.Errorf("removing the composition %s: %d, want 403", name, a.status)
		}
	}
}

func TestLargeBody(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	body := `{"mode":"` + strings.Repeat("x", maxBody) + `"}`
	a := r.do(http.MethodPost, api.Prefix+"/sessions/"+r.ids[0]+"/versions", body, nil)
	if a.status != http.StatusRequestEntityTooLarge || !strings.Contains(a.body, `"too_large"`) {
		t.Errorf("%d %.200s", a.status, a.body)
	}
}

// TestLoopbackOnly looks where a server listens, and that it ends at once though somebody follows its events.
func TestLoopbackOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	s, err := newServer(r.world)
	must(t, err)
	ctx, cancel := withCancel(t)
	at := make(chan string, 1)
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, 0, func(address string) { at <- address }) }()
	u, err := url.Parse(<-at)
	must(t, err)
	if u.Hostname() != "127.0.0.1" {
		t.Errorf("listens on %s", u.Host)
	}
	addrs, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range addrs {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() {
			continue
		}
		if c, err := net.DialTimeout("tcp", net.JoinHostPort(ip.IP.String(), u.Port()), time.Second); err == nil {
			t.Errorf("answers on %s", ip.IP)
			must(t, c.Close())
		}
	}
	token, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+u.Host+api.Prefix+"/events", nil)
	must(t, err)
	token.Header.Set("Authorization", "Bearer "+r.token)
	res, err := client().Do(token)
	must(t, err)
	defer res.Body.Close()
	cancel()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(api.Patience + 5*time.Second):
		t.Error("the server does not end")
	}
}

// TestVendored compares the vendored file with what its makers published.
func TestVendored(t *testing.T) {
	t.Parallel()
	const htmx = "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130" // npm: htmx.org 4.0.1, dist/htmx.min.js
	b, err := files.ReadFile("assets/htmx.min.js")
	must(t, err)
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != htmx {
		t.Errorf("htmx.min.js has the sum %x", sum)
	}
}
