package web

import (
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/view"
	"github.com/memvcs/mem/refs"
)

// funcs returns the functions of the templates.
func (s *Server) funcs(p *pages) template.FuncMap {
	return template.FuncMap{
		"asset":       func(name string) string { return p.assets[name].path },
		"commas":      commas,
		"weights":     weightPresets,
		"tok":         tokens.Format,
		"bytes":       app.BytesText,
		"count":       count,
		"short":       records.ShortID,
		"day":         func(t time.Time) string { return s.local(t).Format("2 Jan 2006") },
		"minute":      func(t time.Time) string { return s.local(t).Format("2 Jan 2006 15:04") },
		"stamp":       func(t time.Time) string { return view.Time{Time: t}.String() },
		"ago":         func(t time.Time) string { return ago(s.Now(), t) },
		"parse":       parseTime,
		"ratio":       func(r float64) string { return strconv.FormatFloat(r, 'f', 1, 64) + ":1" },
		"weight":      func(w keepit.Weight) string { return w.String() },
		"milli":       keepit.Thousandths,
		"signed":      signed,
		"words":       func(n int, s string) string { return tokens.OneLine(s, n) },
		"mode":        app.SettingsText,
		"runs":        messageRanges,
		"trim":        strings.TrimSpace,
		"md":          p.md.HTML,
		"add":         func(a, b int) int { return a + b },
		"dict":        dict,
		"path":        escapedPath,
		"dollars":     func(d float64) string { return "$" + strconv.FormatFloat(d, 'f', 4, 64) },
		"program":     func() string { return s.Program },
		"share":       share,
		"bar":         bar,
		"marked":      marked,
		"links":       headingLinks,
		"hitlink":     hitLink,
		"at":          at,
		"messagelink": messageLink,
		"linelink":    lineLink,
		"lineText":    lineText,
		"child":       isChild,
		"place":       func(identity string) string { return strings.TrimPrefix(identity, "path ") },
		"projname":    projectName,

		"difference":  differenceClass,
		"writesFiles": history.WritesFiles,
	}
}

// messageLink returns the URL of a message in its session.
func messageLink(session string, n int) string {
	return fmt.Sprintf("/s/%s?from=%d#m%d", escapedPath(session), n, n)
}

// at returns the link to a message.
func at(session string, n int) template.HTML {
	return template.HTML(fmt.Sprintf( //nolint:gosec // an escaped path and numbers
		`<a class="dim" href="%s" title="record %d of the session's file">#%d</a>`, template.HTMLEscapeString(messageLink(session, n)), n, n))
}

// headingLinks links the headings of a rendered version, which begin with the number of a message, to the session.
func headingLinks(html template.HTML, session string) template.HTML {
	numbered := regexp.MustCompile(`(<h2>)#([0-9]+)( ·|</h2>)`)
	return template.HTML(numbered.ReplaceAllString(string(html), //nolint:gosec // a part of it, an escaped path and numbers
		`$1<a href="/s/`+template.HTMLEscapeString(escapedPath(session))+`?from=$2#m$2">#$2</a>$3`))
}

// escapedPath returns a name as the end of the path of a URL. Package template escapes the values of a query by itself, but
// leaves what could be the rest of a URL in a path as it is: "?", "#" and "%41".
func escapedPath(name string) string { return (&url.URL{Path: name}).EscapedPath() }

// compositionLink returns the URL of a composition.
func compositionLink(p refs.Project, name string) string {
	return "/p/" + string(p) + "/c/" + escapedPath(name)
}

// differenceClass returns the style of a line of a unified diff.
func differenceClass(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return "plus"
	case strings.HasPrefix(line, "-"):
		return "minus"
	case strings.HasPrefix(line, "@"):
		return "at"
	}
	return ""
}

func (s *Server) local(t time.Time) time.Time { return t.In(s.Now().Location()) }

// projectName returns the name of a project, followed by its path or URL if another project in the list has that name.
func projectName(p state.Project, list []state.Project) string {
	if slices.ContainsFunc(list, func(q state.Project) bool { return q.ID != p.ID && q.Name == p.Name }) {
		return p.Name + ": " + strings.TrimPrefix(p.Identity, "path ")
	}
	return p.Name
}

// dict returns a map of alternating names and values, for templates with several arguments.
func dict(pairs ...any) (map[string]any, error) {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is not a name", pairs[i])
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}

func parseTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// count formats a number of things: "1 message", "1,204 messages".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return tokens.Commas(n) + " " + what + "s"
}

// ago returns the age of a time for people.
func ago(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return app.Ago(now, t)
}

// signed formats thousandths with their sign.
func signed(n int) string {
	if n > 0 {
		return "+" + keepit.Thousandths(n)
	}
	return keepit.Thousandths(n)
}

// messageRanges formats ranges of messages: "#12", "#12-18 #77".
func messageRanges(src [][2]int) string {
	const limit = 6
	var words []string
	for i, r := range src {
		if i == limit {
			words = append(words, "…")
			break
		}
		if r[0] == r[1] {
			words = append(words, fmt.Sprintf("#%d", r[0]))
		} else {
			words = append(words, fmt.Sprintf("#%d-%d", r[0], r[1]))
		}
	}
	return strings.Join(words, " ")
}

// commas formats a count in full.
func commas(n any) string {
	if wide, ok := n.(int64); ok {
		return tokens.Commas(int(wide))
	}
	count, _ := n.(int) // templates have no other counts
	return tokens.Commas(count)
}
