package checkout

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
)

// writeL2 writes facts, as JSON lines of one exchange each or as text.
func writeL2(ctx context.Context, db *state.DB, rev state.Rev, f Format, w io.Writer) error {
	var list []facts.Exchange
	if rev.Fact != nil {
		list = []facts.Exchange{{Session: rev.Fact.Session, Facts: []facts.Fact{*rev.Fact}}}
	} else {
		set, err := revision.Facts(ctx, db, rev.Project.ID)
		if err != nil {
			return err
		}
		list = set.LiveExchanges(rev.Session.ID)
	}
	if f == JSONL || f == "" {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, x := range list {
			if err := enc.Encode(x); err != nil {
				return err
			}
		}
		return nil
	}
	var b strings.Builder
	for i, x := range list {
		if i > 0 {
			b.WriteString("\n")
		}
		writeExchange(&b, x, f == Markdown)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeExchange writes an exchange with its facts and the places of their evidence.
func writeExchange(b *strings.Builder, x facts.Exchange, md bool) {
	head, item := "", "  "
	if md {
		head, item = "## ", "- "
	}
	if x.ID != "" {
		fmt.Fprintf(b, "%s%s  #%d..%d  %s\n", head, x.ID, x.From, x.To, cmp.Or(x.Topic, x.Summary))
	}
	if x.Summary != "" && x.Topic != "" {
		fmt.Fprintf(b, "%s%s\n", strings.TrimSuffix(item, "- "), x.Summary)
	}
	for _, f := range x.Facts {
		mark := ""
		switch {
		case f.Resolved:
			mark = " (resolved)"
		case f.Verdict != facts.Verified:
			mark = " (" + string(f.Verdict) + ")"
		}
		fmt.Fprintf(b, "%s%s %s%s: %s", item, f.ID, f.Kind, mark, f.Text)
		for i, e := range f.Evidence {
			fmt.Fprintf(b, "%s%s#%d", [...]string{" [", ", "}[min(i, 1)], records.ShortID(f.Session), e.Message)
		}
		if len(f.Evidence) > 0 {
			b.WriteString("]")
		}
		b.WriteString("\n")
	}
}
