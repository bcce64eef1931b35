package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// version imports a version if its text follows from its session.
func (w *projectImport) version(ctx context.Context, h *target, mat *sessionText, v Version,
	messages []Message) error {
	it := Item{Kind: "version", Name: h.name() + " " + v.ID, Project: h.project.Name}
	segs, left, err := w.segments(mat, messages)
	if err != nil {
		return w.reject(it, err)
	}
	answer, err := engines.NewImportedAnswer(segs)
	if err != nil {
		return err
	}
	engine, err := engines.NewImported(toolOf(w.store.Tool, v.Model), answer)
	if err != nil {
		return w.reject(it, err)
	}
	if segs, err = engine.Segments(mat.items); err != nil {
		return w.reject(it, err)
	}
	if left > 0 {
		it.Why = fmt.Sprintf("without %s that Claude Code wrote itself", records.Numbered(left, "message", "messages"))
	}
	st, err := trust.State(ctx, w.m, h.project.ID)
	if err != nil {
		return err
	}
	for _, x := range st.AllVersionsOf(h.id) {
		if x.Engine == engine.ID() {
			it.Status, it.As = Unchanged, records.ShortID(h.id)+":"+x.Label
			if x.Deleted {
				it.Why = "it was removed here"
			}
			w.record(it)
			return nil
		}
	}
	label, err := w.compress(ctx, st, checkedVersion{mat.rev, v.ID, engine, segs})
	if err != nil {
		return w.reject(it, err)
	}
	it.Status, it.As = New, records.ShortID(h.id)+":"+label
	w.record(it)
	return nil
}

// A checkedVersion is a version whose text follows from its session.
type checkedVersion struct {
	rev    state.Rev // the session
	label  string    // in the store
	engine *engines.Imported
	segs   []compress.Segment
}

// compress stores a version and returns its label: that of the store or, if that is malformed or not after the existing
// labels, the next one.
func (w *projectImport) compress(ctx context.Context, st *state.State, v checkedVersion) (string, error) {
	s, now, label := v.rev.Session, v.rev.Session.Now(), v.label
	next := st.NextLabel(s.ID, w.m.Refs.Device().ID)
	if _, err := records.ParseLabel(label); err != nil || len(label) < len(next) ||
		len(label) == len(next) && label < next {
		label = next
	}
	count := markers.Counter(w.m, now)
	size := max(count.Count(compress.Text(v.segs)), count.Count(compress.Markdown(v.segs)))
	ops := w.m
	save := func(ctx context.Context, c derive.CompressResult, bodies [][]byte) (derive.CompressResult, error) {
		c.Version.Label = label
		return derive.SaveVersion(ctx, ops, c, bodies)
	}
	c, err := derive.CompressBy(ctx, ops, derive.CompressRun{State: st, DryRun: w.o.DryRun, Save: save}, v.rev,
		trust.Basis{Point: now, Input: now.Original}, compress.Settings{
			Tokens: size + size/50 + 8, Keepit: compress.Ignore, Engine: v.engine, Counter: count})
	if err != nil {
		return "", err
	}
	if c.Version.Label != "" {
		label = c.Version.Label
	}
	return label, nil
}

// toolOf returns the name of a tool and its model for the ID of an engine.
func toolOf(tool, model string) string {
	model = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return -1
	}, model)
	if model == "" {
		return tool
	}
	return tool + " " + model[:min(len(model), 60)]
}

// segments converts the messages of a version, with the numbers of the messages that they replace. It returns the
// number of messages that it leaves out because the client wrote them.
func (w *projectImport) segments(mat *sessionText,
	messages []Message) (segs []compress.Segment, left int, err error) {
	numbers := mat.numbers()
	for i, x := range messages {
		from := x.From
		if len(from) == 0 && !x.Summarised {
			from = []string{x.UUID}
		}
		if len(from) == 0 {
			return nil, 0, fmt.Errorf("message %d: it does not name the messages that it replaces", i+1)
		}
		var src [][2]int
		for _, id := range from {
			msg, ok := mat.messages[id]
			if !ok {
				return nil, 0, fmt.Errorf("message %d: the session has no message %.60q", i+1, id)
			}
			if mat.listed[msg.n] {
				src = append(src, [2]int{msg.n, msg.n})
			}
		}
		text := untagged(x.Text)
		if w.forgotten(text) {
			return nil, 0, fmt.Errorf("message %d: %w", i+1, errForgotten)
		}
		if !x.Summarised && !strings.Contains(flat(untagged(mat.messages[from[0]].text)),
			flat(w.redacted(text, numbers))) {
			return nil, 0, fmt.Errorf("message %d: it is not what message #%d of the session says", i+1,
				mat.messages[from[0]].n)
		}
		text = strings.TrimSpace(w.redacted(text, numbers))
		first := mat.messages[from[0]]
		if len(src) == 0 || text == "" || !x.Summarised && first.own && !mat.contains(first.n, text) {
			left++
			continue
		}
		slices.SortFunc(src, func(a, b [2]int) int { return a[0] - b[0] })
		segs = append(segs, compress.Segment{Role: x.Role, Text: text, Src: slices.Compact(src)})
	}
	if len(segs) == 0 {
		return nil, 0, errors.New("no message has text")
	}
	return segs, left, nil
}

