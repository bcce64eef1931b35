// Gitleaks turns the rule file of gitleaks (config/gitleaks.toml, MIT) into the lines of JSON that package
// layers/redact embeds:
//
//	go run ./testdata/gen/gitleaks v8.30.1 < config/gitleaks.toml > layers/redact/gitleaks.jsonl
//
// It leaves out descriptions, paths (a transcript has none) and the rules that redact has its own code for.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A rule is one line of the output; the first line has the version and the global allow-list.
type rule struct {
	ID       string   `json:"id,omitempty"`
	Version  string   `json:"version,omitempty"`
	Regexp   string   `json:"re,omitempty"`
	Entropy  float64  `json:"entropy,omitempty"`
	Group    int      `json:"group,omitempty"`
	Keywords []string `json:"keywords,omitempty"`
	Allow    []allow  `json:"allow,omitempty"`
}

type allow struct {
	Target  string   `json:"target,omitempty"` // secret, match or line
	Regexps []string `json:"re,omitempty"`
	Words   []string `json:"words,omitempty"`
	and     bool
}

// ours are the rules that redact has its own code for, or that need a path.
var ours = []string{"generic-api-key", "private-key", "jwt", "jwt-base64", "kubernetes-secret-yaml", "hashicorp-tf-password", "pkcs12-file"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gitleaks VERSION < gitleaks.toml > gitleaks.jsonl")
		os.Exit(2)
	}
	rules, err := parse(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	rules[0].Version = os.Args[1]
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	for i, r := range rules {
		if i > 0 && (r.Regexp == "" || slices.Contains(ours, r.ID)) {
			continue
		}
		if _, err := regexp.Compile(r.Regexp); err != nil {
			fmt.Fprintln(os.Stderr, r.ID, err)
			os.Exit(1)
		}
		r.Allow = slices.DeleteFunc(r.Allow, func(a allow) bool { return a.and || len(a.Regexps)+len(a.Words) == 0 })
		if err := enc.Encode(r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

var assignment = regexp.MustCompile(`^(\w+)\s*=\s*(.*)$`)

// parse reads the part of TOML that the rule file uses.
func parse(r io.Reader) ([]rule, error) {
	rules := []rule{{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		last := &rules[len(rules)-1]
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == "[[rules]]":
			rules = append(rules, rule{})
		case line == "[allowlist]" || line == "[[rules.allowlists]]":
			last.Allow = append(last.Allow, allow{})
		default:
			m := assignment.FindStringSubmatch(line)
			if m == nil {
				return nil, fmt.Errorf("cannot read %q", line)
			}
			value := m[2]
			for strings.HasPrefix(value, "[") && !closed(value) && lines.Scan() {
				value += "\n" + lines.Text()
			}
			if err := last.set(m[1], value); err != nil {
				return nil, err
			}
		}
	}
	return rules, lines.Err()
}

var item = regexp.MustCompile(`(?s)'''(.*?)'''|"((?:[^"\\]|\\.)*)"`)

// closed reports whether value is a whole list.
func closed(value string) bool {
	return strings.HasSuffix(strings.TrimSpace(item.ReplaceAllString(value, "")), "]")
}

func items(value string) ([]string, error) {
	var out []string
	for _, m := range item.FindAllStringSubmatch(value, -1) {
		s := m[1]
		if strings.HasPrefix(m[0], `"`) {
			var err error
			if s, err = strconv.Unquote(m[0]); err != nil {
				return nil, err
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func (r *rule) set(key, value string) (err error) {
	list, err := items(value)
	if err != nil {
		return fmt.Errorf("%s = %s: %w", key, value, err)
	}
	one := strings.Join(list, "")
	if n := len(r.Allow); n > 0 {
		a := &r.Allow[n-1]
		switch key {
		case "regexes":
			a.Regexps = list
			return nil
		case "stopwords":
			a.Words = list
			return nil
		case "regexTarget":
			a.Target = one
			return nil
		case "condition":
			a.and = one == "AND"
			return nil
		}
	}
	switch key {
	case "id":
		r.ID = one
	case "regex":
		r.Regexp = one
	case "keywords":
		r.Keywords = list
	case "entropy":
		r.Entropy, err = strconv.ParseFloat(value, 64)
	case "secretGroup":
		r.Group, err = strconv.Atoi(value)
	case "title", "minVersion", "description", "path", "paths":
	default:
		err = fmt.Errorf("unknown key %q", key)
	}
	return err
}
