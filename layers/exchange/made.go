package exchange

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/shell"
)

// Made returns what calls of an exchange made elsewhere than in files, and nobody may have named: issues and pull
// requests, each with its kind and title.
func (x *Exchange) Made() (out []Said) {
	failed := func(n int) bool {
		return slices.ContainsFunc(x.Failures, func(f Failure) bool { return f.N == n }) ||
			slices.ContainsFunc(x.Refusals, func(r Refusal) bool { return r.Call == n })
	}
	add := func(n int, what, title string) {
		if title != "" && !failed(n) {
			out = append(out, Said{n, what + ` "` + strings.Join(strings.Fields(title), " ") + `"`})
		}
	}
	for _, c := range x.Calls {
		name := c.Tool[strings.LastIndex(c.Tool, "__")+1:] // of a tool of another program
		what, is := strings.CutPrefix(strings.TrimPrefix(name, "_"), "create_")
		if m := title().FindStringSubmatch(c.Target); is && m != nil && strings.HasPrefix(c.Tool, "mcp__") {
			text, err := strconv.Unquote(m[1])
			if err != nil {
				text = strings.Trim(m[1], `"`) // an escape of JSON that Go does not have
			}
			add(c.N, strings.ReplaceAll(what, "_", " "), text)
		}
	}
	for _, c := range x.Commands {
		if c.Exit != 0 || c.Verdict == Failed || !strings.Contains(c.Cmd, "create") {
			continue
		}
		for _, s := range shell.Parse(c.Cmd) {
			w := s.Program()
			if len(w) < 4 || w[2] != "create" || w[0] != "gh" && w[0] != "glab" {
				continue
			}
			switch w[1] {
			case "pr", "mr":
				add(c.N, "pull request", flag(w, "--title", "-t"))
			case "issue":
				add(c.N, "issue", flag(w, "--title", "-t"))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Said) int { return a.N - b.N })
	return out
}

// flag returns the value of an option.
func flag(words []string, long, short string) string {
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, long+"="):
			return w[len(long)+1:]
		case (w == long || w == short) && i+1 < len(words):
			return words[i+1]
		}
	}
	return ""
}

// title matches the title in the input of a call.
var title = pattern(`"(?:title|name|summary)": ?("(?:[^"\\]|\\.)*")`)
