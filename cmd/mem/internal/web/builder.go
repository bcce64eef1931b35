package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
)

// A builderBody is the form of a new composition, with a preview.
type builderBody struct {
	Form     url.Values
	Name     string
	Budget   string // as typed
	Window   int
	Percent  float64
	Parts    []builderPart
	Find     string          // words that the offered sessions have in their title or id
	Sessions []sessionChoice // that can be added: the newest of those that match
	More     int             // others that match
	NoName   bool            // the form was sent without a name
	Exists   bool            // a composition has the name
	Refused  bool            // the form was sent with that name, and without the box that replaces it
	Old      []*records.Composition
	Preview  *view.Composed
	Problem  *api.Problem
	Strategy []string
	Ratios   []int // to recompress with
}

// A builderPart is one card of the builder. The names of its form fields end with its number.
type builderPart struct {
	N          int
	Session    *state.Session
	Name       string
	Version    string
	Tokens     string
	Recompress bool
	Versions   []*records.Version
	Got        *view.ComposedPart
}

// A sessionChoice is a session to add to the builder.
type sessionChoice struct {
	sessions.Item
	New bool // not in memory, as the current session may be
}

// mostChoices is the maximum number of sessions that the builder offers at once.
const mostChoices = 8

// defaultBudget is the initial budget, window the context window of a model, both in tokens.
const (
	defaultBudget = 16_000
	window        = 200_000
)

// partNumbers returns the numbers of the parts of a form in order, after the move or deletion that the form requests.
func partNumbers(f url.Values) []int {
	var order []int
	for _, text := range f["order"] { // the order of the cards, after dragging
		if n, err := strconv.Atoi(text); err == nil && f.Get("part-"+text) != "" && !slices.Contains(order, n) {
			order = append(order, n)
		}
	}
	for n := 1; n <= api.MaxParts; n++ {
		if f.Get("part-"+strconv.Itoa(n)) != "" && !slices.Contains(order, n) {
			order = append(order, n)
		}
	}
	if verb, text, ok := strings.Cut(f.Get("do"), " "); ok {
		n, err := strconv.Atoi(text)
		i := slices.Index(order, n)
		switch {
		case err != nil || i < 0:
		case verb == "up" && i > 0:
			order[i-1], order[i] = order[i], order[i-1]
		case verb == "down" && i+1 < len(order):
			order[i], order[i+1] = order[i+1], order[i]
		case verb == "drop":
			order = slices.Delete(order, i, i+1)
		}
	}
	return order
}

// builderRequest parses the form.
func builderRequest(f url.Values) (api.CompositionRequest, error) {
	out := api.CompositionRequest{Name: strings.TrimSpace(f.Get("name")), Budget: defaultBudget, Strategy: f.Get("allocate")}
	if text := strings.TrimSpace(f.Get("budget")); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return out, api.BadRequest("the budget is a number of tokens from 1")
		}
		out.Budget = n
	}
	for _, n := range partNumbers(f) {
		i := strconv.Itoa(n)
		c := api.ComponentRequest{SessionID: f.Get("part-" + i), VersionID: f.Get("version-" + i)}
		if text := strings.TrimSpace(f.Get("tokens-" + i)); text != "" {
			share, err := strconv.Atoi(text)
			if err != nil || share < 0 {
				return out, api.BadRequest("an allocation is a number of tokens")
			}
			c.Tokens = share
		}
		if ratio, ok := strings.CutPrefix(c.VersionID, "recompress"); ok {
			c.VersionID, c.Recompress = "", &api.CompressionSettings{}
			if ratio != "" {
				n, err := strconv.Atoi(strings.TrimSpace(ratio))
				if err != nil || n < 1 {
					return out, api.BadRequest("a ratio is a whole number from 1")
				}
				c.Recompress.Ratio = n
			}
		}
		out.Components = append(out.Components, c)
	}
	return out, nil
}

func (s *Server) builder(_ http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	f := r.URL.Query()
	if verb, add, _ := strings.Cut(f.Get("do"), " "); verb == "add" && add != "" {
		n := 1
		for f.Get("part-"+strconv.Itoa(n)) != "" {
			n++
		}
		f.Set("part-"+strconv.Itoa(n), add)
	}
	b, err := s.builderBody(r.Context(), p, f)
	return projectPage("builder", "compositions", "Compose", p, b, err)
}

