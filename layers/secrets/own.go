package secrets

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/redact"
)

// RedactOwn removes secrets from text that mem wrote: a record, a growth point, a commit message. It never changes
// numbers, times, and the names of objects, sessions, projects and devices, because a user rule that matches ten
// digits would make the lane unreadable.
func RedactOwn(rules redact.Rules, text []byte) (clean []byte, cuts []redact.Cut) {
	var numbers redact.Numbers
	all, found := rules.Redact(text, &numbers)
	if len(found) == 0 {
		return text, nil
	}
	own := originals.Joined(ownPlaces(text))
	at, grown := 0, 0 // place in text; growth of text so far
	for _, c := range found {
		start := int(c.At) + grown
		end := start + len(c.Bytes)
		grown += len(c.Bytes) - c.Len
		for len(own) > 0 && own[0][1] <= start {
			own = own[1:]
		}
		if len(own) > 0 && own[0][0] < end {
			continue
		}
		clean = append(clean, text[at:start]...)
		mark := all[c.At : c.At+int64(c.Len)]
		c.At = int64(len(clean))
		clean, cuts, at = append(clean, mark...), append(cuts, c), end
	}
	if len(cuts) == 0 {
		return text, nil
	}
	return append(clean, text[at:]...), cuts
}

// ownName matches names that mem generates: hashes, commits, devices, projects, sessions, with their prefix and a
// number after them.
var ownName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z]+/)?([0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32}|[0-9a-f]{16}|` +
		`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|agent-[0-9a-f]{6,40})(/[0-9]+)?$`)
})

// ownForm matches other values that programs read: keys of devices, IDs of rules, labels of versions, parts of
// compositions, engines, token counters, weights, names of models and their messages, versions of clients.
var ownForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(ssh-ed25519 [A-Za-z0-9+/]{68}=*|mem-[0-9]+ gitleaks-[0-9.]+( own-[0-9a-f]{8})?|` +
		`([0-9a-f-]{36}:)?v[0-9]{3,}|[0-9a-f-]{36}:original|[a-z]+/[0-9]+( \([a-z0-9., -]*\))?|` +
		`o200k\*[0-9.]+/[0-9]+|[01]\.[0-9]{2}|claude-[a-z0-9.-]+|msg_[0-9A-Za-z]{20,30}|[0-9]+\.[0-9]+\.[0-9]+)$`)
})

// ownPlaces returns the places of numbers, times and names in text that mem wrote.
func ownPlaces(text []byte) (out [][2]int) {
	if !json.Valid(text) {
		return ownTrailers(text)
	}
	key := ""
	for i := 0; i < len(text); {
		c := text[i]
		if c != '"' {
			n := 1
			if c == '-' || '0' <= c && c <= '9' {
				n = len(text[i:]) - len(bytes.TrimLeft(text[i:], "0123456789+-.eE"))
				out = append(out, [2]int{i, i + n})
			}
			i += n
			continue
		}
		end := i + 1
		for text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		inside := string(text[i+1 : end])
		switch rest := bytes.TrimLeft(text[end+1:], " \t\r\n"); {
		case len(rest) > 0 && rest[0] == ':':
			key = inside
		// text of people may match
		case !slices.Contains([]string{"title", "name", "text", "quote", "value"}, key) && isOwn(inside):
			out = append(out, [2]int{i + 1, end})
		case key == "source": // the file of a session has its name
			for _, at := range sessionFile().FindAllStringSubmatchIndex(inside, -1) {
				out = append(out, [2]int{i + 1 + at[2], i + 1 + at[3]})
			}
		}
		i = end + 1
	}
	return out
}

// ownTrailers is ownPlaces for a commit: the address of its device, the values of mem's trailers, and their starts
// in the subject.
func ownTrailers(text []byte) (out [][2]int) {
	at := 0
	var named []string
	for line := range bytes.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimRight(string(line), "\r\n"), ": ")
		if ok && strings.HasPrefix(name, "Mem-") && (isOwn(value) || strings.Trim(value, "0123456789") == "") {
			start := at + len(name) + len(": ")
			out, named = append(out, [2]int{start, start + len(value)}), append(named, value)
		}
		if device, ok := strings.CutSuffix(name, "@mem.invalid"); ok && isOwn(device) {
			out = append(out, [2]int{at, at + len(device)})
		}
		at += len(line)
	}
	for _, w := range shortName().FindAllIndex(text, -1) {
		if shortVersion().Match(text[w[0]:]) || slices.ContainsFunc(named, func(v string) bool {
			return strings.HasPrefix(v, string(text[w[0]:w[1]]))
		}) {
			out = append(out, [2]int{w[0], w[1]})
		}
	}
	return out
}

// sessionFile matches the name of a session's file at the end of a path; shortVersion matches a version in a line for
// people.
var (
	sessionFile = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.jsonl$|/)`)
	})
	shortVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{8}:v[0-9]{3,}\b`) })
)

// shortName matches shortened names.
var shortName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-f]{6,16}\b`) })

func isOwn(text string) bool {
	if ownName().MatchString(text) || ownForm().MatchString(text) {
		return true
	}
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil
}
