package web

import (
	"context"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/stats"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/refs/config"
)

// A statsBody is the statistics of a project, with charts.
type statsBody struct {
	stats.Stats
	ByMonth template.HTML
	ByRatio template.HTML
}

func (s *Server) statsScreen(_ http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	var err error
	b := statsBody{}
	if b.Stats, err = s.API.Stats(r.Context(), p); err != nil {
		return "", page{}, err
	}
	var months, ratios []column
	for _, m := range b.Months {
		months = append(months, column{m.Month[2:], m.Tokens})
	}
	for _, x := range b.Ratios {
		ratios = append(ratios,
			column{strings.TrimSuffix(strings.NewReplacer("up to ", "≤", "above ", ">", " to ", "-").Replace(x.Ratio), ":1"),
				x.Versions})
	}
	b.ByMonth, b.ByRatio = chart("Tokens of sessions by month", months, tokens.Format), chart("Versions by ratio", ratios, tokens.Commas)
	return "stats", page{Title: "Statistics", Tab: "stats", Project: p, Crumbs: projectCrumbs(p, "Statistics"), Body: b},
		nil
}

// StoredBytes returns the stored bytes of all kinds.
func (b statsBody) StoredBytes() (sum int64) {
	for _, k := range b.Storage.Kinds {
		sum += k.Stored
	}
	return sum
}

// A settingsBody lists all settings with the sources of their values.
type settingsBody struct {
	Groups  []settingGroup
	Unknown []string
	Problem *api.Problem
	Failed  string // key
	Tried   string
}

type settingGroup struct {
	Name string
	List []settingRow
}

// A settingRow is a setting with its description.
type settingRow struct {
	config.Setting
	About   string
	Default string
	Fixed   bool // this page may not change it
}

func (s *Server) settingsScreen(http.ResponseWriter, *http.Request) (string, page, error) {
	return s.settingsPage(settingsBody{})
}

func (s *Server) settingsPage(b settingsBody) (string, page, error) {
	conf, err := s.Settings()
	if err != nil {
		return "", page{}, err
	}
	for _, one := range conf.List() {
		group, _, _ := strings.Cut(one.Key, ".")
		if group == one.Key {
			group = "general"
		}
		i := slices.IndexFunc(b.Groups, func(g settingGroup) bool { return g.Name == group })
		if i < 0 {
			i = len(b.Groups)
			b.Groups = append(b.Groups, settingGroup{Name: group})
		}
		row := settingRow{Setting: one, Fixed: runsPrograms(one.Key)}
		if k, err := config.Lookup(one.Key); err == nil {
			row.About, row.Default = k.Usage, k.Default
		}
		b.Groups[i].List = append(b.Groups[i].List, row)
	}
	b.Unknown = conf.Unknown()
	return "settings", page{Title: "Settings", Tab: "settings", Crumbs: []crumb{{"Memory", "/"}, {"Settings", ""}},
		Body: b}, nil
}

// runsPrograms reports whether a setting names a program that mem runs, or a URL that receives keys and transcripts.
// Those can be changed on the command line only, not by a browser.
func runsPrograms(key string) bool {
	return strings.HasSuffix(strings.ToLower(key), "command") || strings.Contains(strings.ToLower(key), "url") ||
		strings.HasPrefix(key, "core.") || strings.HasPrefix(key, "pager")
}

func (s *Server) changeSetting(w http.ResponseWriter, r *http.Request) (string, page, error) {
	key, value := r.PostFormValue("key"), r.PostFormValue("value")
	if runsPrograms(key) {
		return "", page{}, api.NewProblem(http.StatusForbidden, "forbidden", key+
			" is set on the command line only: it names what mem runs or talks to", s.Program+" config set "+key+" VALUE")
	}
	if r.PostFormValue("reset") != "" {
		value = ""
	} else if value == "" {
		return "", page{}, api.BadRequest("the value is empty", "to go back to the default, use Reset")
	}
	if err := s.Set(r.Context(), key, value); err != nil {
		return s.settingsPage(settingsBody{Problem: s.ProblemOf(err), Failed: key, Tried: value})
	}
	return s.changed(w, r, "/settings")
}

// A syncBody is the state of the remotes.
type syncBody struct {
	Remotes []syncRow
}

type syncRow struct {
	sync.Status
	Problem string
}

func (s *Server) sync(_ http.ResponseWriter, r *http.Request) (string, page, error) {
	all, err := s.remotes(r.Context())
	if err != nil {
		return "", page{}, err
	}
	b := syncBody{Remotes: all}
	return "sync", page{Title: "Sync", Crumbs: []crumb{{"Memory", "/"}, {"Sync", ""}}, Body: b}, nil
}

// remotes returns the last known state of each remote. It does not use the network.
func (s *Server) remotes(ctx context.Context) ([]syncRow, error) {
	all, err := s.Memory.Sync().Remotes()
	var out []syncRow
	for _, one := range all {
		t, err := s.Memory.Sync().RemoteStatus(ctx, one, false)
		row := syncRow{Status: t}
		if row.Remote = one; err != nil {
			row.Problem = err.Error()
		}
		out = append(out, row)
	}
	return out, err
}

func (s *Server) keys(http.ResponseWriter, *http.Request) (string, page, error) {
	return "keys", page{Title: "Keyboard shortcuts", Crumbs: []crumb{{"Memory", "/"}, {"Keyboard shortcuts", ""}}}, nil
}
