package records

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Session is the ID of a session: the name of its file without ".jsonl". It is 1 to 200 bytes of letters, digits,
// spaces and ._-%+=,@~()[] in UTF-8, and starts with neither '-' nor '.', so that it is never a path or an option.
type Session string

// MaxSession is the maximal length of a session ID in bytes.
const MaxSession = 200

// SessionRune reports whether a session ID may contain r.
func SessionRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) ||
		strings.ContainsRune(" ._-%+=,@~()[]", r))
}

// ParseSession checks that s is a session id.
func ParseSession(s string) (Session, error) {
	switch {
	case s == "":
		return "", errors.New("no session")
	case len(s) > MaxSession || s[0] == '-' || s[0] == '.' || strings.ContainsFunc(s, func(r rune) bool {
		return !SessionRune(r)
	}):
		return "", fmt.Errorf("%.80q is not a session id", s)
	}
	return Session(s), nil
}

// SessionOf returns the session ID for a file name without ".jsonl". It is the name itself if that is valid.
// Otherwise invalid bytes become %XX, and the end of a name that is too long is replaced by the start of its
// SHA-256. An empty name gives an empty ID.
func SessionOf(name string) Session {
	if _, err := ParseSession(name); err == nil || name == "" {
		return Session(name)
	}
	var id strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if SessionRune(r) && (i > 0 || r != '-' && r != '.') {
			id.WriteString(name[i : i+size])
		} else {
			for _, b := range []byte(name[i : i+size]) {
				fmt.Fprintf(&id, "%%%02X", b)
			}
		}
		i += size
	}
	out := id.String()
	if len(out) > MaxSession {
		sum := fmt.Sprintf("%%%x", sha256.Sum256([]byte(name)))[:33]
		out = strings.ToValidUTF8(out[:MaxSession-len(sum)], "") + sum
	}
	return Session(out)
}

// A Label is the label of a version, such as v001: 'v' and a number from 1 with 3 to 9 digits.
type Label string

// ParseLabel checks that s is the label of a version.
func ParseLabel(s string) (Label, error) {
	if !numbered(s, 'v') {
		return "", fmt.Errorf("%.80q is not a label", s)
	}
	return Label(s), nil
}

// A ConceptLabel is the label of a concept, such as c001, in the form of a [Label].
type ConceptLabel string

// ParseConceptLabel checks that s is the label of a concept.
func ParseConceptLabel(s string) (ConceptLabel, error) {
	if !numbered(s, 'c') {
		return "", fmt.Errorf("%.80q is not a label of a concept", s)
	}
	return ConceptLabel(s), nil
}

// numbered reports whether s is a letter and a number from 1, in its canonical form.
func numbered(s string, letter byte) bool {
	if len(s) < 4 || len(s) > 10 || s[0] != letter || strings.Trim(s[1:], "0123456789") != "" {
		return false
	}
	return strings.Trim(s[1:], "0") != "" && (len(s) == 4 || s[1] != '0')
}

// A Name is the name of a composition: 1 to 100 bytes of graphic characters without spaces and :#@~=^\. It is a clean
// relative path that stays inside its directory, and neither HEAD nor the label of a version.
type Name string

// ParseName checks that s is the name of a composition.
func ParseName(s string) (Name, error) {
	bad := strings.ContainsFunc(s, func(r rune) bool {
		return strings.ContainsRune(":#@~=^\\", r) || unicode.IsSpace(r) || !unicode.IsGraphic(r) || r == utf8.RuneError
	})
	if bad || len(s) > 100 || strings.HasPrefix(s, "-") || s == "HEAD" || !localPath(s) || looksLikeLabel(s) {
		return "", fmt.Errorf("%.80q is not a name of a composition", s)
	}
	return Name(s), nil
}

// looksLikeLabel reports whether a user could mean the label of a version: v1, v001.
func looksLikeLabel(s string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(s, "v"))
	return err == nil && n > 0 && s[0] == 'v' && s[1] != '+'
}

// localPath reports whether s is a clean relative path with slashes that stays inside its directory.
func localPath(s string) bool {
	if s == "" || s == "." {
		return false
	}
	for elem := range strings.SplitSeq(s, "/") {
		if elem == "" || elem == "." || elem == ".." {
			return false
		}
	}
	return true
}

// A FileName is the name of a file in its directory: 1 to 255 bytes without slashes, control characters and a colon at
// the second place, and neither "." nor "..".
type FileName string

// ParseFileName checks that s is the name of a file.
func ParseFileName(s string) (FileName, error) {
	bad := strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r == '\\' || unicode.IsControl(r) || r == utf8.RuneError
	})
	if s == "" || s == "." || s == ".." || bad || len(s) > 255 || len(s) > 1 && s[1] == ':' {
		return "", fmt.Errorf("%.80q is not a name of a file", s)
	}
	return FileName(s), nil
}

// A Title is a line of text for people: 1 to 200 bytes without control and format characters. It is the name of a
// device, a project or a concept.
type Title string

// ParseTitle checks that s is a [Title].
func ParseTitle(s string) (Title, error) {
	if strings.TrimSpace(s) == "" || len(s) > 200 || strings.ContainsFunc(s, func(r rune) bool { return !titleRune(r) }) {
		return "", fmt.Errorf("%.80q is not a name", s)
	}
	return Title(s), nil
}

func titleRune(r rune) bool {
	return r != utf8.RuneError && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Zl, r) &&
		!unicode.Is(unicode.Zp, r)
}

// CleanTitle converts s to a [Title]: control and format characters become spaces, and a text that is too long is
// cut. It is empty if nothing remains.
func CleanTitle(s string) Title {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if titleRune(r) {
			return r
		}
		return ' '
	}, s)), " ")
	for len(s) > 200 {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return Title(s)
}

// ParseTarget checks the target of an assignment, a use or a membership: session/<id>, version/<record>,
// composition/<name> or exchange/<key>. It accepts unknown kinds, which a later mem may write.
func ParseTarget(s string) error {
	kind, name, ok := strings.Cut(s, "/")
	if !ok {
		return fmt.Errorf("%.80q is not a target", s)
	}
	var err error
	switch kind {
	case "session":
		_, err = ParseSession(name)
	case "composition":
		_, err = ParseName(name)
	case "version", "exchange":
		err = ParseDigits(name, 64)
	}
	return err
}

// ParseDigits checks that s is n hexadecimal digits in lower case: the name of a record or a device, or the key
// of a fact.
func ParseDigits(s string, n int) error {
	if len(s) != n || strings.Trim(s, "0123456789abcdef") != "" {
		return fmt.Errorf("%.80q: want %d hexadecimal digits", s, n)
	}
	return nil
}
