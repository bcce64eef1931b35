package engines

import (
	"context"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
)

// An Estimator is an engine that estimates the requests of another one: it cuts the same windows, asks no model, and
// answers by [compress.Extract].
type Estimator struct {
	of   *Summarizer
	sum  Receipt
	seen map[objects.Hash]bool
}

// Estimator returns an estimator for s.
func (s *Summarizer) Estimator() *Estimator { return &Estimator{of: s, seen: map[objects.Hash]bool{}} }

// ID returns the ID of the estimated engine.
func (e *Estimator) ID() string { return e.of.ID() }

// Receipt returns the usage of the run if every first answer is accepted and has the requested length, twice that in JSON, and as
// much again when it is checked.
func (e *Estimator) Receipt() Receipt { return e.sum }

// Summarize counts the requests and answers with an extract.
func (e *Estimator) Summarize(ctx context.Context, req version.Request) (version.Summary, error) {
	room := req.Count.Unscale(req.Budget)
	if key := itemsKey(req); room > 0 && len(req.Items) > 0 && !e.seen[key] {
		e.seen[key] = true
		windows := windowsOf(req, e.of.opts.Window)
		total := totalTokens(windows)
		for _, w := range windows {
			budget := max(1, w.share(room, total))
			in := questionTokens(e.of.question(summaryForm(w, budget, req.Level)))
			again := questionTokens(e.of.question(verifyForm(w, "", 0))) + tokens.For("").Scale(budget*3/2)
			out := tokens.For("").Scale(2 * budget)
			e.sum.Windows++
			e.sum.Requests += 2
			e.sum.Usage = e.sum.Usage.Add(e.of.maxUsage(in, out)).Add(e.of.maxUsage(again, out))
		}
	}
	return compress.Extract{}.Summarize(ctx, req)
}
