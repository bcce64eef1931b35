package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/view"
)

//go:embed *.html assets
var files embed.FS

// pages contains the templates of all screens, each with the layout, and the assets.
type pages struct {
	screens map[string]*template.Template
	assets  map[string]asset
	md      *Markdown
}

// An asset is a static file. Its URL contains a hash of its content, so browsers may cache it forever.
type asset struct {
	body []byte
	kind string
	path string
}

// A notice says what has changed, and offers to undo it if Undo is set.
type notice struct {
	Text string
	Undo *history.Operation
}

// A page is the data of the layout and of the screen in it.
type page struct {
	Title    string
	Tab      string // of the navigation
	Project  state.Project
	Crumbs   []crumb
	Notice   *notice
	Theme    string
	Here     string // URL of the page, to which forms return
	ReadOnly bool
	Tokens   bool    // show estimated tokens in lists
	Knows    bool    // the project has facts or rules
	Retry    []typed // of an error, the form that caused it
	Body     any
}

// A typed is a field of a form with the value that it had.
type typed struct {
	Name, Value string
	Hidden      bool
}

// retryOf returns the fields of a form that a request could not use, so that nothing has to be typed again.
func retryOf(r *http.Request, p *api.Problem) (out []typed) {
	if r.Method != http.MethodPost || p.Status < 400 || p.Status >= 500 || fromStranger(p) || p.Status == http.StatusForbidden {
		return nil
	}
	visible := false
	for _, name := range slices.Sorted(maps.Keys(r.PostForm)) {
		for _, value := range r.PostForm[name] {
			f := typed{Name: name, Value: value, Hidden: hiddenField(name)}
			visible = visible || !f.Hidden
			out = append(out, f)
		}
	}
	if !visible {
		return nil
	}
	return out
}

// hiddenField reports whether a field of a form is a choice or a place, not a text that somebody typed.
func hiddenField(name string) bool {
	switch name {
	case "back", "do", "operation", "id", "message", "concept", "fact", "rule", "order", "sure", "v", "member", "add":
		return true
	}
	return strings.HasPrefix(name, "part-")
}

type crumb struct{ Name, Link string }

func parsePages(s *Server) (*pages, error) {
	p := &pages{screens: map[string]*template.Template{}, assets: map[string]asset{}, md: NewMarkdown()}
	entries, err := fs.ReadDir(files, "assets")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		b, err := files.ReadFile("assets/" + e.Name())
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		at := "/assets/" + hex.EncodeToString(sum[:6]) + "/" + e.Name()
		p.assets[e.Name()] = asset{b, mime.TypeByExtension(path.Ext(e.Name())), at}
	}
	layout, err := template.New("layout.html").Funcs(s.funcs(p)).ParseFS(files, "layout.html", "parts.html")
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	names, err := fs.Glob(files, "*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if name == "layout.html" || name == "parts.html" {
			continue
		}
		t, err := layout.Clone()
		if err == nil {
			t, err = t.ParseFS(files, name)
		}
		if err != nil {
			return nil, fmt.Errorf("templates: %w", err)
		}
		p.screens[strings.TrimSuffix(name, ".html")] = t
	}
	return p, nil
}

func (s *Server) routeAssets(mux *http.ServeMux) {
	for _, a := range s.pages.assets {
		mux.HandleFunc("GET "+a.path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", a.kind)
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			_, _ = w.Write(a.body) // the client may have closed the connection
		})
	}
	mux.HandleFunc("GET /assets/", http.NotFound) // without a page: these requests need no authentication
}

// A screen handles a request. It returns the name and the data of a template, or no name if it has responded itself.
type screen func(w http.ResponseWriter, r *http.Request) (name string, p page, err error)

// show returns the handler of a screen.
func (s *Server) show(do screen) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if err := r.ParseForm(); err != nil {
				s.fail(w, r, api.BadRequest(err.Error()))
				return
			}
		}
		name, p, err := do(w, r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if name != "" {
			s.render(w, r, http.StatusOK, name, p)
		}
	}
}

// render responds with a page, or to htmx with the template that the parameter "part" names.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, name string, p page) {
	if p.Project.ID == "" && !fromStranger(p.Body) {
		p.Project = s.firstProject(r.Context())
	}
	p.ReadOnly, p.Here, p.Theme, p.Tokens = s.ReadOnly, r.URL.RequestURI(), theme(r), s.showsTokens()
	p.Knows = s.knows(r.Context(), p.Project)
	if status == http.StatusOK && r.Header.Get("HX-Request") == "" {
		p.Notice = s.takeNotice(w, r, p.Project)
	}
	t, part := s.pages.screens[name], "layout.html"
	if r.Header.Get("HX-Request") == "true" && r.URL.Query().Get("part") != "" &&
		t.Lookup(r.URL.Query().Get("part")) != nil {
		part = r.URL.Query().Get("part")
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, part, p); err != nil {
		http.Error(w, "cannot render the page: "+term.Sanitize(err.Error()), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(cleanPage(b.String(), term.Sanitize))) // the client may have closed the connection
}

