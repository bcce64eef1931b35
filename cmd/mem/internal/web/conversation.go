package web

import (
	"context"
	"net/url"
	"strconv"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/export"
	"github.com/memvcs/mem/layers/state"
)

// A conversation is a page of the exchanges of a session.
type conversation struct {
	Exchanges []exchangeRow
	Total     int
	Values    int    // records of the file
	Previous  string // links to the adjacent pages
	Next      string
}

// An exchangeRow is what was asked and what came of it. The rest of the exchange is among the messages.
type exchangeRow struct {
	*exchange.Exchange
	Failed int // commands
}

// exchangesPerPage is the number of exchanges on a page.
const exchangesPerPage = 50

// conversation returns a page of the exchanges of a session.
func (s *Server) conversation(ctx context.Context, rev state.Rev, at string) (*conversation, error) {
	xs, err := export.Exchanges(ctx, s.Memory.DB, rev.Project.ID, rev.Session)
	if err != nil {
		return nil, err
	}
	b := &conversation{Total: len(xs), Values: rev.Session.Now().Scan.Values}
	n, err := strconv.Atoi(at)
	if err != nil || n < 1 || (n-1)*exchangesPerPage >= len(xs) {
		n = 1
	}
	link := func(n int) string { return "?" + url.Values{"page": {strconv.Itoa(n)}}.Encode() }
	if n > 1 {
		b.Previous = link(n - 1)
	}
	if n*exchangesPerPage < len(xs) {
		b.Next = link(n + 1)
	}
	for i := (n - 1) * exchangesPerPage; i < min(n*exchangesPerPage, len(xs)); i++ {
		row := exchangeRow{Exchange: &xs[i]}
		for _, c := range row.Commands {
			if row.Ended(c) == "failed" {
				row.Failed++
			}
		}
		b.Exchanges = append(b.Exchanges, row)
	}
	return b, nil
}

// Ended says how a command ended, "" if nothing proves it.
func (x exchangeRow) Ended(c exchange.Command) string {
	switch {
	case c.Exit != 0 || c.Verdict == exchange.Failed:
		return "failed"
	case c.Verdict == exchange.Passed:
		return "passed"
	}
	return ""
}
