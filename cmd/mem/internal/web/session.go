package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A sessionBody is a session in one of three views: its conversation, all of its messages, or its details.
type sessionBody struct {
	*state.Session
	Name     string
	Tokens   int
	Counted  bool
	Versions []versionRow
	Others   []branchRow // the session as it went on on other devices
	Origin   *originRow
	View     string
	Talk     *conversation
	Messages *transcriptBody
	Details  *sessionDetails
}

// A branchRow is a session as it went on on another device.
type branchRow struct{ ID, Device string }

// An originRow is the session that a fork was made from.
type originRow struct{ ID, Name string } // without an ID if it is not in memory

// relatives returns the other branches of a session, and its origin, nil if it is no fork.
func (s *Server) relatives(ctx context.Context, rev state.Rev) (out []branchRow, fork *originRow, err error) {
	st, err := trust.Outline(ctx, s.Memory.DB, rev.Project.ID)
	if err != nil {
		return nil, nil, err
	}
	if of := rev.Session.ForkOf(); of != "" {
		fork = &originRow{Name: of}
		if origin := st.Session(of); origin != nil {
			fork.ID = origin.ID
		}
	}
	for _, b := range st.Branches(rev.Session) {
		if b.ID == rev.Session.ID || !b.Shown() {
			continue
		}
		name, err := trust.DeviceName(ctx, s.Memory.DB, b.Device())
		if err != nil {
			return nil, nil, err
		}
		out = append(out, branchRow{b.ID, name})
	}
	return out, fork, nil
}

// The views of a session.
const (
	viewTalk     = "conversation"
	viewMessages = "messages"
	viewDetails  = "details"
)

// sessionDetails is what is known of a session and made from it.
type sessionDetails struct {
	UsedBy  []string // compositions that use the session, whole or in a version
	Keepits []state.Keepit
	Facts   []facts.Fact
	Earlier []*records.Point
	New     int        // messages since the newest version
	Agents  []agentRow // subagents that the session started
	Related []relatedRow
	Others  []relatedRow // projects that it can be related to
}

// An agentRow is a subagent of a session.
type agentRow struct {
	*state.Session
	Name string
}

// A relatedRow is a related project, with the reason.
type relatedRow struct {
	ID           refs.Project
	Name, Reason string
}

// A versionRow is a version of a list.
type versionRow struct {
	*records.Version
	UsedBy   []string
	LastUsed time.Time // by a session that began with it, or a composition
}

// sessionPage returns the session and the common part of its pages. last are the names of crumbs after the session.
func (s *Server) sessionPage(ctx context.Context, id string, last ...string) (state.Rev, page, error) {
	rev, err := s.Session(ctx, id)
	if err != nil {
		return rev, page{}, err
	}
	title := cmp.Or(rev.Session.Title(), records.ShortID(rev.Session.ID))
	p := page{Title: title, Tab: "browser", Project: rev.Project,
		Crumbs: []crumb{{"Memory", "/"}, {rev.Project.Name, "/p/" + string(rev.Project.ID)}}}
	link := "/s/" + rev.Session.ID
	if len(last) == 0 {
		link = ""
	}
	p.Crumbs = append(p.Crumbs, crumb{records.ShortID(rev.Session.ID), link})
	for _, name := range last {
		p.Crumbs = append(p.Crumbs, crumb{name, ""})
		p.Title = name + " · " + p.Title
	}
	return rev, p, nil
}

// sessionScreen shows a session. A filter or the number of a message is a request for its messages.
func (s *Server) sessionScreen(_ http.ResponseWriter, r *http.Request) (string, page, error) {
	ctx := r.Context()
	rev, p, err := s.sessionPage(ctx, r.PathValue("session"))
	if err != nil {
		return "", page{}, err
	}
	b := sessionBody{Session: rev.Session, Name: rev.Session.ID, View: viewTalk}
	b.Tokens, b.Counted = capture.TokensOf(s.Memory.DB, rev.Project.ID, rev.Session)
	if b.Versions, err = s.versionRows(ctx, rev); err != nil {
		return "", page{}, err
	}
	if b.Others, b.Origin, err = s.relatives(ctx, rev); err != nil {
		return "", page{}, err
	}
	f := r.URL.Query()
	switch {
	case f.Get("view") == viewDetails || rev.Session.Revoked != "": // its text is hidden
		b.View = viewDetails
		b.Details, err = s.sessionDetails(ctx, rev, b.Versions)
	case f.Get("view") == viewMessages || f.Has("from") || f.Has("q") || f.Has("role") || f.Has("tool") || f.Has("thinking"):
		b.View = viewMessages
		b.Messages, err = s.transcript(ctx, rev, f)
	default:
		b.Talk, err = s.conversation(ctx, rev, f.Get("page"))
	}
	if err != nil {
		return "", page{}, err
	}
	p.Body = b
	return "session", p, nil
}