func (s *Server) builderBody(ctx context.Context, p state.Project, f url.Values) (builderBody, error) {
	b := builderBody{Form: f, Name: f.Get("name"), Window: window,
		Strategy: []string{"equal", "proportional", "recency", "inverse-recency"}, Ratios: []int{5, 10, 15, 30, 50}}
	st, err := trust.Outline(ctx, s.Memory.DB, p.ID)
	if err != nil {
		return b, err
	}
	if err := s.offer(ctx, p, &b); err != nil {
		return b, err
	}
	b.Old = st.Named()
	b.Exists = slices.ContainsFunc(b.Old, func(c *records.Composition) bool { return c.Name == strings.TrimSpace(b.Name) })
	in, wrong := builderRequest(f)
	b.Budget = cmp.Or(strings.TrimSpace(f.Get("budget")), strconv.Itoa(defaultBudget))
	for _, n := range partNumbers(f) {
		i := strconv.Itoa(n)
		rev, err := s.Session(ctx, f.Get("part-"+i))
		if err != nil {
			return b, err
		}
		of, err := trust.Outline(ctx, s.Memory.DB, rev.Project.ID)
		if err != nil {
			return b, err
		}
		b.Parts = append(b.Parts, builderPart{N: n, Session: rev.Session, Name: rev.Session.ID,
			Version: f.Get("version-" + i), Tokens: f.Get("tokens-" + i), Versions: of.VersionsOf(rev.Session.ID)})
	}
	if wrong != nil {
		b.Problem = s.ProblemOf(wrong)
	}
	if wrong != nil || len(in.Components) == 0 {
		return b, nil
	}
	if in.Name == "" {
		in.Name = "preview"
	}
	preview, err := s.PreviewComposition(ctx, p, in)
	if err != nil {
		b.Problem = s.ProblemOf(err)
		return b, nil
	}
	b.Preview, b.Percent = &preview, 100*float64(preview.Tokens)/window
	for i := range preview.Parts {
		if i < len(b.Parts) {
			b.Parts[i].Got = &preview.Parts[i]
		}
	}
	return b, nil
}

// offer lists the sessions that match the words of the form and are no part yet, those that are not in memory too.
func (s *Server) offer(ctx context.Context, p state.Project, b *builderBody) error {
	items, _, err := s.List(ctx, p, capture.ListOptions{})
	if err != nil {
		return err
	}
	b.Find = strings.TrimSpace(b.Form.Get("find"))
	words := strings.Fields(strings.ToLower(b.Find))
	taken := func(id string) bool {
		for name, values := range b.Form {
			if strings.HasPrefix(name, "part-") && values[0] != "" && strings.HasPrefix(id, values[0]) {
				return true
			}
		}
		return false
	}
	for _, it := range items {
		text := strings.ToLower(it.Title + " " + it.ID)
		if taken(it.ID) || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			continue
		}
		if len(b.Sessions) == mostChoices {
			b.More++
			continue
		}
		b.Sessions = append(b.Sessions, sessionChoice{it, it.Status == sessions.Untracked})
	}
	return nil
}

// Adding returns the address of the form with session id added.
func (b builderBody) Adding(p state.Project, id string) string {
	q := url.Values{}
	for name, values := range b.Form {
		if name != "do" && name != "part" {
			q[name] = values
		}
	}
	q.Set("do", "add "+id)
	return "/p/" + string(p.ID) + "/compose?" + q.Encode()
}

// createComposition starts a job that creates the composition of a form.
func (s *Server) createComposition(w http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	in, err := builderRequest(r.PostForm)
	if err == nil && in.Name != "" {
		_, err = s.ComposeRequest(r.Context(), p, in, true) // reports errors before the job starts
	}
	b, broken := s.builderBody(r.Context(), p, r.PostForm)
	if broken != nil {
		return "", page{}, cmp.Or(err, broken)
	}
	b.NoName, b.Refused = in.Name == "", b.Exists && r.PostForm.Get("replace") != in.Name
	if err != nil || b.NoName || b.Refused { // the form again, as it was
		if err != nil {
			b.Problem = s.ProblemOf(err)
		}
		return projectPage("builder", "compositions", "Compose", p, b, nil)
	}
	j := s.Jobs.Start("compose "+in.Name, func(ctx context.Context) (string, error) {
		done, err := s.Compose(ctx, p, in)
		if err != nil {
			return "", err
		}
		to := compositionLink(done.Project.ID, done.Composition.Name)
		if export := r.PostForm.Get("export"); export == "md" || export == "jsonl" {
			to += "?export=" + export
		}
		return to, nil
	})
	return redirect(w, r, "/jobs/"+j.ID)
}

