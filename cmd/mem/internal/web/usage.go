package web

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/stats"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
)

// A usageBody is what the sessions of a project used and cost.
type usageBody struct {
	stats.Spending
	Ways   []string
	Cost   template.HTML
	Tokens template.HTML
	Shown  int // columns of the charts
}

// usageColumns is the maximal number of columns of a chart.
const usageColumns = 24

// patience is how long a page waits for the figures of new sessions. Then a job reads them, and leads back to the page.
const patience = 700 * time.Millisecond

func (s *Server) usageScreen(w http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	b := usageBody{Ways: []string{stats.ByDay, stats.ByMonth, stats.BySession, stats.ByModel, stats.ByProject}}
	by := r.FormValue("by")
	if by == "" {
		by = stats.ByDay
	}
	if !slices.Contains(b.Ways, by) {
		return "", page{}, api.BadRequest("by is one of " + strings.Join(b.Ways, ", "))
	}
	projects := []state.Project{p}
	if by == stats.ByProject {
		var err error
		if projects, err = trust.Projects(r.Context(), s.Memory.DB); err != nil {
			return "", page{}, err
		}
	}
	read := func(ctx context.Context) (err error) {
		b.Spending, err = stats.ReadSpending(ctx, s.Memory.DB, projects, stats.SpendingOptions{By: by, Zone: s.Now().Location()})
		return err
	}
	ctx, cancel := r.Context(), func() {}
	if r.FormValue("wait") == "" {
		ctx, cancel = context.WithTimeout(ctx, patience)
	}
	defer cancel()
	if err := read(ctx); errors.Is(err, context.DeadlineExceeded) {
		back := "/p/" + string(p.ID) + "/usage?" + url.Values{"by": {by}, "wait": {"1"}}.Encode()
		j := s.Jobs.Start("read what the sessions used", func(ctx context.Context) (string, error) { return back, read(ctx) })
		return redirect(w, r, "/jobs/"+j.ID)
	} else if err != nil {
		return "", page{}, err
	}
	rows := b.Rows
	if by == stats.ByDay || by == stats.ByMonth {
		rows = rows[max(0, len(rows)-usageColumns):] // the newest
	} else {
		rows = rows[:min(len(rows), usageColumns)]
	}
	var cost, used []column
	for _, row := range rows {
		name := row.Name
		switch by {
		case stats.ByDay:
			name = strings.ReplaceAll(name[max(0, len(name)-len("01-02")):], "-", "/")
		case stats.BySession:
			name = records.ShortID(name)
		}
		if len(name) > len("claude..") {
			name = strings.TrimPrefix(name, "claude-")[:min(8, len(strings.TrimPrefix(name, "claude-")))]
		}
		cost = append(cost, column{name, int(row.Micros)})
		used = append(used, column{name, int(row.Input + row.Output + row.CacheWrite + row.CacheRead)})
	}
	b.Shown = len(rows)
	b.Cost = chart("Cost by "+by, cost, func(n int) string { return engines.DollarColumn(b.Total.Micros)(int64(n)) })
	b.Tokens = chart("Tokens by "+by, used, tokens.Format)
	crumbs := append(projectCrumbs(p, "Statistics")[:2:2], crumb{"Usage", ""})
	return "usage", page{Title: "Usage", Tab: "stats", Project: p, Crumbs: crumbs, Body: b}, nil
}

// Heading returns the heading of the first column.
func (b usageBody) Heading() string { return strings.ToUpper(b.By[:1]) + b.By[1:] }

// Money returns the cost of a row. A plus says that some answers have no known price.
func (b usageBody) Money(r stats.Spent) string {
	dollars := engines.DollarColumn(b.Total.Micros)
	switch {
	case len(r.Unpriced) == 0:
		return dollars(r.Micros)
	case r.Micros == 0:
		return "unknown"
	}
	return dollars(r.Micros) + "+"
}
