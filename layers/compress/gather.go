package compress

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/shell"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
)

// gather joins the edits of a file, the runs of a command and the failures of one in each exchange, at the first of them,
// and leaves out commands that only look around.
func gather(items []version.Item) (out []version.Item) {
	type key struct {
		x    int
		kind version.Kind
		name string
	}
	at := map[key]int{}
	for _, it := range items {
		if strings.Contains(it.Text, "\r") { // a terminal pastes lines that end so
			it.Text = strings.ReplaceAll(strings.ReplaceAll(it.Text, "\r\n", " \n"), "\r", "\n")
		}
		switch it.Kind {
		case version.Edit:
			it.Target = tokens.Clip(strings.ReplaceAll(it.Target, `\`, "/"), 200)
			for _, o := range slices.Backward(out) { // a file is named from the root, too
				if o.X == it.X && o.Kind == version.Edit && sameFile(it.Target, o.Target) {
					it.Target = o.Target
				} else if o.X != it.X {
					break
				}
			}
			if diff := strings.Trim(it.Diff, "\n"); strings.Contains(diff, "\n") { // one line says little
				if !strings.HasPrefix(diff, "@@") {
					diff = strings.Replace("@@ "+strconv.Itoa(it.Line)+" @@\n", "@@ 0 @@", "@@", 1) + diff
				}
				it.Hunks = []string{diff}
			}
		case version.Command:
			if it.Text = commandText(it.Text); it.Text == "" {
				continue
			}
			bare := shell.Unfiltered(it.Text)
			if _, known := at[key{it.X, it.Kind, bare}]; it.Label == "passed" || strings.HasPrefix(it.Label, "failed") || known && it.Label == "" { // an exit status is that of the filter
				it.Text = bare
			}
		case version.Failure:
			it.Label = tokens.Clip(shell.Short(it.Label), 100)
			if it.Text = shell.TellingLine(it.Text, it.Fixed > 0); it.Text == "" {
				continue
			}
		default:
			out = append(out, it)
			continue
		}
		name := it.Target
		if it.Kind != version.Edit {
			name = map[version.Kind]string{version.Command: it.Text, version.Failure: it.Label}[it.Kind]
		}
		k, known := at[key{it.X, it.Kind, name}]
		if !known || unnamed(name) > 0 {
			at[key{it.X, it.Kind, name}] = len(out)
			out = append(out, it)
			continue
		}
		first := &out[k]
		first.Src = append(slices.Clone(first.Sources()), it.Sources()...)
		if it.Fixed > 0 || first.Fixed < it.N {
			first.Fixed = it.Fixed
		}
		first.Closing = first.Closing || it.Closing
		switch {
		case it.Kind == version.Edit:
			first.Added, first.Removed, first.Partial = first.Added+it.Added, first.Removed+it.Removed, first.Partial || it.Partial
			first.Hunks, first.N = append(first.Hunks, it.Hunks...), it.N // what stands after the last of them
			slices.SortStableFunc(first.Hunks, func(a, b string) int { return lineOf(a) - lineOf(b) })
		case it.Kind == version.Failure && !strings.Contains(first.Text, it.Text) && len(first.Text)+len(it.Text) < 400:
			first.Text += gap + it.Text
		case it.Kind == version.Command && it.Label != "" && !strings.HasSuffix(first.Label, it.Label):
			first.Label = exchange.Then(first.Label, it.Label)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].N < out[j].N })
	return out
}

// sameFile reports whether one path ends with the other: a file is named from the root, from where the session began, and
// from the directory that a command changed to.
func sameFile(a, b string) bool {
	up := func(p string) string {
		for strings.HasPrefix(p, "../") {
			p = p[len("../"):]
		}
		return "/" + p
	}
	return strings.HasSuffix(a, up(b)) || strings.HasSuffix(b, up(a))
}

// lineOf returns the line that a hunk begins with, or 0.
func lineOf(hunk string) (n int) {
	fmt.Sscanf(hunk, "@@ %d", &n) // 0 without one
	return n
}

// arrow stands before how a command ended.
const arrow = " → "

// entryOf returns an edit or a command as it stands in a list.
func entryOf(it *version.Item) string {
	switch {
	case it.Kind == version.Edit && it.Added+it.Removed > 0:
		return fmt.Sprintf("%s (+%d −%d)", it.Target, it.Added, it.Removed)
	case it.Kind == version.Edit:
		return it.Target
	case it.Label != "":
		return it.Text + arrow + it.Label
	}
	return it.Text
}

// unnamed returns the number of entries that an entry stands for which ends a list of an earlier version: "3 more".
func unnamed(entry string) int {
	number, is := strings.CutSuffix(entry, " more")
	n, err := strconv.Atoi(number)
	if !is || err != nil {
		return 0
	}
	return n
}

// commandText returns the entry of a command in the list of commands, or "" if it only looks around.
func commandText(cmd string) string {
	if cmd = shell.Short(cmd); unnamed(cmd) > 0 {
		return cmd
	}
	cmd = fed().ReplaceAllString(cmd, "<<…$1\n")
	if !does().MatchString(cmd) {
		return ""
	}
	cmd = strings.ReplaceAll(strings.TrimSpace(cmd), "\\\n", " ")
	return tokens.Clip(strings.ReplaceAll(lineEnds().ReplaceAllString(cmd, ";"), "; ", ";"), 120) // a list is divided there
}

var (
	// does matches commands that build, test, check or change something.
	does = pattern(`(?:^|[\s;&|:/.-])(test|tests|pytest|jest|vitest|lint|build|check|fmt|format|commit|push|merge|rebase|tag|release|deploy|publish|install|migrate|vet|tsc|make|gh pr (create|merge)|gh issue create|git (-C \S+ )?(restore|revert|reset|stash|clean|cherry-pick|checkout --)|rm -\w*r\w*)(?:$|[\s;&|:.])`)
	// looks matches commands that only look around: that one failed says nothing.
	looks    = pattern(`^(cat|head|tail|ls|grep|rg|find|sed|awk|jq|wc|which|echo|stat|file|tree)\b`)
	lineEnds = pattern(`\s*\n\s*`)
	// fed matches the text of a here-document.
	fed = pattern(`(?s)<<-?\s*['"\\]?[A-Z_]\w*['"]?([^\n]*)\n.*\n\s*[A-Z_]\w*\s*(?:\n|$)`)
)
