// Package scanner finds secrets in text: keywords and patterns give candidates, and what stands around a
// candidate decides. The patterns of gitleaks are data (gitleaks.jsonl).
package scanner
