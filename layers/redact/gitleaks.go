package redact

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// The rules of gitleaks as data, one in a line, made by testdata/gen/gitleaks; the first line holds what they
// all allow. gitleaks.LICENSE is their notice.
//
//go:embed gitleaks.jsonl
var gitleaksData []byte

// gitleaksVersion is that of the data.
const gitleaksVersion = "8.30.1"

// A pattern is a rule that is a regular expression behind keywords.
type pattern struct {
	ID       string      `json:"id"`
	Regexp   string      `json:"re"`
	Entropy  float64     `json:"entropy"`
	Group    int         `json:"group"`
	Keywords []string    `json:"keywords"`
	Allow    []allowList `json:"allow"`

	all     *allowList // of every pattern
	once    sync.Once  // guards what follows
	re      *regexp.Regexp
	reach   int  // how far behind its keyword a match may go
	least   int  // how many bytes the first group has at least
	assigns bool // the match is NAME operator VALUE, with the keyword in NAME
}

// An allowList says what is no secret although a pattern matches it.
type allowList struct {
	Target  string   `json:"target"` // "" is the secret; "match" and "line" are what stands around it
	Regexps []string `json:"re"`
	Words   []string `json:"words"`

	once sync.Once
	res  []*regexp.Regexp
}

// covered are the rules of which [tokens] and the other code here know more.
var covered = []string{"age-secret-key", "anthropic-admin-api-key", "anthropic-api-key", "aws-access-token", "azure-ad-client-secret", "databricks-api-token",
	"digitalocean-access-token", "digitalocean-pat", "digitalocean-refresh-token", "gcp-api-key", "github-app-token", "github-fine-grained-pat", "github-oauth", "github-pat",
	"github-refresh-token", "gitlab-pat", "gitlab-ptt", "huggingface-access-token", "linear-api-key", "npm-access-token", "openai-api-key", "pypi-upload-token",
	"sendgrid-api-token", "shopify-access-token", "shopify-custom-access-token", "shopify-private-app-access-token", "shopify-shared-secret", "stripe-access-token",
	"telegram-bot-api-token", "twilio-api-key"}

// parsePatterns reads the rules of gitleaks.
func parsePatterns(data []byte) ([]*pattern, error) {
	var all *allowList
	var out []*pattern
	for line := range bytes.Lines(data) {
		p := &pattern{}
		if err := json.Unmarshal(line, p); err != nil {
			return nil, fmt.Errorf("rules of gitleaks: %w", err)
		}
		if all == nil {
			all = &p.Allow[0]
			continue
		}
		p.all, p.assigns = all, strings.Contains(p.Regexp, `(?:=|>|:{1,3}=|`)
		out = append(out, p)
	}
	return out, nil
}

// before is how far in front of its keyword a match may start; that of one which assigns starts with it.
const before = 200

// maxReach bounds how much text one look with a pattern takes, before it is seen to be too little.
const maxReach = 4 << 10

func (p *pattern) compile() {
	p.re = regexp.MustCompile(p.Regexp) // tests compile every one
	tree, err := syntax.Parse(p.Regexp, syntax.Perl)
	if err != nil {
		panic("redact: " + err.Error()) // it compiled
	}
	p.reach = min(longest(tree), maxReach)
	p.least = leastOfGroup(tree)
}

// leastOfGroup returns how many bytes the first group of re has at least; 0 if there is none, or none in some matches, or it may hold a blank.
func leastOfGroup(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpAlternate, syntax.OpQuest, syntax.OpStar, syntax.OpRepeat:
		return 0 // the group may be missing
	case syntax.OpCapture:
		if blankless(re.Sub[0]) {
			return shortest(re.Sub[0])
		}
		return 0
	}
	for _, sub := range re.Sub {
		if sub.MaxCap() > 0 {
			return leastOfGroup(sub)
		}
	}
	return 0
}

// blankless reports whether no match of re holds a blank or a control character.
func blankless(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return re.Rune[0] > ' ' && !strings.ContainsAny(string(re.Rune), " \t\r\n")
	case syntax.OpCharClass:
		return len(re.Rune) > 0 && re.Rune[0] > ' '
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	}
	for _, sub := range re.Sub {
		if !blankless(sub) {
			return false
		}
	}
	return true
}

