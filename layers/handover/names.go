package handover

import (
	"path"
	"strings"
	"unicode"
)

// Limits of names. Letters beyond ASCII come in short runs, because some scripts write sentences without spaces.
const (
	maxPath    = 160
	maxElement = 80
	maxForeign = 16
	maxWord    = 60
	maxTest    = 100
	maxBranch  = 80
)

// FileName returns p, cleaned, if it can only be the path of a file, "" otherwise.
func FileName(p string) string {
	if len(p) > maxPath || !strings.ContainsFunc(p, unicode.IsLetter) {
		return ""
	}
	p = path.Clean(p)
	for element := range strings.SplitSeq(p, "/") {
		if len(element) > maxElement {
			return ""
		}
	}
	if strings.HasPrefix(p, "-") || !named(p, "._-/+@~()[]{}$#=,") {
		return ""
	}
	return p
}

// TestName returns s if it can only be the name of a test, "" otherwise.
func TestName(s string) string {
	if len(s) > maxTest || !strings.ContainsFunc(s, unicode.IsLetter) || !named(s, "._-/+#=:[]()") {
		return ""
	}
	return s
}

// BranchName returns s if it can only be the name of a branch, "" otherwise.
func BranchName(s string) string {
	if len(s) > maxBranch || strings.HasPrefix(s, "-") || !named(s, "._-/+#@") {
		return ""
	}
	return s
}

// word reports whether s is a word of a command line that needs no quotes.
func word(s string) bool {
	return s != "" && len(s) <= maxWord && named(s, "._-/+@:=,%~")
}

// named reports whether s has only letters, digits and the given marks, and only short runs of letters beyond ASCII.
func named(s, marks string) bool {
	run := 0
	for _, r := range s {
		switch {
		case r >= 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if run++; run > maxForeign {
				return false
			}
			continue
		case r >= 0x80:
			return false
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(marks, r):
			return false
		}
		run = 0
	}
	return s != ""
}
