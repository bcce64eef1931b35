package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// manPages returns the man pages by file name: mem.1, mem-vcs.1 (the same page under a name that differs from the
// kernel's mem(4)), and one for each command, such as mem-log.1.
func manPages(e *app.Env) map[string]string {
	first := manOfMem(e)
	pages := map[string]string{"mem.1": first, "mem-vcs.1": strings.Replace(first, ".TH MEM 1", ".TH MEM-VCS 1", 1)}
	for _, row := range commands() {
		if row.group != groupHidden {
			pages["mem-"+row.name+".1"] = manOf(e, row)
		}
	}
	return pages
}

// manOfMem returns the page of the program.
func manOfMem(e *app.Env) string {
	var b strings.Builder
	manHead(&b, manDate(e), "mem", "version control for the memory of Claude Code")
	b.WriteString(".SH SYNOPSIS\n.B mem\n.I command\n[\\fIoptions\\fR] [\\fIoperands\\fR]\n.SH DESCRIPTION\n" +
		"Capture every Claude Code session; build smaller contexts from them.\n" +
		"Without a command it prints what makes sense now in this directory.\n")
	for _, g := range groups() {
		fmt.Fprintf(&b, ".SS %s\n", roff(string(g)))
		for _, c := range commands() {
			if c.group == g {
				fmt.Fprintf(&b, ".TP\n.BR mem-%s (1)\n%s\n", roff(c.name), roff(c.make(e).Usage))
			}
		}
	}
	b.WriteString(".SH OPTIONS\n")
	for _, o := range optionsHelp((&app.Options{}).Flags(true)) {
		manOption(&b, o)
	}
	for _, t := range topics() {
		text, err := topicFiles.ReadFile("help/" + t + ".txt")
		if err != nil {
			panic("mem: " + err.Error()) // as in topics
		}
		page := strings.TrimRight(string(text), "\n")
		fmt.Fprintf(&b, ".SH %s\n.nf\n%s\n.fi\n", roff(strings.ToUpper(t)), roff(page))
	}
	return b.String()
}

// manOf returns the page of a command with its subcommands.
func manOf(e *app.Env, row command) string {
	var b strings.Builder
	all := describeAll(e, []string{row.name}, row.make(e))
	manHead(&b, manDate(e), "mem-"+row.name, all[0].Usage)
	b.WriteString(".SH SYNOPSIS\n.nf\n")
	for _, d := range all {
		b.WriteString(roff(d.Synopsis) + "\n")
	}
	b.WriteString(".fi\n.SH EXAMPLES\n.nf\n")
	var list []example
	for _, d := range all {
		list = append(list, d.Examples...)
	}
	var examples strings.Builder
	writeExamples(&examples, list)
	b.WriteString(roff(strings.TrimRight(examples.String(), "\n")) + "\n.fi\n.SH DESCRIPTION\n")
	for i, d := range all {
		if i > 0 {
			fmt.Fprintf(&b, ".SS mem %s\n", roff(d.Command))
		}
		b.WriteString(roff(d.Usage) + "\n")
		if d.Description != "" {
			b.WriteString(".PP\n" + strings.ReplaceAll(roff(d.Description), "\n\n", "\n.PP\n") + "\n")
		}
		for _, o := range append(d.Options, d.Changing...) {
			manOption(&b, o)
		}
	}
	b.WriteString(".SH SEE ALSO\n.BR mem (1)\n")
	return b.String()
}

func manHead(b *strings.Builder, date, name, about string) {
	fmt.Fprintf(b, ".TH %s 1 %q \"mem\" \"mem\"\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(name)), date, roff(name),
		roff(about))
}

// manDate returns the date of the pages: MEM_NOW, for packages, or the date of the program's commit; "" if unknown.
func manDate(e *app.Env) string {
	if e.Getenv != nil && e.Getenv("MEM_NOW") != "" {
		return e.Now().UTC().Format(time.DateOnly)
	}
	return app.ThisBuild().Date
}

func manOption(b *strings.Builder, o optionHelp) {
	fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(o.spelled())), roff(o.Usage))
}

// roff escapes text for a man page: backslashes, dashes, and dots and quotes at the start of a line, which would be
// requests.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// runMan prints the page of a command, or of mem itself.
func runMan(e *app.Env, words []string) error {
	name := "mem.1"
	if len(words) > 0 {
		name = "mem-" + words[0] + ".1"
	}
	page, ok := manPages(e)[name]
	if !ok {
		return app.WithHint(app.Usagef("there is no man page of %q", strings.Join(words, " ")), "mem help -a")
	}
	e.Printf("%s", page)
	return nil
}

// writeMan writes all pages into man1 under dir, where man(1) finds them if dir is in MANPATH.
func writeMan(e *app.Env, dir string) error {
	dir = filepath.Join(e.Path(dir), "man1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	pages := manPages(e)
	for _, name := range app.SortedKeys(pages) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(pages[name]), 0o644); err != nil {
			return err
		}
	}
	return nil
}
