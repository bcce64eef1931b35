package web

import (
	"context"
	"net/url"
	"strconv"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/interchange"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
)

// A conversation is a page of the exchanges of a session.
type conversation struct {
	Exchanges []exchangeRow
	Values    int    // records of the file
	Previous  string // links to the adjacent pages
	Next      string
}

// An exchangeRow is what was asked and what came of it. The rest of the exchange is among the messages.
type exchangeRow struct {
	*exchange.Exchange
	Accepted []exchange.Note // plans that the user accepted and the client sent back
	Failed   int             // commands
}

// Who says who asked.
func (x exchangeRow) Who() string {
	if x.By == exchange.Nobody && len(x.Accepted) > 0 {
		return transcript.PlanLabel
	}
	return x.By.String()
}

// rowOf returns the row of an exchange, or false if it has nothing to show: notes of the client before the first prompt.
func rowOf(x *exchange.Exchange) (exchangeRow, bool) {
	row := exchangeRow{Exchange: x}
	for _, n := range x.Notes {
		if n.Name == transcript.ByPlan {
			row.Accepted = append(row.Accepted, n)
		}
	}
	for _, c := range x.Commands {
		if row.Ended(c) == "failed" {
			row.Failed++
		}
	}
	return row, x.By != exchange.Nobody || len(row.Accepted)+len(x.Texts)+len(x.Summaries)+len(x.Edits)+len(x.Commands) > 0
}

// exchangesPerPage is the number of exchanges on a page.
const exchangesPerPage = 50

// conversation returns a page of the exchanges of a session.
func (s *Server) conversation(ctx context.Context, rev state.Rev, at string) (*conversation, error) {
	xs, err := interchange.Exchanges(ctx, s.Memory.DB, rev.Project.ID, rev.Session)
	if err != nil {
		return nil, err
	}
	var rows []exchangeRow
	for i := range xs {
		if row, ok := rowOf(&xs[i]); ok {
			rows = append(rows, row)
		}
	}
	b := &conversation{Values: rev.Session.Now().Scan.Values}
	n, err := strconv.Atoi(at)
	if err != nil || n < 1 || (n-1)*exchangesPerPage >= len(rows) {
		n = 1
	}
	link := func(n int) string { return "?" + url.Values{"page": {strconv.Itoa(n)}}.Encode() }
	if n > 1 {
		b.Previous = link(n - 1)
	}
	if n*exchangesPerPage < len(rows) {
		b.Next = link(n + 1)
	}
	b.Exchanges = rows[(n-1)*exchangesPerPage : min(n*exchangesPerPage, len(rows))]
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
