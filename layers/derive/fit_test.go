package derive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
)

// TestGuess compares what capture says of the size of sessions with what they count.
func TestGuess(t *testing.T) {
	t.Parallel()
	m, revs := layerstest.SampleSessions(t)
	n := 0
	for _, rev := range revs {
		c, err := checkout.Count(t.Context(), m.DB, rev)
		if err != nil {
			t.Fatal(err)
		}
		got := markers.Estimate(m.DB, rev.Session.Now(), nil)
		if c.Tokens < 400 {
			continue
		}
		if n++; got < c.Tokens*2/3 || got > c.Tokens*3/2 {
			t.Errorf("%s: guessed %d tokens, counted %d", records.ShortID(rev.Session.ID), got, c.Tokens)
		}
	}
	if n < 3 {
		t.Errorf("%d sessions compared", n)
	}
}

// TestCompressKeepsItsPromises compresses every session of the sample to random sizes: never above the
// budget, every kept marker in it to the byte, the same version for the same recipe; or a [planning.PinError]
// that says the truth.
func TestCompressKeepsItsPromises(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	m, revs := layerstest.SampleSessions(t)
	rng := rand.New(rand.NewPCG(2, 3))
	for i := range layerstest.Rounds(60) {
		rev := revs[i%len(revs)]
		s := randomSettings(rng)
		name := fmt.Sprintf("%s %+v", records.ShortID(rev.Session.ID), s)
		c, err := derive.Compress(ctx, m.DB, rev, s, false)
		var pins *planning.PinError
		switch {
		case errors.As(err, &pins):
			if pins.Need <= pins.Budget {
				t.Errorf("%s: %v", name, err)
			}
			continue
		case errors.Is(err, compress.ErrTooSmall):
			if c.Plan.Budget > 60 { // the longest line of the sample that nothing shorter stands beside
				t.Errorf("%s: %v", name, err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", name, err)
			continue
		}
		segs, err := checkout.VersionSegments(ctx, m.DB, rev.Project.ID, c.Version)
		if err != nil {
			t.Fatal(err)
		}
		if n := markers.Counter(m.DB, c.Point).Count(version.Text(segs)); n > c.Plan.Budget {
			t.Errorf("%s: %d tokens of %d", name, n, c.Plan.Budget)
		}
		checkKept(t, name, c.Fates, segs)
		again, err := derive.Compress(ctx, m.DB, rev, s, false)
		if err != nil || !again.Existed || again.Version.ID != c.Version.ID {
			t.Errorf("%s again: %v, existed %v", name, err, again.Existed)
		}
	}
}

func randomSettings(rng *rand.Rand) planning.Settings {
	s := planning.Settings{Distance: rng.IntN(12)}
	switch rng.IntN(4) {
	case 0:
		s.Ratio = 1 + rng.IntN(60)
	case 1:
		s.Preset = planning.Presets[rng.IntN(len(planning.Presets))]
	default:
		s.Tokens = 1 + rng.IntN(1<<rng.IntN(13))
	}
	if s.Preset == "" && rng.IntN(2) == 0 {
		level := keepit.Level(rng.IntN(3))
		s.Level = &level
	}
	s.Keepit = []planning.KeepitMode{planning.Decay, planning.PreserveAll, planning.Ignore}[rng.IntN(3)]
	return s
}

// checkKept looks for the text of each kept marker, byte for byte and in order.
func checkKept(t *testing.T, name string, fates []planning.Fate, segs []version.Segment) {
	t.Helper()
	at := 0
	for _, f := range fates {
		if !f.Kept {
			continue
		}
		for at < len(segs) && (segs[at].Keep == "" || segs[at].Text != f.Mark.Text) {
			at++
		}
		if at == len(segs) {
			t.Errorf("%s: the marker of message %d is not there", name, f.Mark.Message)
			return
		}
		at++
	}
}

// TestComposeKeepsItsPromises composes random parts of the sample under random budgets: the whole is never
// above the budget in the form it is read in, kept markers of the versions stand in composed.md to the
// byte, the same request is the same composition; or a [compose.BudgetError] that says the truth.
func TestComposeKeepsItsPromises(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	m, revs := layerstest.SampleSessions(t)
	rng := rand.New(rand.NewPCG(4, 5))
	fitted := 0
	for i := range layerstest.Rounds(60) {
		req := randomCompose(rng, revs)
		req.Name = fmt.Sprintf("c%d", i)
		name := fmt.Sprintf("%s of %d parts, budget %d, %s", req.Name, len(req.Parts), req.Budget, req.Strategy)
		dry := req
		dry.DryRun = true
		planned, dryErr := derive.Compose(ctx, m.DB, dry)
		done, err := derive.Compose(ctx, m.DB, req)
		if (dryErr == nil) != (err == nil) {
			t.Errorf("%s: %v, but a dry run: %v", name, err, dryErr)
		}
		var short *compose.BudgetError
		switch {
		case errors.As(err, &short):
			if short.Need <= short.Budget {
				t.Errorf("%s: %v", name, err)
			}
			if short.Frame > 0 {
				req.Budget = short.Need
				if _, again := derive.Compose(ctx, m.DB, req); again != nil {
					t.Errorf("%s: %v; with that budget: %v", name, err, again)
				}
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", name, err)
			continue
		}
		fitted++
		if done.Composition.Tokens > planned.Plan.Total {
			t.Errorf("%s: %d tokens, planned were %d", name, done.Composition.Tokens, planned.Plan.Total)
		}
		checkComposed(t, m, name, req, done)
		again, err := derive.Compose(ctx, m.DB, req)
		if err != nil || again.Composition.Tokens > req.Budget {
			t.Errorf("%s again: %v", name, err)
		}
		third, err := derive.Compose(ctx, m.DB, req)
		if err != nil || !third.Existed || third.Composition.Derivation.Output != again.Composition.Derivation.Output {
			t.Errorf("%s a third time: %v, existed %v", name, err, third.Existed)
		}
	}
	if fitted < layerstest.Rounds(30) {
		t.Errorf("only %d of 60 fitted: the test proves little", fitted)
	}
}

func randomCompose(rng *rand.Rand, revs []state.Rev) derive.ComposeRequest {
	req := derive.ComposeRequest{Budget: 100 + rng.IntN(1<<(8+rng.IntN(7))), Strategy: compose.Strategy(rng.IntN(4))}
	for _, i := range rng.Perm(len(revs))[:1+rng.IntN(4)] {
		p := derive.ComposePart{Rev: revs[i], Recompress: rng.IntN(5) == 0}
		switch rng.IntN(8) {
		case 0:
			p.Share = 50 + rng.IntN(800)
		case 1:
			p.Rev.Kind = state.IsOriginal
		}
		req.Parts = append(req.Parts, p)
	}
	req.Project = req.Parts[0].Rev.Project
	return req
}

func checkComposed(t *testing.T, m *layers.Memory, name string, req derive.ComposeRequest, done derive.ComposeResult) {
	t.Helper()
	ctx := context.Background()
	rev := state.Rev{Kind: state.IsComposition, Project: req.Project, Composition: done.Composition, Hash: done.Composition.Derivation.Output}
	var md bytes.Buffer
	if err := checkout.Write(ctx, m.DB, rev, checkout.Markdown, &md); err != nil {
		t.Fatal(err)
	}
	for _, p := range req.Parts {
		if n := markers.Counter(m.DB, p.Rev.Session.Now()).Count(md.String()); n > req.Budget {
			t.Errorf("%s: composed.md has %d tokens", name, n)
		}
	}
	c, err := checkout.Composed(ctx, m.DB, rev)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range c.Parts {
		for _, s := range p.Segments {
			if s.Keep != "" && !strings.Contains(md.String(), "\n"+s.Text+"\n") {
				t.Errorf("%s: a marker of %s is not in composed.md to the byte: %q", name, p.Session, s.Text)
			}
		}
	}
	if v := done.Composition; v.Tokens > v.Budget || v.Budget != req.Budget {
		t.Errorf("%s: recorded %d of %d tokens", name, v.Tokens, v.Budget)
	}
}
