package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Kind defines the valid values of a setting and their JSON type.
type Kind struct {
	// Values lists all valid values if there are few, for completion and help.
	Values []string

	desc     string
	jsonType jsonType
	canon    func(string) (string, error) // checks a value and returns its canonical form
}

type jsonType byte

const (
	jsonString jsonType = iota
	jsonNumber
	jsonBool
)

var errForm = errors.New("wrong form") // the reason is in the message of the ValueError around it

// json returns the canonical value v as it is written to the file.
func (k Kind) json(v string) json.RawMessage {
	if k.jsonType != jsonString {
		return json.RawMessage(v)
	}
	return quote(v)
}

// read returns the canonical form of a value in the file. A number or bool may be written as a string, and vice versa.
func (k Kind) read(raw json.RawMessage) (string, error) {
	s := string(raw)
	switch s[0] {
	case '"':
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", fmt.Errorf("read string: %w", err)
		}
	case '{', '[', 'n':
		return "", errForm
	}
	return k.canon(s)
}

var (
	text    = Kind{desc: "text", canon: func(s string) (string, error) { return s, checkPrintable(s) }}
	pattern = Kind{desc: "a regular expression", canon: func(s string) (string, error) {
		_, err := regexp.Compile(s)
		return s, err
	}}
	boolean = Kind{desc: "true or false", Values: []string{"true", "false"}, jsonType: jsonBool, canon: canonBool}

	hundredths = Kind{desc: "a weight from 0 to 1 with at most two decimals", jsonType: jsonNumber,
		canon: func(s string) (string, error) {
			n, err := parseHundredths(s)
			return formatHundredths(n), err
		}}
	size = Kind{desc: "a size such as 500MB or 2GiB", canon: func(s string) (string, error) {
		_, err := parseSize(s)
		return s, err
	}}
	duration = Kind{desc: "a time such as 500ms, 10s or 2m", canon: func(s string) (string, error) {
		_, err := parseDuration(s)
		if strings.Trim(s, "0123456789") == "" {
			s += "s"
		}
		return s, err
	}}
	capTokens  = Kind{desc: `a whole number of tokens, or "none"`, Values: []string{"none"}, canon: canonCap}
	capDollars = Kind{desc: `dollars such as 5 or 0.50, or "none"`, Values: []string{"none"},
		canon: func(s string) (string, error) {
			if s == "none" {
				return s, nil
			}
			return s, checkDecimal(s, 2)
		}}
	price = Kind{desc: "dollars per million tokens in and out, such as 3/15", canon: func(s string) (string, error) {
		in, out, ok := strings.Cut(s, "/")
		if s == "" {
			return s, nil
		}
		if !ok {
			return "", errForm
		}
		return s, errors.Join(checkDecimal(in, 6), checkDecimal(out, 6))
	}}
	retention = Kind{desc: `"all", a number, or an age such as 90d`, Values: []string{"all"}, canon: canonRetention}
)

func oneOf(values ...string) Kind {
	return Kind{desc: "one of " + strings.Join(values, ", "), Values: values, canon: func(s string) (string, error) {
		if slices.Contains(values, s) {
			return s, nil
		}
		return "", errForm
	}}
}

func integer(low, high int) Kind {
	return Kind{desc: fmt.Sprintf("a whole number from %d to %d", low, high), jsonType: jsonNumber,
		canon: func(s string) (string, error) {
			n, err := strconv.Atoi(s)
			if err != nil || n < low || n > high {
				return "", errForm
			}
			return strconv.Itoa(n), nil
		}}
}

func canonBool(s string) (string, error) {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return "true", nil
	case "false", "no", "off", "0":
		return "false", nil
	}
	return "", errForm
}

func canonRetention(s string) (string, error) {
	if s == "all" {
		return s, nil
	}
	digits := strings.TrimRight(s, "dwmy")
	if n, err := strconv.Atoi(digits); err != nil || n < 1 || len(s)-len(digits) > 1 || s[0] == '+' {
		return "", errForm
	}
	return s, nil
}

func canonCap(s string) (string, error) {
	if s == "none" {
		return s, nil
	}
	n, err := strconv.ParseUint(s, 10, 53)
	if err != nil {
		return "", errForm
	}
	return strconv.FormatUint(n, 10), nil
}

// checkDecimal checks that s is an amount below ten million with at most that many places.
func checkDecimal(s string, places int) error {
	whole, frac, point := strings.Cut(s, ".")
	if whole == "" || len(whole) > 7 || len(frac) > places || point && frac == "" ||
		strings.Trim(whole+frac, "0123456789") != "" {
		return errForm
	}
	return nil
}

func checkPrintable(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return errForm
	}
	return nil
}

// parseHundredths reads a decimal from 0 to 1 with at most two places, exactly.
func parseHundredths(s string) (int, error) {
	whole, frac, _ := strings.Cut(s, ".")
	n, err := strconv.Atoi(whole + (frac + "00")[:2])
	if err != nil || len(frac) > 2 || len(whole) != 1 || n < 0 || n > 100 {
		return 0, errForm
	}
	return n, nil
}

func formatHundredths(n int) string {
	s := fmt.Sprintf("%d.%02d", n/100, n%100)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

var units = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"B", 1}, {"", 1},
}

// parseSize reads a whole number of bytes with a unit: KB is 1000 bytes, KiB 1024.
func parseSize(s string) (int64, error) {
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(digits, " "), 10, 64)
		if err != nil || n < 0 || n > (1<<62)/u.bytes {
			return 0, errForm
		}
		return n * u.bytes, nil
	}
	return 0, errForm
}

// parseDuration reads a time; a bare number is seconds.
func parseDuration(s string) (time.Duration, error) {
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errForm
	}
	return d, nil
}
