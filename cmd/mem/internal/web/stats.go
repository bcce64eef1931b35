package web

import (
	"cmp"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/stats"
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
	if b.Stats, err = s.API.Stats(r.Context(), p, r.FormValue("storage") != ""); err != nil {
		return "", page{}, err
	}
	b.Storage.Kinds = stats.OwnRecords(b.Storage.Kinds)
	var months, ratios []column
	what, format := "Tokens", tokens.Format
	if b.Counted < b.Sessions { // the months would not compare
		what, format = "Messages", tokens.Commas
	}
	for _, m := range b.Months {
		n := m.Tokens
		if b.Counted < b.Sessions {
			n = m.Messages
		}
		months = append(months, column{m.Month[2:], n})
	}
	for _, x := range b.Ratios {
		ratios = append(ratios,
			column{strings.TrimSuffix(strings.NewReplacer("up to ", "≤", "above ", ">", " to ", "-").Replace(x.Ratio), ":1"),
				x.Versions})
	}
	b.ByMonth, b.ByRatio = chart(what+" of sessions by month", months, format), chart("Versions by ratio", ratios, tokens.Commas)
	return projectPage("stats", "stats", "Statistics", p, b, nil)
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
	Failed  string            // key
	Tried   map[string]string // values of a form that was not saved
}

type settingGroup struct {
	Key, Name string
	List      []settingRow
}

// A settingRow is a setting with its description.
type settingRow struct {
	config.Setting
	About   string
	Default string
	Choices []string // all values, if there are few
	Fixed   bool     // this page may not change it
}

// groupNames are the names of the groups of settings, by the first word of their keys.
var groupNames = map[string]string{
	"autoDecay": "Old sessions", "color": "Terminal", "core": "Terminal", "pager": "Terminal", "defaults": "Defaults",
	"distill": "Facts and rules", "facts": "Facts and rules", "engine": "Engine and models", "llm": "Engine and models",
	"tokens": "Engine and models", "hooks": "Hooks and hand-over", "recall": "Hooks and hand-over",
	"keepitDecay": "Pinned text", "lock": "Storage and remotes", "remote": "Storage and remotes",
	"storage": "Storage and remotes", "version": "Storage and remotes", "redact": "Secrets", "ui": "Browser and lists",
}

func (s *Server) settingsScreen(http.ResponseWriter, *http.Request) (string, page, error) {
	return s.settingsPage(settingsBody{})
}

func (s *Server) settingsPage(b settingsBody) (string, page, error) {
	conf, err := s.Lenient().Settings()
	if err != nil {
		return "", page{}, err
	}
	for _, one := range conf.List() {
		key, _, _ := strings.Cut(one.Key, ".")
		name := cmp.Or(groupNames[key], key)
		i := slices.IndexFunc(b.Groups, func(g settingGroup) bool { return g.Name == name })
		if i < 0 {
			i = len(b.Groups)
			b.Groups = append(b.Groups, settingGroup{Key: key, Name: name})
		}
		row := settingRow{Setting: one, Fixed: runsPrograms(one.Key)}
		if k, err := config.Lookup(one.Key); err == nil {
			row.About, row.Default, row.Choices = k.Usage, k.Default, k.Kind.Values
		}
		if tried, ok := b.Tried[one.Key]; ok {
			row.Value = tried
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

// changeSettings sets the settings of the form that differ. An empty value unsets one. If a value does not fit, the page
// shows what was typed, and nothing is saved.
func (s *Server) changeSettings(w http.ResponseWriter, r *http.Request) (string, page, error) {
	conf, err := s.Lenient().Settings()
	if err != nil {
		return "", page{}, err
	}
	scratch, err := config.Parse(nil)
	if err != nil {
		return "", page{}, err
	}
	tried, wants := map[string]string{}, []string{}
	for key := range r.PostForm {
		tried[key] = r.PostFormValue(key)
	}
	for _, key := range slices.Sorted(maps.Keys(tried)) {
		value := tried[key]
		now, _, err := conf.Get(key)
		if err != nil {
			return "", page{}, api.BadRequest(err.Error())
		}
		if value == now {
			continue
		}
		if runsPrograms(key) {
			return "", page{}, api.NewProblem(http.StatusForbidden, "forbidden", key+
				" is set on the command line only: it names what mem runs or talks to", s.Program+" config set "+key+" VALUE")
		}
		if value != "" {
			if err := scratch.Set(key, value); err != nil {
				return s.settingsPage(settingsBody{Problem: s.ProblemOf(api.BadRequest(err.Error())), Failed: key, Tried: tried})
			}
		}
		wants = append(wants, key)
	}
	for _, key := range wants {
		if err := s.Set(r.Context(), key, tried[key]); err != nil {
			return s.settingsPage(settingsBody{Problem: s.ProblemOf(err), Failed: key, Tried: tried})
		}
	}
	return s.changed(w, r, nil, "/settings")
}

func (s *Server) keys(http.ResponseWriter, *http.Request) (string, page, error) {
	return "keys", page{Title: "Keyboard shortcuts", Crumbs: []crumb{{"Memory", "/"}, {"Keyboard shortcuts", ""}}}, nil
}
