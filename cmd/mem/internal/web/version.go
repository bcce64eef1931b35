package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
)

// A versionBody is one version: its text in one of several views, and its derivation.
type versionBody struct {
	*records.Version
	Name     string // of the session
	Title    string
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
	b := versionBody{Version: v, Name: rev.Session.ID, Title: cmp.Or(rev.Session.Title(), records.ShortID(rev.Session.ID)), Label: name, View: view, Hash: rev.Hash.String(),
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
		if rest, ok := strings.CutPrefix(b.Text, version.Legend); ok && view != "source" {
			b.Legend, b.Text = strings.Trim(version.Legend, "[]"), rest
		}
	}
	p.Body = b
	return "version", p, nil
}

// verifyVersion reproduces a version and shows whether it is identical.
func (s *Server) verifyVersion(_ http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	ctx := r.Context()
	made, err := provenance.Reproduce(ctx, s.Memory.DB, rev)
	if err = cmp.Or(err, made.Err); err != nil {
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
	if !made.Identical {
		b.Checked, b.Rejected = "Reproduced from its inputs: different, b3:"+made.Output.String(), true
	}
	p.Body = b
	return name, p, nil
}

func (s *Server) versionFile(w http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	return "", page{}, s.Write(r.Context(), w, rev, r.URL.Query().Get("format"), rev.Version.FileName())
}

// deleteVersions hides versions of a session. It asks first if the settings require it, or compositions use them.
func (s *Server) deleteVersions(w http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	rows, err := s.versionRows(r.Context(), rev)
	if err != nil {
		return "", page{}, err
	}
	var used, names []string
	sum := 0
	for _, name := range r.Form["v"] {
		_, label, _ := strings.Cut(name, ":")
		i := slices.IndexFunc(rows, func(v versionRow) bool { return v.Name() == label })
		if i < 0 {
			return "", page{}, api.NoSuch("version", name)
		}
		sum += rows[i].TokensOut
		names = append(names, label)
		if len(rows[i].UsedBy) > 0 {
			used = append(used, label)
		}
	}
	if len(names) == 0 {
		return "", page{}, api.BadRequest("no version is selected")
	}
	ask, err := s.requiresConfirmation()
	if err != nil {
		return "", page{}, err
	}
	back := "/s/" + rev.Session.ID
	if r.PostFormValue("sure") == "" && (ask || len(used) > 0) {
		b := confirmBody{Question: fmt.Sprintf("Remove %s (%s tokens)?", count(len(names), "version"), tokens.Commas(sum)),
			Action: back + "/delete?" + url.Values{"v": r.Form["v"]}.Encode(), Back: back + "?view=" + viewDetails}
		if len(used) > 0 {
			b.Used = "Compositions use " + strings.Join(used, ", ") + " and keep their own copy."
		}
		return "confirm", page{Title: "Confirm", Project: rev.Project, Body: b}, nil
	}
	for _, label := range names {
		one, err := s.Version(r.Context(), rev.Session.ID, label)
		if err == nil {
			err = derive.Remove(r.Context(), s.Memory.DB, one, true, false) // confirmed
		}
		if err != nil {
			return "", page{}, err
		}
	}
	return s.did(w, r, rev.Project, nil, "Removed: "+strings.Join(names, ", ")+".", back+"?view="+viewDetails)
}
