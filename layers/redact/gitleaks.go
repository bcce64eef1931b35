package redact

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// gitleaksData are the rules of gitleaks, one JSON object per line, written by testdata/gen/gitleaks. The first line
// contains the allow-list of all rules. See gitleaks.LICENSE.
//
//go:embed gitleaks.jsonl
var gitleaksData []byte

// gitleaksVersion is the version of gitleaksData.
const gitleaksVersion = "8.30.1"

// A pattern is a regular expression that is applied around its keywords.
type pattern struct {
	ID       string      `json:"id"`
	Regexp   string      `json:"re"`
	Entropy  float64     `json:"entropy"`
	Group    int         `json:"group"`
	Keywords []string    `json:"keywords"`
	Allow    []allowList `json:"allow"`

	All     *allowList     `json:"-"` // of every pattern
	once    sync.Once      // guards what follows
	Re      *regexp.Regexp `json:"-"`
	least   int            // the minimum length of the value of an assignment
	assigns bool           // the match is NAME operator VALUE, with the keyword in NAME
}

// An allowList describes matches that are not secrets.
type allowList struct {
	Target  string   `json:"target"` // what Regexps match: "" is the secret, "match" the whole match, "line" its line
	Regexps []string `json:"re"`
	Words   []string `json:"words"`

	once sync.Once
	res  []*regexp.Regexp
}

// Covered are the rules of gitleaks that [tokens] and the other code of this package replace.
var Covered = []string{"age-secret-key", "anthropic-admin-api-key", "anthropic-api-key", "aws-access-token",
	"azure-ad-client-secret", "databricks-api-token",
	"digitalocean-access-token", "digitalocean-pat", "digitalocean-refresh-token", "gcp-api-key", "github-app-token",
	"github-fine-grained-pat", "github-oauth", "github-pat",
	"github-refresh-token", "gitlab-pat", "gitlab-ptt", "huggingface-access-token", "linear-api-key", "npm-access-token",
	"openai-api-key", "pypi-upload-token",
	"sendgrid-api-token", "shopify-access-token", "shopify-custom-access-token", "shopify-private-app-access-token",
	"shopify-shared-secret", "stripe-access-token",
	"telegram-bot-api-token", "twilio-api-key"}

// parsePatterns parses the rules of gitleaks.
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
		p.All, p.assigns = all, strings.Contains(p.Regexp, `(?:=|>|:{1,3}=|`)
		out = append(out, p)
	}
	return out, nil
}

// valueOf matches the group of the value in the expression of an assignment: one run of a length of at least $1.
var valueOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(\[[^\]\s]+\]\{(\d+)`) })

// Compile compiles the expression.
func (p *pattern) Compile() {
	p.Re = regexp.MustCompile(p.Regexp) // tests compile every one
	if m := valueOf().FindStringSubmatch(p.Regexp); p.assigns && m != nil {
		p.least, _ = strconv.Atoi(m[1]) // digits
	}
}

// maxLead is the maximum distance from the start of a match to its keyword. The match of an assignment starts with its
// keyword.
const maxLead = 200

// valueLead is the maximum distance from the keyword of an assignment to its value.
const valueLead = 120

// reach is the number of bytes behind its keyword that a pattern searches at first. It searches further if a match
// reaches the end.
const reach = 1 << 10

// inValue are the keywords of assignments that begin the value. The others are in the name.
var inValue = []string{"_pub", "atatt3", "live_", "live_pub", "nrak", "nrii-", "nrjs-", "test_", "test_pub", "tfp_"}

// operators are the characters of the operators between a name and its value.
const operators = "=>:|,"

// match applies the pattern around its keyword at text[at:].
func (p *pattern) match(s *Scan, at int, w *word) {
	if !p.assigns {
		p.search(s, max(0, at-maxLead), at)
		return
	}
	behind := at + len(w.text)
	if bytes.ContainsAny(s.Text[behind:min(len(s.Text), behind+24)], operators) {
		p.search(s, at, at)
	}
}

// matchValue is match for a keyword that begins the value of an assignment.
func (p *pattern) matchValue(s *Scan, at int, _ *word) {
	if bytes.ContainsAny(s.Text[max(0, at-12):at], operators) {
		p.search(s, max(0, at-maxLead), at)
	}
}

// search reports the matches in text[start:] that end near at.
func (p *pattern) search(s *Scan, start, at int) {
	text := s.Text
	p.once.Do(p.Compile)
	if p.least > 0 && !hasWord(text[start:min(len(text), at+valueLead+p.least)], p.least) {
		return
	}
	for reach := reach; ; reach *= 4 {
		end := min(len(text), at+reach)
		cut := false
		for _, m := range p.Re.FindAllSubmatchIndex(text[start:end], 8) {
			if m[1] == end-start && end < len(text) {
				cut = true // the match may be longer than the searched text
				break
			}
			p.Judge(s, start, m)
		}
		if !cut {
			return
		}
	}
}

// hasWord reports whether text contains n consecutive bytes without a blank.
func hasWord(text []byte, n int) bool {
	for w := range bytes.FieldsSeq(text) {
		if len(w) >= n {
			return true
		}
	}
	return false
}

// Judge reports the secret of match m unless an allow-list or the entropy excludes it. The offsets of m are relative
// to base.
func (p *pattern) Judge(s *Scan, base int, m []int) {
	lo, hi := m[0], m[1]
	for g := 1; 2*g < len(m); g++ {
		if (p.Group == 0 || p.Group == g) && m[2*g+1] > m[2*g] {
			lo, hi = m[2*g], m[2*g+1]
			break
		}
	}
	secret := bytes.Trim(s.Text[base+lo:base+hi], "\n")
	if p.Entropy > 0 && Entropy(secret) <= p.Entropy || isPlaceholder(secret) {
		return
	}
	match := s.Text[base+m[0] : base+m[1]]
	around := s.Text[max(0, bytes.LastIndexByte(s.Text[:base+lo], '\n')):]
	if n := bytes.IndexByte(around[1:], '\n'); n >= 0 {
		around = around[:n+1]
	}
	if p.All.Allows(secret, match, around) {
		return
	}
	for i := range p.Allow {
		if p.Allow[i].Allows(secret, match, around) {
			return
		}
	}
	s.found(base+lo, base+hi, p.ID)
}

// Allows reports whether a excludes the secret. match is the whole match and around its line.
func (a *allowList) Allows(secret, match, around []byte) bool {
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
