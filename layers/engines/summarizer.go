package engines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
)

// edition is the version of all code that determines the bytes of a summary, except for the prompt: the windows, the
// checks, the cutting of answers. A new version gives recipes new keys.
const edition = 3

// Options are the options of a Summarizer.
type Options struct {
	Window int   // tokens of a session in one request; 0 means 60,000
	Price  Price // of the model
	Meter  Meter // nil allows everything
}

// A Receipt contains the requests, tokens and corrections of a run of a Summarizer.
type Receipt struct {
	Windows  int `json:"windows"`
	Requests int `json:"requests"`
	Retried  int `json:"asked_again"` // windows whose first answer was rejected
	Replaced int `json:"replaced"`    // windows left to extract because the second answer was rejected, too
	Trimmed  int `json:"trimmed"`     // windows whose answer was too long
	Lines    int `json:"lines"`       // that the model wrote, of the version
	Baseless int `json:"unsupported"` // of these, lines without a message that supports them

	// Lines of accepted answers, by what the model said when it was asked whether their messages support them.
	Contradicted int `json:"contradicted"` // left out
	Reworded     int `json:"reworded"`     // in the words of the second answer
	Unchecked    int `json:"unchecked"`    // kept, because nothing readable was said of them

	Usage Usage `json:"usage"`
}

// Add returns the sum of two receipts.
func (r Receipt) Add(o Receipt) Receipt {
	return Receipt{r.Windows + o.Windows, r.Requests + o.Requests, r.Retried + o.Retried, r.Replaced + o.Replaced,
		r.Trimmed + o.Trimmed, r.Lines + o.Lines, r.Baseless + o.Baseless, r.Contradicted + o.Contradicted,
		r.Reworded + o.Reworded, r.Unchecked + o.Unchecked, r.Usage.Add(o.Usage)}
}

// A Summarizer is an engine that uses a model. It is for one [compress.Run] and not safe for concurrent use.
type Summarizer struct {
	*Asker
	done map[objects.Hash][]answeredWindow // finished windows, by itemsKey
}

// An answeredWindow is a window with the segments of the answer.
type answeredWindow struct {
	window
	segs     []version.Segment
	replaced bool // the model failed: extract is used for every budget
	trimmed  bool // already counted as trimmed
}

var _ version.Summarizer = (*Summarizer)(nil)

// New returns an engine for m.
func New(m Model, o Options) *Summarizer {
	return &Summarizer{NewAsker(m, o), map[objects.Hash][]answeredWindow{}}
}

// Metered returns a new engine with the same model and another meter.
func (s *Summarizer) Metered(m Meter) *Summarizer {
	return &Summarizer{s.Asker.Metered(m), map[objects.Hash][]answeredWindow{}}
}

// author is the name of a model to readers.
func author(m Model) string {
	name, model, _ := strings.Cut(m.ID(), " ")
	return cmp.Or(model, name)
}

// ID contains the engine, the model, the window and the prompt.
func (s *Summarizer) ID() string { return engineID(s.model, s.opts.Window) }

func engineID(m Model, window int) string {
	name, model, _ := strings.Cut(m.ID(), " ")
	if model != "" {
		model += ", "
	}
	return fmt.Sprintf("%s/%d (%swindow %d, prompt %s)", name, edition, model, window, promptID())
}

// Summarize asks the model about the windows of the items. Answers for the same items are reused: a new budget only
// cuts them.
func (s *Summarizer) Summarize(ctx context.Context, req version.Request) (version.Summary, error) {
	room := req.Count.Unscale(req.Budget)
	if room <= 0 || len(req.Items) == 0 {
		return version.Summary{}, ctx.Err()
	}
	key := itemsKey(req)
	ws, ok := s.done[key]
	if !ok {
		windows := windowsOf(req, s.opts.Window)
		total := totalTokens(windows)
		for _, w := range windows {
			one, err := s.write(ctx, w, max(1, w.share(room, total)), req.Level)
			if err != nil {
				return version.Summary{}, err
			}
			ws = append(ws, one)
		}
		s.done[key] = ws
	}
	return s.join(ctx, ws, req, room)
}

