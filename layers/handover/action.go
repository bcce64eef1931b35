package handover

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/shell"
	"github.com/memvcs/mem/layers/state"
)

// An Action is what a session is told before it does something: before a command of a form that fails here, or before
// an edit of what a rule, a pin or words of the user name.
type Action struct {
	ID    string   `json:"id"`
	Key   string   `json:"key,omitempty"`   // of commands, see [formKeys]
	Names []string `json:"names,omitempty"` // of files and symbols
	Text  string   `json:"text"`            // in its fence
}

// A Call is a call of a tool that is about to run.
type Call struct {
	Command string
	File    string // that it edits
	Lines   string // the lines of it before and after
}

// Limits of actions.
const (
	maxActions    = 80
	MaxActionText = 700 // characters
	maxActionName = 12
	leastSymbol   = 6
)

// ActionsFor returns the actions that a call gives cause for.
func ActionsFor(list []Action, c Call) (out []Action) {
	var keys []string
	if c.Command != "" && len(c.Command) <= maxForm {
		keys = lineKeys(shell.Parse(c.Command))
	}
	for _, a := range list {
		if a.Key != "" && slices.Contains(keys, a.Key) || c.File != "" && slices.ContainsFunc(a.Names, c.names) {
			out = append(out, a)
		}
	}
	return out
}

// names reports whether a name is that of the edited file or of a symbol on the edited lines.
func (c Call) names(name string) bool {
	file := slashed(c.File)
	if file == name || strings.HasSuffix(file, "/"+name) {
		return true
	}
	if strings.ContainsAny(name, "./") {
		return false
	}
	for rest := c.Lines; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		after := rest[i+len(name):]
		if !wordEnd(rest[:i], true) || !wordEnd(after, false) {
			rest = after
			continue
		}
		return true
	}
}

// wordEnd reports whether no letter or digit is at the end of s, or at its start.
func wordEnd(s string, atEnd bool) bool {
	if s == "" {
		return true
	}
	b := s[0]
	if atEnd {
		b = s[len(s)-1]
	}
	return b != '_' && !(b >= '0' && b <= '9') && !(b|0x20 >= 'a' && b|0x20 <= 'z')
}

// named matches names of files and symbols in a text of the user: with an extension or a slash, with a change of case
// or an underscore inside.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\w@.-]+(?:/[\w@.-]+)*\.[A-Za-z]{1,5}\b|[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+|[A-Za-z]+_\w+`)
})

// namesIn returns the names of files and symbols in a text.
func namesIn(text string) (out []string) {
	for _, s := range named().FindAllString(text, -1) {
		file := strings.Contains(s, ".")
		if file && !strings.ContainsAny(s[strings.LastIndexByte(s, '.')+1:], "abcdefghijklmnopqrstuvwxyz") ||
			!file && len(s) < leastSymbol || slices.Contains(out, s) || len(out) == maxActionName {
			continue
		}
		out = append(out, s)
	}
	return out
}

// actions returns what the session is told before it acts.
func (b *briefing) actions() (out []Action) {
	drops := dropped(b.st)
	add := func(a Action, title string, it brief.Item) {
		if len(out) == maxActions || drops != nil && drops(it) {
			return
		}
		given := give(b.m, b.st, brief.Sheet{Project: b.st.Name, Sections: []brief.Section{{Title: title, Items: []brief.Item{it}}}},
			MaxActionText)
		if a.ID, a.Text = given.Hash, given.Text; a.Text != "" {
			out = append(out, a)
		}
	}
	for _, f := range failingForms(b.digests) {
		add(Action{Key: f.Key}, "This command failed in an earlier session and was not seen to work since",
			brief.Item{Text: f.text(), Source: citing(f.session, f.N), Trust: brief.Tool, Named: true, About: "fails: " + f.Key})
	}
	for _, it := range slices.Concat(b.ruleItems(), b.pinItems(), wantItems(b.digests), b.userFacts()) {
		if names := namesIn(it.Text); len(names) > 0 && it.Trust == brief.User {
			add(Action{Names: names}, "This edit is about something that the user spoke of", it)
		}
	}
	return out
}

// Actions returns what a session is told before it acts. It makes missing digests.
func Actions(ctx context.Context, db *state.DB, p state.Project, o ContextOptions) ([]Action, error) {
	b, err := newBriefing(ctx, db, p, o)
	if err != nil {
		return nil, err
	}
	if _, err := b.digest(ctx, p); err != nil {
		return nil, err
	}
	return b.actions(), nil
}

// userFacts returns the decisions and preferences of the user.
func (b *briefing) userFacts() (out []brief.Item) {
	for _, f := range b.newestFacts(contextIssues, func(f *facts.Fact) bool {
		return (f.Kind == facts.Decision || f.Kind == facts.Preference) && f.Trust == facts.User
	}) {
		out = append(out, b.factItem(f))
	}
	return out
}

// Subagent returns what a subagent is told: rules and pinned texts. It reads only digests in the cache.
func Subagent(ctx context.Context, db *state.DB, p state.Project, o ContextOptions) (Given, error) {
	o.Late = func() bool { return true }
	b, err := newBriefing(ctx, db, p, o)
	if err != nil {
		return Given{}, err
	}
	if _, err := b.digest(ctx, p); err != nil {
		return Given{}, err
	}
	return give(db, b.st, brief.Sheet{Project: b.st.Name, Sections: b.stated(o.Program + " ")}, o.Limit), nil
}
