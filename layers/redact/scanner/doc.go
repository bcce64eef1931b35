// Package scanner finds secrets in text. Keywords and patterns give candidates; the text around a candidate decides.
// The patterns of gitleaks are data (gitleaks.jsonl).
package scanner
