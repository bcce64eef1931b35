package interchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/disk"
)

// An agent that searches files finds more than one that asks for passages. [L1Files] gives it the sessions as files: a
// page of exchanges each, and an index.

// l1Format is the version of the pages. A page of another version is written again.
const l1Format = 1

// l1Mark begins a page that this package wrote.
const l1Mark = "<!-- mem L1 "

// An L1Export is the result of [L1Files].
type L1Export struct {
	capture.CheckedOut
	Unchanged int      // pages that were up to date
	Removed   []string // pages of sessions that are not in the lists any more
}

// L1Files writes a page of each session of a project, with the subagents, and index.md to a directory. A page that is up
// to date is not made again, and the page of a session that was removed or forgotten is deleted.
func L1Files(ctx context.Context, db *state.DB, p state.Project, dir string, o checkout.CheckoutOptions) (out L1Export, err error) {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return out, err
	}
	sessions := slices.DeleteFunc(slices.Clone(st.Sessions), func(s *state.Session) bool { return !s.Shown() })
	slices.SortFunc(sessions, func(a, b *state.Session) int {
		if c := b.Now().Ended().Compare(a.Now().Ended()); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	var index strings.Builder
	fmt.Fprintf(&index, "# Sessions of %s\n\nThe newest first. Each file has the exchanges of a session: request, what was said, files, commands, failures.\n\n",
		st.AsProject().Name)
	wanted := map[string]bool{"index.md": true}
	done, err := capture.WriteTree(db, dir, o.Force, o.DryRun, func(t *disk.Tree) (written []string, err error) {
		for _, s := range sessions {
			now := s.Now()
			name := l1Name(s)
			wanted[name] = true
			of := ""
			if s.Parent() != "" {
				of = ", subagent of " + records.ShortID(s.Parent())
			}
			fmt.Fprintf(&index, "- [%s](%s): %s, %s%s\n", strings.NewReplacer("[", "(", "]", ")").Replace(s.Title()), name,
				now.Ended().UTC().Format("2006-01-02"), records.Numbered(now.Scan.Messages, "message", "messages"), of)
			without, err := trust.LeaveOut(ctx, db, p.ID, s, now.Original)
			if err != nil {
				return nil, err
			}
			mark := fmt.Sprintf("%s%s %d.%d %v -->", l1Mark, now.Original, refine.Version, l1Format, without)
			if firstLine(t.Path(name)) == mark {
				out.Unchanged++
				continue
			}
			page, err := l1Page(ctx, db, p.ID, s)
			if err != nil {
				return nil, fmt.Errorf("session %s: %w", records.ShortID(s.ID), err)
			}
			if err := t.Stage(name, func(w io.Writer) error { _, err := io.WriteString(w, mark+"\n"+page); return err }); err != nil {
				return nil, err
			}
			written = append(written, name)
		}
		return append(written, "index.md"), t.Stage("index.md", func(w io.Writer) error {
			_, err := io.WriteString(w, index.String())
			return err
		})
	})
	out.CheckedOut = done
	if err != nil {
		return out, err
	}
	out.Removed, err = dropPages(dir, wanted, o.DryRun)
	return out, err
}

// l1Name returns the name of the page of a session: the day of its start and its ID.
func l1Name(s *state.Session) string {
	day := s.Now().Scan.First
	if day.IsZero() {
		day = s.Now().Time
	}
	return day.UTC().Format("2006-01-02") + " " + s.ID + ".md"
}

func firstLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "" // not there, or reported when it is written
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head) // a shorter file
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return string(line)
}

// dropPages deletes the pages in a directory that are not wanted.
func dropPages(dir string, wanted map[string]bool, dryRun bool) (dropped []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if wanted[e.Name()] || !e.Type().IsRegular() || !strings.HasPrefix(firstLine(path), l1Mark) {
			continue
		}
		dropped = append(dropped, path)
		if !dryRun {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return dropped, err
}

// Exchanges returns the exchanges of the newest state of a session. The caller may see the session.
func Exchanges(ctx context.Context, db *state.DB, p refs.Project, s *state.Session) ([]exchange.Exchange, error) {
	without, err := trust.LeaveOut(ctx, db, p, s, s.Now().Original)
	if err != nil {
		return nil, err
	}
	l1, err := originals.L1(ctx, db, p, s.Now().Original, refine.Full)
	if err != nil {
		return nil, err
	}
	defer l1.Close()
	echo := map[int]bool{}
	for _, point := range s.Chain(s.Now()) {
		for _, n := range point.Echo {
			echo[n] = true
		}
	}
	return exchange.Of(trust.WithoutEntries(refine.Entries(l1), without), func(n int) bool { return echo[n] })
}

// l1Page returns a session as Markdown, an exchange after the other.
func l1Page(ctx context.Context, db *state.DB, p refs.Project, s *state.Session) (string, error) {
	xs, err := Exchanges(ctx, db, p, s)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nSession %s", s.Title(), s.ID)
	if branch := s.Now().Scan.Branch; branch != "" {
		fmt.Fprintf(&b, ", branch %s", branch)
	}
	b.WriteString(". `mem show ID#N` prints message N in full.\n")
	for i := range xs {
		writeExchange(&b, &xs[i])
	}
	return b.String(), nil
}

func writeExchange(b *strings.Builder, x *exchange.Exchange) {
	fmt.Fprintf(b, "\n## #%d %s", x.From, x.By)
	if x.Start != "" {
		fmt.Fprintf(b, " · %s", x.Start)
	}
	b.WriteString("\n")
	section := func(title string, n int, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(b, "\n**%s** #%d\n\n%s\n", title, n, text)
		}
	}
	section("request", x.Request.N, x.Request.Text)
	for _, s := range x.Summaries {
		section("summary of a compaction", s.N, s.Text)
	}
	for _, s := range x.Plans {
		section("plan", s.N, s.Text)
	}
	for _, d := range x.Dialogs {
		section("asked the user", d.N, d.Question+"\n\n-> "+d.Answer)
	}
	for _, r := range x.Refusals {
		section("refused by the user", r.N, r.Of+"\n"+r.Reason)
	}
	for _, t := range x.Texts {
		section("assistant", t.N, t.Text)
	}
	for _, r := range x.Reports {
		section("report of a subagent", r.N, r.Task+"\n\n"+r.Text)
	}
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(b, "\n**%s**\n\n- %s\n", title, strings.Join(lines, "\n- "))
		}
	}
	var lines []string
	for _, f := range x.Files() {
		lines = append(lines, fmt.Sprintf("`%s` +%d -%d #%d", f.Path, f.Added, f.Removed, f.Last))
	}
	list("files", lines)
	lines = nil
	for _, c := range x.Commands {
		end := ""
		switch c.Verdict {
		case exchange.Passed:
			end = ": passed"
		case exchange.Failed:
			end = ": failed"
		}
		lines = append(lines, fmt.Sprintf("`%s`%s #%d", strings.ReplaceAll(strings.TrimSpace(c.Cmd), "\n", " ⏎ "), end, c.N))
	}
	list("commands", lines)
	lines = nil
	for _, f := range x.Failures {
		end := ""
		if f.Fixed > 0 {
			end = fmt.Sprintf(", fixed by #%d", f.Fixed)
		}
		lines = append(lines, fmt.Sprintf("`%s` #%d%s: %s", strings.ReplaceAll(f.Of, "\n", " ⏎ "), f.N, end, strings.Join(f.Lines, " ⏎ ")))
	}
	list("failures", lines)
}