func (s *Server) sessionDetails(ctx context.Context, rev state.Rev, versions []versionRow) (*sessionDetails, error) {
	b := &sessionDetails{Earlier: rev.Session.Earlier(), New: sinceNewest(rev, versions)}
	var err error
	if len(rev.Session.Markers()) > 0 || len(rev.Session.Overrides) > 0 {
		if b.Keepits, err = markers.Keepits(ctx, s.Memory.DB, rev); err != nil {
			return nil, err
		}
	}
	set, err := revision.Facts(ctx, s.Memory.DB, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	for _, f := range api.Valid(set, "") {
		if f.Session == rev.Session.ID {
			b.Facts = append(b.Facts, f)
		}
	}
	st, err := trust.Outline(ctx, s.Memory.DB, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	b.UsedBy = st.Users(state.Rev{Kind: state.IsSession, Session: rev.Session})
	for _, one := range st.Sessions {
		if one.Parent() == rev.Session.ID && !one.Deleted && one.Revoked == "" {
			b.Agents = append(b.Agents, agentRow{one, one.ID})
		}
	}
	return b, s.relate(ctx, rev, b)
}

// sinceNewest returns the number of messages after the newest version of the whole session.
func sinceNewest(rev state.Rev, versions []versionRow) int {
	for _, v := range slices.Backward(versions) {
		if v.Source == "" && v.Since == "" && v.Skip() == 0 {
			return max(0, rev.Session.Now().Scan.Messages-v.MessagesIn)
		}
	}
	return 0
}

// Skip returns the number of messages that the version omits at the start.
func (v versionRow) Skip() int { return v.Settings.Skip }

func (s *Server) versionRows(ctx context.Context, rev state.Rev) ([]versionRow, error) {
	st, err := trust.Outline(ctx, s.Memory.DB, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	var out []versionRow
	for _, v := range st.VersionsOf(rev.Session.ID) {
		row := versionRow{v, st.UsedBy(v), v.Used.Last}
		for _, c := range st.Named() {
			if slices.Contains(row.UsedBy, c.Name) && c.Time.After(row.LastUsed) {
				row.LastUsed = c.Time
			}
		}
		out = append(out, row)
	}
	return out, nil
}

// dropSession hides a session.
func (s *Server) dropSession(w http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	what := "the session " + cmp.Or(rev.Session.Title(), records.ShortID(rev.Session.ID))
	if name, p, err := s.remove(r, rev, what, "/s/"+rev.Session.ID); err != nil || name != "" {
		return name, p, err
	}
	return redirect(w, r, "/p/"+string(rev.Project.ID))
}

// nameSession sets the title of a session, or adds or removes a tag.
func (s *Server) nameSession(w http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	var err error
	ctx := r.Context()
	title, tag := strings.TrimSpace(r.PostFormValue("title")), strings.TrimSpace(r.PostFormValue("tag"))
	switch untag := r.PostFormValue("untag"); {
	case untag != "":
		err = sessions.Untag(ctx, s.Memory.DB, rev.Project, untag, false)
	case r.PostFormValue("do") == "title":
		if _, wrong := records.ParseTitle(title); wrong != nil && title != "" {
			return "", page{}, api.BadRequest("title: " + wrong.Error())
		}
		err = sessions.Retitle(ctx, s.Memory.DB, rev, title, sessions.Edit{})
	default:
		if _, wrong := records.ParseName(tag); wrong != nil {
			return "", page{}, api.BadRequest("tag: " + wrong.Error())
		}
		err = sessions.Tag(ctx, s.Memory.DB, rev, tag, sessions.Edit{})
	}
	if errors.Is(err, sessions.ErrTaken) || errors.Is(err, sessions.ErrNoTag) {
		err = api.NewProblem(http.StatusConflict, "conflict", err.Error())
	}
	return s.changed(w, r, err, "/s/"+rev.Session.ID+"?view="+viewDetails)
}

// relate sets the related projects, and those that can be related.
func (s *Server) relate(ctx context.Context, rev state.Rev, b *sessionDetails) error {
	all, err := s.Projects(ctx)
	if err != nil {
		return err
	}
	list, err := sessions.RelationsOf(ctx, s.Memory.DB, rev)
	if err != nil {
		return err
	}
	names := map[refs.Project]string{}
	for _, p := range all {
		names[p.ID] = projectName(p, all)
	}
	for _, r := range list {
		b.Related = append(b.Related, relatedRow{r.To, cmp.Or(names[r.To], fmt.Sprintf("%.8s", r.To)), r.Reason})
		delete(names, r.To)
	}
	for _, p := range all {
		if name := names[p.ID]; name != "" && p.ID != rev.Project.ID {
			b.Others = append(b.Others, relatedRow{ID: p.ID, Name: name})
		}
	}
	return nil
}

// relateSession relates a session to another project, or removes the relation.
func (s *Server) relateSession(w http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	var err error
	ctx := r.Context()
	if off := r.PostFormValue("off"); off != "" {
		err = sessions.Unrelate(ctx, s.Memory.DB, rev, refs.Project(off))
	} else {
		to, wrong := s.Project(ctx, r.PostFormValue("to"))
		if wrong != nil {
			return "", page{}, wrong
		}
		reason := strings.TrimSpace(r.PostFormValue("reason"))
		if _, wrong := records.ParseTitle(reason); wrong != nil {
			return "", page{}, api.BadRequest("reason: " + wrong.Error())
		}
		err = sessions.Relate(ctx, s.Memory.DB, rev, to.ID, reason)
	}
	if errors.Is(err, sessions.ErrOwn) || errors.Is(err, sessions.ErrNotRelated) {
		err = api.NewProblem(http.StatusConflict, "conflict", err.Error())
	}
	return s.changed(w, r, err, "/s/"+rev.Session.ID+"?view="+viewDetails)
}
