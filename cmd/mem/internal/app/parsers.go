package app

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Positive returns a parser for whole numbers from 1.
func Positive(what, example string) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 1_000_000_000 {
			return 0, fmt.Errorf("%s is a whole number from 1, such as %s", what, example)
		}
		return n, nil
	}
}

// NotNegative parses a whole number from 0.
func NotNegative(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, errors.New("want a whole number from 0")
	}
	return n, nil
}

// ParseTokens parses a number of tokens: 3000, 16k, 1.5k.
func ParseTokens(s string) (int, error) {
	bad := errors.New("want a number of tokens from 1, such as 3000 or 16k")
	scale := 1.0
	if n := len(s); n > 0 && (s[n-1] == 'k' || s[n-1] == 'K') {
		s, scale = s[:n-1], 1000
	}
	f, err := strconv.ParseFloat(s, 64)
	n := int(f * scale)
	if err != nil || f <= 0 || n < 1 || f > 1e9 {
		return 0, bad
	}
	return n, nil
}

// LineParser returns a parser for one line of text with a maximum length.
func LineParser(what string, most int) func(string) (string, error) {
	return func(s string) (string, error) {
		s = strings.Join(strings.Fields(s), " ")
		switch n := utf8.RuneCountInString(s); {
		case s == "":
			return "", fmt.Errorf("%s cannot be empty", what)
		case n > most:
			return "", fmt.Errorf("%s of %d characters is too long: %d at most", what, n, most)
		case !utf8.ValidString(s):
			return "", errors.New("want text in UTF-8")
		}
		return s, nil
	}
}
