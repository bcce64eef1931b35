// Package scanner finds secrets in text. Keywords and patterns give candidates; the text around a candidate decides.
// The patterns of gitleaks are data (gitleaks.jsonl).
//
// This part of the package classifies runs of characters: names, placeholders, references to variables, quoted values and
// random values, and finds where they end. It contains no rules.
package scanner