// cleanPage cleans the texts of a page. It cleans each piece between the characters that templates escape in a text, so
// an escape sequence in a text, which can reach to the end of its line, takes no markup with it.
func cleanPage(page string, clean func(string) string) string {
	var b strings.Builder
	b.Grow(len(page))
	for {
		i := strings.IndexAny(page, `<>"`)
		if i < 0 {
			b.WriteString(clean(page))
			return b.String()
		}
		b.WriteString(clean(page[:i]))
		b.WriteByte(page[i])
		page = page[i+1:]
	}
}

// fromStranger reports whether a page answers a request that the guard has refused. It tells nothing of the memory.
func fromStranger(body any) bool {
	p, ok := body.(*api.Problem)
	return ok && (p.Status == http.StatusUnauthorized || p.Code == "foreign_host" || p.Code == "foreign_origin")
}

// firstProject returns the project of a page that is of no project: that of the working directory if it is in memory,
// else the last used. It returns no project if the memory has none, or if it cannot be read.
func (s *Server) firstProject(ctx context.Context) (first state.Project) {
	all, err := s.Projects(ctx)
	if err != nil {
		return state.Project{}
	}
	var last view.Time
	for _, p := range all {
		if p.ID == s.Scope.Project.ID {
			return p
		}
		sum, err := s.Summary(ctx, p)
		if err != nil {
			return state.Project{}
		}
		if first.ID == "" || sum.LastAccessed.After(last.Time) {
			first, last = p, sum.LastAccessed
		}
	}
	return first
}

// knows reports whether a project has facts or rules, which give them a place in the navigation.
func (s *Server) knows(ctx context.Context, p state.Project) bool {
	if p.ID == "" {
		return false
	}
	d, err := knowledge.ReadProgress(ctx, s.Memory.DB, p.ID)
	return err == nil && d.Facts+d.Rules > 0 // the page of the facts reports an error
}

// noticeCookie carries the message of a change to the page that follows it.
const noticeCookie = "mem-notice"

// leaveNotice tells the next page what has changed. That page offers to undo the operation, if there is one.
func leaveNotice(w http.ResponseWriter, text, operation string) {
	http.SetCookie(w, &http.Cookie{Name: noticeCookie, Value: operation + "|" + url.QueryEscape(text), Path: "/", MaxAge: 30, HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
}

// takeNotice returns the message of the last change, once.
func (s *Server) takeNotice(w http.ResponseWriter, r *http.Request, p state.Project) *notice {
	c, err := r.Cookie(noticeCookie)
	if err != nil {
		return nil
	}
	http.SetCookie(w, &http.Cookie{Name: noticeCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	commit, escaped, _ := strings.Cut(c.Value, "|")
	text, err := url.QueryUnescape(escaped)
	if err != nil || text == "" {
		return nil // not a value of leaveNotice
	}
	n := &notice{Text: text}
	if commit != "" {
		n.Undo = s.operation(r.Context(), p, func(op history.Operation) bool {
			return op.Commit == commit && (op.State == history.OpNext || op.State == history.OpUndoable)
		})
	}
	return n
}

// theme returns the theme in the cookie: light, dark, or "" for that of the system.
func theme(r *http.Request) string {
	if c, err := r.Cookie("mem-theme"); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// setTheme stores the theme in a cookie.
func (s *Server) setTheme(w http.ResponseWriter, r *http.Request) (string, page, error) {
	http.SetCookie(w, &http.Cookie{Name: "mem-theme", Value: r.PostFormValue("theme"), Path: "/", MaxAge: 365 * 24 * 3600,
		HttpOnly: true, SameSite: http.SameSiteStrictMode})
	return redirect(w, r, r.PostFormValue("back"))
}

// changed notifies other pages of a change and redirects, unless the change failed.
func (s *Server) changed(w http.ResponseWriter, r *http.Request, err error, to string) (string, page, error) {
	if err != nil {
		return "", page{}, err
	}
	s.Events.Changed()
	return redirect(w, r, to)
}

// did is changed with a notice, which offers to undo the change.
func (s *Server) did(w http.ResponseWriter, r *http.Request, p state.Project, err error, said, to string) (string, page, error) {
	if err == nil {
		leaveNotice(w, said, s.lastOperation(r.Context(), p))
	}
	return s.changed(w, r, err, to)
}

// redirect sends a browser to a page of this server, never to another host. It returns no page.
func redirect(w http.ResponseWriter, r *http.Request, to string) (string, page, error) {
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") {
		to = "/"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return "", page{}, nil
}

// failPage responds with an error page, or the sign-in page.
func (s *Server) failPage(w http.ResponseWriter, r *http.Request, p *api.Problem) {
	name := "problem"
	if p.Status == http.StatusUnauthorized {
		name = "signin"
	}
	s.render(w, r, p.Status, name, page{Title: http.StatusText(p.Status), Body: p, Retry: retryOf(r, p)})
}
