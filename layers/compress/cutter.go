package compress

import (
	"path"
	"strconv"
	"strings"
)

// one joins the lines of s and cuts it to n bytes, or to more where whole texts fit.
func (c cutter) one(s string, n int) string {
	if c.terse == whole {
		n *= 8
	}
	return oneLine(s, n)
}

// place is where in its file an edit begins, ":142", if that is not near the top, where it is found without.
func (c cutter) place(it Item) string {
	if !c.tight() || it.Line < 100 {
		return ""
	}
	return ":" + strconv.Itoa(it.Line)
}

// tight says that a good part of the items fits, and that every word counts.
func (c cutter) tight() bool { return c.near && !c.first && c.terse > whole }

// bare returns a line of a file, or of the changes of one, without what stands before its text: the number and arrow of
// the client, and how far it is indented.
func (c cutter) bare(k Kind, s string) string {
	if c.first {
		return s
	}
	if k == Diff && c.tight() {
		return s[:1] + strings.TrimLeft(s[1:], " \t")
	}
	return unnumbered(s)
}

// unnumbered returns a line of a file without the number and arrow before it.
func unnumbered(s string) string {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if rest, ok := strings.CutPrefix(s[i:], "→"); ok && i > 0 {
		return strings.TrimLeft(rest, " \t")
	}
	return s
}

// command returns a command or call, where every word counts in its [ShortCommand].
func (c cutter) command(s string) string {
	if !c.tight() {
		return s
	}
	return ShortCommand(s)
}

// ShortCommand returns a command, behind "$ ", or a call without what says little: where it runs, what becomes of its
// output, the directories of files. Commands that do the same have the same short form.
func ShortCommand(s string) string {
	if rest, ok := strings.CutPrefix(s, "$ cd "); ok {
		if dir, cmd, ok := strings.Cut(rest, " && "); ok && !strings.ContainsAny(dir, "\n;|") {
			s = "$ " + cmd
		}
	}
	for _, noise := range [...]string{" 2>&1", " 2>/dev/null", " || true"} {
		s = strings.ReplaceAll(s, noise, "")
	}
	for _, pager := range [...]string{" | head", " | tail"} {
		if k := strings.LastIndex(s, pager); k > 0 && !strings.ContainsAny(s[k+len(pager):], "|;&\n\"'") {
			_, exit, failed := strings.Cut(s[k:], " -> exit ")
			if s = s[:k]; failed {
				s += " -> exit " + exit
			}
		}
	}
	return baseNames(s)
}

// baseNames returns the words of s; of paths that lead two directories down or more, only the names of the files.
func baseNames(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		if strings.Count(w, "/") >= 2 && fileName(path.Base(w)) && strings.IndexFunc(w, notPath) < 0 {
			words[i] = path.Base(w)
		}
	}
	return strings.Join(words, " ")
}

func notPath(r rune) bool {
	return scriptOf(r) != alphabet && r != '/' && r != '.' && r != '_' && r != '-'
}
