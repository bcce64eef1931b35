// Command record runs "mem demo" and writes what it prints as a terminal recording, an SVG for the README.
//
//	go run ./testdata/record -out docs/images/demo.svg
//
// The clock and the home directory are fixed, so that the recording changes only when the output does.
package main

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Measures of the picture, in pixels, and of its time, in seconds.
const (
	charWidth  = 7.83
	lineHeight = 17
	margin     = 14
	titleBar   = 30
	perCommand = 0.9
	perLine    = 0.04
)

func main() {
	out := flag.String("out", "docs/images/demo.svg", "the file to write")
	flag.Parse()
	text, err := demo()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, picture(text), 0o644); err != nil {
		log.Fatal(err)
	}
}

// demo builds mem and runs its demo on the sample, in an empty home.
func demo() (string, error) {
	dir, err := os.MkdirTemp("", "record-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) // a temporary directory: nothing depends on it
	program := filepath.Join(dir, "mem")
	if b, err := exec.Command("go", "build", "-o", program, "./cmd/mem").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build mem: %w\n%s", err, b)
	}
	cmd := exec.Command(program, "demo", "--sample", "--color=always")
	cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir, "MEM_NOW=2026-09-01T12:00:00Z", "TZ=UTC", "LC_ALL=C.UTF-8"}
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	b, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("mem demo: %w\n%s", err, errs.String())
	}
	return string(b), nil
}

// picture draws the lines of a terminal. Each appears at its time; where nothing moves, all are there.
func picture(text string) []byte {
	lines := strings.Split(strings.TrimRight("\x1b[1m$\x1b[0m mem demo\n"+text, "\n"), "\n")
	wide := 0
	for _, line := range lines {
		wide = max(wide, utf8.RuneCountInString(plain(line)))
	}
	width, height := int(float64(wide)*charWidth)+2*margin, titleBar+len(lines)*lineHeight+margin
	var b bytes.Buffer
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" role="img" `)
	fmt.Fprintf(&b, `width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", width, height, width, height)
	b.WriteString("<title>mem demo in a terminal</title>\n" +
		"<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d8dee9;white-space:pre}" +
		".b{font-weight:bold;fill:#fff}.d{fill:#8b949e}.y{fill:#e3b341}.g{fill:#7ee787}.r{fill:#ff7b72}.c{fill:#79c0ff}" +
		".l{animation:show 1ms both}@keyframes show{from{opacity:0}}</style>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#0d1117"/>`+"\n", width, height)
	for i, color := range []string{"#ff5f56", "#ffbd2e", "#27c93f"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="15" r="5" fill="%s"/>`, 18+16*i, color)
	}
	b.WriteByte('\n')
	at := 0.0
	for i, line := range lines {
		if at += perLine; strings.HasPrefix(plain(line), "$ ") {
			at += perCommand
		}
		if plain(line) == "" {
			continue
		}
		fmt.Fprintf(&b, `<text class="l" style="animation-delay:%.2fs" `, at)
		fmt.Fprintf(&b, `x="%d" y="%d">%s</text>`+"\n", margin, titleBar+(i+1)*lineHeight-4, spans(line))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// classes are the colours of mem as classes of the picture.
func classes() map[string]string {
	return map[string]string{"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "36": "c"}
}

// spans writes a line with escape sequences of colours as text of an SVG.
func spans(line string) string {
	var b strings.Builder
	class := ""
	for i, part := range strings.Split(line, "\x1b[") {
		text := part
		if i > 0 {
			code, rest, _ := strings.Cut(part, "m")
			class, text = classes()[code], rest
		}
		if text == "" {
			continue
		}
		var escaped bytes.Buffer
		if err := xml.EscapeText(&escaped, []byte(text)); err != nil {
			log.Fatal(err) // a buffer takes everything
		}
		if class == "" {
			b.Write(escaped.Bytes())
			continue
		}
		fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, class, escaped.Bytes())
	}
	return b.String()
}

// plain is a line without escape sequences.
func plain(line string) string {
	parts := strings.Split(line, "\x1b[")
	for i := 1; i < len(parts); i++ {
		_, parts[i], _ = strings.Cut(parts[i], "m")
	}
	return strings.Join(parts, "")
}