// shortest returns how many bytes a match has at least.
func shortest(re *syntax.Regexp) (n int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpPlus:
		return shortest(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min * shortest(re.Sub[0])
	case syntax.OpAlternate:
		n = shortest(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			n = min(n, shortest(sub))
		}
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			n += shortest(sub)
		}
	}
	return n
}

// holdsWord reports whether text holds n bytes in a row without a blank between them.
func holdsWord(text []byte, n int) bool {
	for i := n - 1; i < len(text); {
		k := i
		for k > i-n && text[k] > ' ' {
			k--
		}
		if k == i-n {
			return true
		}
		i = k + n
	}
	return false
}

// longest returns how many bytes a match can have at most, or maxReach.
func longest(re *syntax.Regexp) int {
	sum := 0
	switch re.Op {
	case syntax.OpLiteral:
		return 4 * len(re.Rune)
	case syntax.OpCharClass:
		if n := len(re.Rune); n > 0 && re.Rune[n-1] < 0x80 {
			return 1
		}
		return 4
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 4
	case syntax.OpStar, syntax.OpPlus:
		return maxReach
	case syntax.OpRepeat:
		if re.Max < 0 {
			return maxReach
		}
		return min(maxReach, re.Max*longest(re.Sub[0]))
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			sum = max(sum, longest(sub))
		}
	default:
		for _, sub := range re.Sub {
			sum += longest(sub)
		}
	}
	return min(maxReach, sum)
}

// match looks with the pattern around its keyword at text[at:].
func (p *pattern) match(s *scan, at int, w *word) {
	text := s.text
	start := max(0, at-before)
	if p.assigns {
		behind := at + len(w.text)
		if !bytes.ContainsAny(text[behind:min(len(text), behind+24)], "=>:|,") {
			return
		}
		start = at
	}
	p.once.Do(p.compile)
	if p.least > 4 && !holdsWord(text[start:min(len(text), at+p.reach+8+p.least)], p.least) {
		return
	}
	for reach := p.reach + 8; ; reach *= 4 {
		end := min(len(text), at+reach)
		cut := false
		for _, m := range p.re.FindAllSubmatchIndex(text[start:end], 8) {
			if m[1] == end-start && end < len(text) {
				cut = true // it may end there only because the text does
				break
			}
			p.judge(s, start, m)
		}
		if !cut {
			return
		}
	}
}

// judge takes what group or match m says for a secret, unless an allow-list or the entropy speaks against it.
func (p *pattern) judge(s *scan, base int, m []int) {
	lo, hi := m[0], m[1]
	for g := 1; 2*g < len(m); g++ {
		if (p.Group == 0 || p.Group == g) && m[2*g+1] > m[2*g] {
			lo, hi = m[2*g], m[2*g+1]
			break
		}
	}
	secret := bytes.Trim(s.text[base+lo:base+hi], "\n")
	if p.Entropy > 0 && entropy(secret) <= p.Entropy || placeholderish(secret) {
		return
	}
	match := s.text[base+m[0] : base+m[1]]
	around := s.text[max(0, bytes.LastIndexByte(s.text[:base+lo], '\n')):]
	if n := bytes.IndexByte(around[1:], '\n'); n >= 0 {
		around = around[:n+1]
	}
	if p.all.allows(secret, match, around) {
		return
	}
	for i := range p.Allow {
		if p.Allow[i].allows(secret, match, around) {
			return
		}
	}
	s.found(base+lo, base+hi, p.ID)
}

func (a *allowList) allows(secret, match, around []byte) bool {
	a.once.Do(func() {
		for _, re := range a.Regexps {
			a.res = append(a.res, regexp.MustCompile(re)) // tests compile every one
		}
	})
	target := secret
	switch a.Target {
	case "match":
		target = match
	case "line":
		target = around
	}
	for _, re := range a.res {
		if re.Match(target) {
			return true
		}
	}
	if len(a.Words) == 0 {
		return false
	}
	low := string(bytes.ToLower(secret))
	for _, word := range a.Words {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}