// untagged returns a text without the tags of keepit markers, which a version does not contain. Tags that are nested in
// tags are removed to a small depth.
func untagged(s string) string {
	for range 4 {
		marks := keepit.Scan(s)
		if len(marks) == 0 {
			break
		}
		var b strings.Builder
		at := 0
		for _, m := range marks {
			b.WriteString(s[at:m.Start])
			b.WriteString(m.Text)
			at = m.End
		}
		s = b.String() + s[at:]
	}
	return s
}

// compositions imports the compositions whose parts are in memory.
func (w *projectImport) compositions(ctx context.Context) error {
	for _, c := range w.p.Compositions {
		if err := w.composition(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (w *projectImport) composition(ctx context.Context, c Composition) error {
	it := Item{Kind: "composition", Name: c.Name}
	name, err := compositionName(w.redacted(c.Name, &redact.Numbers{}))
	if w.forgotten(c.Name) {
		err = errForgotten
	}
	if err != nil {
		return w.reject(it, err)
	}
	req := derive.ComposeRequest{Name: name, Budget: c.Budget, DryRun: w.o.DryRun}
	need := 0
	for _, p := range c.Parts {
		rev, tokens, err := w.part(ctx, p)
		if errors.Is(err, errUnchecked) {
			it.Status, it.Why = New, unchecked
			w.record(it)
			return nil
		} else if err != nil {
			return w.reject(it, err)
		}
		need += tokens
		req.Parts = append(req.Parts, derive.ComposePart{Rev: rev})
	}
	req.Project = req.Parts[0].Rev.Project
	it.Project, it.As = req.Project.Name, name
	st, err := trust.State(ctx, w.m, req.Project.ID)
	if err != nil {
		return err
	}
	if was := st.Composition(name); was != nil {
		if it.Status = Unchanged; !sameParts(was, req.Parts) {
			it.Status, it.Why = Conflict, "memory has a composition of that name with other parts"
		}
		w.record(it)
		return nil
	}
	if req.Budget == 0 {
		req.Budget = need + need/10 + 1000*len(req.Parts) // the store has none
	}
	done, err := derive.Compose(ctx, w.m, req)
	var short *compose.BudgetError
	if errors.As(err, &short) && c.Budget > 0 {
		err = fmt.Errorf("its parts need %d tokens as memory counts them, its budget is %d", short.Need, c.Budget)
	}
	if err != nil {
		it.As = ""
		return w.reject(it, err)
	}
	if it.Status = New; done.Foreign != nil {
		it.Why = fmt.Sprintf("it contains text of project %s: project %s cannot be pushed until you allow it",
			done.Foreign.From, done.Foreign.With)
	}
	w.record(it)
	return nil
}

// part returns a part of a composition and an estimate of its tokens.
func (w *projectImport) part(ctx context.Context, p Part) (state.Rev, int, error) {
	h := w.targetOf(p.Session)
	var s *state.Session
	var st *state.State
	if h != nil && h.change != "conflict" {
		var err error
		if st, s, err = w.session(ctx, h); err != nil {
			return state.Rev{}, 0, err
		}
	}
	if s == nil && w.o.DryRun && h != nil && h.change == "new" {
		return state.Rev{}, 0, errUnchecked
	}
	if s == nil {
		return state.Rev{}, 0, fmt.Errorf("its part %s is not in memory", records.ShortID(p.Session))
	}
	rev := state.Rev{Kind: state.IsOriginal, Project: h.project, Session: s, Hash: s.Now().Original}
	if p.Version == "original" {
		counts, err := markers.Counts(ctx, w.m, h.project.ID, s, s.Now())
		return rev, markers.Counter(w.m, s.Now()).Scale(counts.Raw), err
	}
	for _, it := range w.report.Items {
		if it.Kind != "version" || it.Name != h.name()+" "+p.Version || it.As == "" || it.Project != h.project.Name {
			continue
		}
		for _, v := range st.VersionsOf(h.id) {
			if records.ShortID(h.id)+":"+v.Label == it.As && v.Device == w.m.Refs.Device().ID {
				rev.Kind, rev.Version, rev.Hash = state.IsVersion, v, v.Derivation.Output
				return rev, v.TokensOut, nil
			}
		}
		if w.o.DryRun {
			return rev, 0, errUnchecked
		}
	}
	return rev, 0, fmt.Errorf("its part %s:%s is not in memory", records.ShortID(p.Session), p.Version)
}

// compositionName returns the name of a composition with hyphens for characters that names must not contain.
func compositionName(name string) (string, error) {
	if _, err := records.ParseName(name); err == nil {
		return name, nil
	}
	clean := strings.Trim(strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return strings.ContainsRune(` 	:#@~=^\/"'`, r) || r < ' '
	}), "-"), "-.")
	_, err := records.ParseName(clean)
	return clean, err
}

// sameParts reports whether a composition consists of exactly these parts.
func sameParts(c *records.Composition, parts []derive.ComposePart) bool {
	return slices.EqualFunc(c.Parts, parts, func(a records.CompositionPart, b derive.ComposePart) bool {
		label := "original"
		if b.Rev.Version != nil {
			label = b.Rev.Version.Label
		}
		return a.Session == b.Rev.Session.ID && a.Label == label
	})
}
