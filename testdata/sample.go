// Package testdata holds the sample sessions that "mem demo" shows where there are none of the user's.
package testdata

import "embed"

// Sample is the sessions of a made-up shop, written by testdata/gen.
//
//go:embed transcripts/projects/-home-dev-shop/6ecd8c99-4036-403d-bf84-cf8400f67836.jsonl transcripts/projects/-home-dev-shop/9b2cf535-f27b-4a3e-8d5b-64b0e3f0a1d2.jsonl
var Sample embed.FS

// SampleRoot is the directory of Sample that corresponds to Claude Code's projects directory.
const SampleRoot = "transcripts/projects"
