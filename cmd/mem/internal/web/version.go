package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// A versionBody is one version: its text in one of several views, and its derivation.
type versionBody struct {
	*records.Version
	Name     string // of the session
	Label    string
	View     string
	Legend   string // how to read the text, shown above it
	Text     string
	Blame    []provenance.BlameLine
	Bad      int // number of lines that no message supports
	Lines    int
	Fates    []markers.Judgement
	UsedBy   []string
	Others   []versionRow
	Hash     string
	Key      string
	Recipe   string
	Checked  string // result of a reproduction
	Rejected bool   // the reproduction differs
}

func (s *Server) versionScreen(_ http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	return s.versionPage(r.Context(), rev, r.URL.Query().Get("view"))
}

func (s *Server) versionPage(ctx context.Context, rev state.Rev, view string) (string, page, error) {
	name := rev.Version.Name()
	_, p, err := s.sessionPage(ctx, rev.Session.ID, name)
	if err != nil {
		return "", page{}, err
	}
	v := rev.Version
	b := versionBody{Version: v, Name: rev.Session.ID, Label: name, View: view, Hash: rev.Hash.String(),
		Key: v.Derivation.Key().String(), Recipe: string(v.Derivation.Recipe.Params)}
	if b.Fates, err = markers.Fates(ctx, s.Memory.DB, rev); err != nil {
		return "", page{}, err
	}
	rows, err := s.versionRows(ctx, rev)
	if err != nil {
		return "", page{}, err
	}
	for _, o := range rows {
		if o.Name() == name {
			b.UsedBy = o.UsedBy
		} else {
			b.Others = append(b.Others, o)
		}
	}
	switch view {
	case "blame":
		if b.Blame, err = provenance.Blame(ctx, s.Memory.DB, rev); err != nil {
			return "", page{}, err
		}
		for _, l := range b.Blame {
			if !l.Frame {
				b.Lines++
				if !l.Supported {
					b.Bad++
				}
			}
		}
	default:
		var text strings.Builder
		if err := checkout.Write(ctx, s.Memory.DB, rev, checkout.Markdown, &text); err != nil {
			return "", page{}, err
		}
		b.Text = text.String()
		if rest, ok := strings.CutPrefix(b.Text, compress.Legend); ok && view != "source" {
			b.Legend, b.Text = strings.TrimPrefix(compress.Legend, "## "), rest
		}
	}
	p.Body = b
	return "version", p, nil
}

// verifyVersion reproduces a version and shows whether it is identical.
func (s *Server) verifyVersion(_ http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	ctx := r.Context()
	made, err := derive.Reproduce(ctx, s.Memory.DB, rev)
	if err != nil {
		return "", page{}, err
	}
	name, p, err := s.versionPage(ctx, rev, "")
	if err != nil {
		return "", page{}, err
	}
	b, ok := p.Body.(versionBody)
	if !ok {
		return name, p, nil
	}
	b.Checked = "Reproduced from its inputs: identical."
	if made.Output != rev.Hash {
		b.Checked, b.Rejected = "Reproduced from its inputs: different, b3:"+made.Output.String(), true
	}
	p.Body = b
	return name, p, nil
}

func (s *Server) versionFile(w http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	return "", page{}, s.Write(r.Context(), w, rev, r.URL.Query().Get("format"), rev.Version.FileName())
}

// A manageBody is the list for deleting versions.
type manageBody struct {
	Name     string
	Tokens   int
	Counted  bool
	Versions []versionRow
	UsedBy   []string // compositions that use the session, whole or in a version
	Selected map[string]bool
	Number   int
	Sum      int
	Used     []string // selected versions that compositions use
	Confirm  bool     // ask for confirmation
}

func (s *Server) manage(_ http.ResponseWriter, r *http.Request) (string, page, error) {
	return s.managePage(r, r.URL.Query()["v"], false)
}

func (s *Server) managePage(r *http.Request, selected []string, confirm bool) (string, page, error) {
	ctx := r.Context()
	rev, p, err := s.sessionPage(ctx, r.PathValue("session"), "Manage compressions")
	if err != nil {
		return "", page{}, err
	}
	b := manageBody{Name: rev.Session.ID, Selected: map[string]bool{}, Confirm: confirm}
	b.Tokens, b.Counted = capture.TokensOf(s.Memory.DB, rev.Project.ID, rev.Session)
	if b.Versions, err = s.versionRows(ctx, rev); err != nil {
		return "", page{}, err
	}
	st, err := trust.Outline(ctx, s.Memory.DB, rev.Project.ID)
	if err != nil {
		return "", page{}, err
	}
	b.UsedBy = st.Users(state.Rev{Kind: state.IsSession, Session: rev.Session})
	for _, v := range b.Versions {
		if slices.Contains(selected, v.Name()) {
			b.Selected[v.Name()] = true
			b.Number++
			b.Sum += v.TokensOut
			if len(v.UsedBy) > 0 {
				b.Used = append(b.Used, v.Name())
			}
		}
	}
	p.Body = b
	return "manage", p, nil
}

// deleteVersions hides versions. It asks for confirmation if the settings require it or compositions use them.
func (s *Server) deleteVersions(w http.ResponseWriter, r *http.Request) (string, page, error) {
	names := r.PostForm["v"]
	if len(names) == 0 {
		return "", page{}, api.BadRequest("no version is selected")
	}
	ask, err := s.requiresConfirmation()
	if err != nil {
		return "", page{}, err
	}
	name, p, err := s.managePage(r, names, true)
	if err != nil {
		return "", page{}, err
	}
	if b, ok := p.Body.(manageBody); ok && r.PostForm.Get("sure") == "" && (ask || len(b.Used) > 0) {
		return name, p, nil
	}
	for _, label := range names {
		rev, err := s.Version(r.Context(), r.PathValue("session"), label)
		if err == nil {
			err = derive.Remove(r.Context(), s.Memory.DB, rev, true, false) // confirmed
		}
		if err != nil {
			return "", page{}, err
		}
	}
	return s.changed(w, r, "/s/"+r.PathValue("session")+"/manage")
}