// itemsKey identifies items and level, independent of the budget.
func itemsKey(req version.Request) objects.Hash {
	h := objects.NewHasher()
	for _, it := range req.Items {
		t := itemText(it)
		fmt.Fprintf(h, "%d %d %d %d %d\n%s", it.N, it.To, it.Kind, it.Weight, len(t), t) // never fails
	}
	fmt.Fprintf(h, "%s", req.Level)
	return h.Sum()
}

// windowsOf cuts a request into windows of at most size tokens.
func windowsOf(req version.Request, size int) []window {
	return splitWindows(req.Items, req.Count.Unscale(size), req.Count.Unscale(req.Budget))
}

// write asks the model about a window, and whether its answer is true. After two malformed answers the window is left to extract.
func (s *Summarizer) write(ctx context.Context, w window, budget int, level keepit.Level) (answeredWindow, error) {
	s.receipt.Windows++
	segs, err := Ask(ctx, s.Asker, summaryForm(w, budget, level), func(a Answer) ([]version.Segment, error) {
		return check(cmp.Or(a.Model, author(s.model)), a.Text, w)
	})
	if errors.Is(err, ErrAnswer) {
		s.receipt.Replaced++
		return answeredWindow{window: w, replaced: true}, nil
	}
	if err != nil {
		return answeredWindow{}, err
	}
	return s.verified(ctx, answeredWindow{window: w, segs: segs})
}

// join concatenates the windows and cuts them to room plain tokens.
func (s *Summarizer) join(ctx context.Context, ws []answeredWindow, req version.Request, room int) (version.Summary,
	error) {
	total := 0
	for _, w := range ws {
		total += w.raw
	}
	var out []version.Segment
	left := room - len(ws) // one token for the empty line between windows
	for i := range ws {
		w := &ws[i]
		part := max(0, w.share(room-len(ws), total))
		segs := w.segs
		var err error
		switch {
		case w.replaced:
			segs, err = extract(ctx, w.items, part, req.Level)
		case segmentTokens(segs) > part && (len(ws) > 1 || segmentTokens(segs) > room):
			if !w.trimmed {
				w.trimmed = true
				s.receipt.Trimmed++
			}
			segs, err = trim(ctx, segs, part, req.Level)
		}
		if err != nil {
			return version.Summary{}, err
		}
		left -= segmentTokens(segs)
		out = append(out, segs...)
	}
	if left < 0 && segmentTokens(out) > room {
		var err error
		if out, err = trim(ctx, out, room, req.Level); err != nil {
			return version.Summary{}, err
		}
	}
	return version.Summary{Segments: out}, nil
}

// segmentTokens returns the plain tokens of segments, in Markdown.
func segmentTokens(segs []version.Segment) int {
	return tokens.Raw(version.Text(segs))
}

func extract(ctx context.Context, items []version.Item, room int, level keepit.Level) ([]version.Segment, error) {
	sum, err := compress.Extract{}.Summarize(ctx, version.Request{Items: items, Budget: room, Level: level})
	return sum.Segments, err
}

// trim cuts segments to room plain tokens by coverage.
func trim(ctx context.Context, segs []version.Segment, room int, level keepit.Level) ([]version.Segment, error) {
	items := make([]version.Item, len(segs))
	for i, s := range segs {
		items[i] = version.Item{N: i + 1, Kind: version.Recap, Label: s.Label, Text: s.Text}
	}
	short, err := extract(ctx, items, room, level)
	if err != nil {
		return nil, err
	}
	for i := range short {
		from := segs[short[i].Src[0][0]-1] // its number was its index
		short[i].Src, short[i].Label = from.Src, from.Label
	}
	return short, nil
}
