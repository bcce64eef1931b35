package engines

import (
	"context"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/tokens"
)

// An Estimate is an engine that only finds out what another one would be asked: it cuts the same windows, asks nobody,
// and answers by [compress.Extract] so that [compress.Run] goes its way.
type Estimate struct {
	of   *Summarizer
	sum  Receipt
	seen map[string]bool
}

// Estimate returns an engine that stands for s and counts.
func (s *Summarizer) Estimate() *Estimate { return &Estimate{of: s, seen: map[string]bool{}} }

// ID is that of the engine it stands for.
func (e *Estimate) ID() string { return e.of.ID() }

// Receipt returns what the run would take if every answer is good at once, as long as asked, and twice that in JSON.
func (e *Estimate) Receipt() Receipt { return e.sum }

// Summarize counts the requests and answers with an extract.
func (e *Estimate) Summarize(ctx context.Context, req compress.Request) (compress.Summary, error) {
	room := req.Count.Unscale(req.Budget)
	if key := itemsKey(req).String(); room > 0 && len(req.Items) > 0 && !e.seen[key] {
		e.seen[key] = true
		for _, w := range windowsOf(req, e.of.opts.Window) {
			budget := share(room, w, req.Items)
			in := length(question(e.of.model.ID(), w, budget, req.Level, nil))
			out := tokens.For("").Scale(2 * budget)
			e.sum.Windows++
			e.sum.Requests++
			e.sum.Usage = e.sum.Usage.Add(Usage{in, out, e.of.opts.Price.Cost(in, out)})
		}
	}
	return compress.Extract{}.Summarize(ctx, req)
}