// A compositionsBody lists the compositions of a project.
type compositionsBody struct {
	All []listedComposition
}

// A listedComposition is a composition with the titles and days of its parts.
type listedComposition struct {
	*records.Composition
	Components []view.Component
}

func (s *Server) compositions(_ http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	st, err := trust.Outline(r.Context(), s.Memory.DB, p.ID)
	if err != nil {
		return "", page{}, err
	}
	views, err := view.CompositionsOf(r.Context(), s.Memory.DB, p, st.Named())
	if err != nil {
		return "", page{}, err
	}
	var b compositionsBody
	for i, c := range st.Named() {
		b.All = append(b.All, listedComposition{c, views[i].Components})
	}
	return projectPage("compositions", "compositions", "Compositions", p, b, nil)
}

// An earlierState is an earlier state of a composition, with its revision.
type earlierState struct {
	*records.Composition
	Rev string
}

// A compositionBody is one composition.
type compositionBody struct {
	*records.Composition
	Timeline []view.Component
	ID       string
	Hash     string
	Text     string
	Raw      bool
	Reuse    string // link to the builder, filled in with the parts of this composition
	Earlier  []earlierState
	Others   []*records.Composition // to compare with
}

func (s *Server) compositionScreen(w http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	ctx := r.Context()
	rev, err := s.CompositionIn(ctx, p, r.PathValue("name"))
	if err != nil {
		return "", page{}, err
	}
	if format := r.URL.Query().Get("format"); format != "" {
		return "", page{}, s.Write(ctx, w, rev, format, rev.Composition.Name)
	}
	if export := r.URL.Query().Get("export"); export == "md" || export == "jsonl" {
		w.Header().Set("Refresh", "0; url=?format="+export) // the browser shows the page and saves the file
	}
	b := compositionBody{Composition: rev.Composition, ID: compose.ID(rev.Hash), Hash: rev.Hash.String(),
		Raw: r.URL.Query().Get("view") == "source"}
	if b.Text, err = provenance.Markdown(ctx, s.Memory.DB, rev); err != nil {
		return "", page{}, err
	}
	q := url.Values{"name": {b.Name}, "budget": {strconv.Itoa(b.Budget)}, "allocate": {b.Strategy}}
	for i, part := range b.Parts {
		n := strconv.Itoa(i + 1)
		q.Set("part-"+n, part.Session)
		q.Set("version-"+n, part.Label)
	}
	b.Reuse = "/p/" + string(p.ID) + "/compose?" + q.Encode()
	st, err := trust.Outline(ctx, s.Memory.DB, p.ID)
	if err != nil {
		return "", page{}, err
	}
	views, err := view.CompositionsOf(ctx, s.Memory.DB, p, []*records.Composition{rev.Composition})
	if err != nil {
		return "", page{}, err
	}
	b.Timeline = views[0].Components
	back := 0
	for _, c := range slices.Backward(st.Compositions) {
		if c.Name != b.Name || c.Deleted {
			continue
		}
		if back > 0 {
			b.Earlier = append(b.Earlier, earlierState{c, b.Name + "@{" + strconv.Itoa(back) + "}"})
		}
		back++
	}
	b.Others = slices.DeleteFunc(slices.Clone(st.Named()), func(c *records.Composition) bool { return c.Name == b.Name })
	crumbs := append(projectCrumbs(p), crumb{"Compositions", "/p/" + string(p.ID) + "/compositions"}, crumb{b.Name, ""})
	return "composition", page{Title: b.Name, Tab: "compositions", Project: p, Crumbs: crumbs, Body: b}, nil
}

func (s *Server) dropComposition(w http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	rev, err := s.CompositionIn(r.Context(), p, r.PathValue("name"))
	if err != nil {
		return "", page{}, err
	}
	back := compositionLink(p.ID, rev.Composition.Name)
	if name, p, err := s.remove(r, rev, "the composition "+rev.Composition.Name, back); err != nil || name != "" {
		return name, p, err
	}
	return redirect(w, r, "/p/"+string(p.ID)+"/compositions")
}
