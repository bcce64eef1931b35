package derive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A CompressResult is the result of a compression.
type CompressResult struct {
	Project  state.Project
	Session  *state.Session
	Point    *records.Point
	From     int              // first message that it covers
	Version  *records.Version // in a dry run without a label
	Existed  bool             // a version with the same recipe and input exists, or SameText
	SameText bool             // Version is one of another recipe: this one would have no other text
	Whole    bool             // of a new version: a larger budget would change nothing
	Plan     planning.Plan
	Fates    []planning.Fate
	Segments []version.Segment // only of a new version; in a dry run, those that it would have without a model
	Receipt  engines.Receipt   // usage of a model; in a dry run, the minimum estimate
}

// Compress creates a version of the session or of the version that rev names. It returns the existing version if there
// is one with the same recipe and input. A dry run computes the plan and writes nothing.
func Compress(ctx context.Context, db *state.DB, rev state.Rev, s planning.Settings, dryRun bool) (CompressResult, error) {
	switch {
	case rev.Session == nil:
	case rev.Kind == state.IsSession || rev.Kind == state.IsOriginal:
		now := rev.Session.Now()
		return compressBasis(ctx, db, rev, trust.Basis{Point: now, Input: now.Original}, s, dryRun)
	case rev.Kind == state.IsVersion && s.Skip > 0:
		return CompressResult{}, fmt.Errorf("%w: %w", planning.ErrSettings, ErrSkip)
	case rev.Kind == state.IsVersion:
		b, err := versionBasis(rev)
		if err != nil {
			return CompressResult{}, err
		}
		return compressBasis(ctx, db, rev, b, s, dryRun)
	}
	return CompressResult{}, records.ErrNotCompressible
}

// CompressSince creates a version of the messages of a session after those that the version base covers. The error is
// an [*UpToDateError] if there are none.
func CompressSince(ctx context.Context, db *state.DB, rev, base state.Rev, s planning.Settings,
	dryRun bool) (CompressResult, error) {
	if rev.Session == nil || rev.Kind != state.IsSession && rev.Kind != state.IsOriginal {
		return CompressResult{}, records.ErrNotCompressible
	}
	if s.Skip > 0 {
		return CompressResult{}, fmt.Errorf("%w: %w", planning.ErrSettings, ErrSkip)
	}
	b, err := incrementalBasis(rev, base)
	if err != nil {
		return CompressResult{}, err
	}
	c, err := compressBasis(ctx, db, rev, b, s, dryRun)
	if errors.Is(err, planning.ErrEmpty) {
		err = &UpToDateError{rev.Session.ID, base.Version.Label, b.After}
	}
	return c, err
}

func compressBasis(ctx context.Context, db *state.DB, rev state.Rev, b trust.Basis, s planning.Settings,
	dryRun bool) (CompressResult, error) {
	st, err := trust.State(ctx, db, rev.Project.ID)
	if err != nil {
		return CompressResult{}, err
	}
	c, bodies, err := makeVersion(ctx, db, st, rev, b, s, dryRun)
	if err != nil || bodies == nil {
		return c, err
	}
	return SaveVersion(ctx, db, c, bodies)
}

// makeVersion compresses in a given state of the project and returns the new version with the objects to store, without them
// if there is such a version, and in a dry run.
func makeVersion(ctx context.Context, db *state.DB, st *state.State, rev state.Rev, b trust.Basis, s planning.Settings,
	dryRun bool) (CompressResult, [][]byte, error) {
	c := CompressResult{Project: rev.Project, Session: rev.Session, Point: b.Point, From: b.After + 1}
	if s.Distance == 0 {
		s.Distance = max(1, st.Distance(st.Session(rev.Session.ID)))
	}
	if s.Counter == (tokens.Counter{}) {
		s.Counter = markers.Counter(db, c.Point)
	}
	if s.Engine == nil {
		s.Engine = compress.Extract{}
	}
	if err := trust.MayCompress(ctx, db, rev, &b); err != nil {
		return c, nil, err
	}
	mat, err := materialOf(ctx, db, rev.Project.ID, c.Session, b)
	if err != nil {
		return c, nil, err
	}
	s.Since = b.After
	if c.Plan, c.Fates, err = planning.Resolve(s, mat.Stats, mat.Marks); err != nil {
		return c, nil, err
	}
	c.Plan.Without = b.Without
	recipe, err := c.Plan.Recipe()
	if err != nil {
		return c, nil, err
	}
	if c.Version = st.Made(recipe.Key(b.Input)); c.Version != nil {
		c.Existed = true
		return c, nil, checkExisting(ctx, db, c, b)
	}
	c.Version = newVersion(c, s, mat.Stats.After(b.After), recipe, b.Input)
	if b.After == 0 {
		c.Version.MessagesIn = b.Point.Scan.Messages // includes messages without text, as lists do
	}
	c.Version.TokensL1 = s.Counter.Scale(compress.Raw(mat.Input.Items))
	b.Note(c.Version, db.Refs.Device().ID)
	once := b.Purpose != records.ForTier // a text that a version has already is not stored again
	if dryRun {
		if err := c.preview(ctx, mat.Input, s.Engine); err != nil || !once {
			return c, nil, err
		}
		c.sameText(st)
		return c, nil, nil
	}
	res, witnesses, err := run(ctx, db, mat.Input, &c, s.Engine)
	switch {
	case err != nil:
	case b.Accept != nil:
		err = b.Accept(res.Segments)
	default:
		err = compress.CheckSize(mat.Input, c.Plan, res.Segments)
	}
	if err != nil {
		return c, nil, err
	}
	c.Segments, c.Whole = res.Segments, res.Whole
	c.Version.TokensOut, c.Version.MessagesOut = res.Tokens, res.Messages
	c.Version.Ratio = ratio(c.Version.TokensIn, res.Tokens)
	c.Version.Derivation.Output = objects.Sum(res.Body)
	if once && c.sameText(st) {
		return c, nil, nil
	}
	return c, append(witnesses, res.Body), nil
}

// sameText reports whether a version of the same session has the same text, as where little was said, and puts it in
// place of the new one. The answers of models and versions of versions are versions of their own.
func (c *CompressResult) sameText(st *state.State) bool {
	if !planning.IsExtract(c.Version.Engine) || c.Version.Source != "" {
		return false
	}
	for _, v := range st.VersionsOf(c.Session.ID) {
		if d := v.Derivation; d.Output == c.Version.Derivation.Output && !d.Output.IsZero() && slices.Equal(d.Inputs, c.Version.Derivation.Inputs) &&
			planning.IsExtract(v.Engine) && v.Source == "" && v.Since == c.Version.Since && v.Preserved == c.Version.Preserved && v.Summarised == c.Version.Summarised {
			c.Version, c.Existed, c.SameText = v, true, true
			return true
		}
	}
	return false
}

// preview fills in the cost and the number of messages of the result: an engine without a model is run, a model is
// estimated.
func (c *CompressResult) preview(ctx context.Context, in compress.Input, engine version.Summarizer) error {
	v := c.Version
	if model, asks := engine.(*engines.Summarizer); asks {
		e := model.Estimator()
		_, err := compress.Run(ctx, in, c.Plan, e)
		c.Receipt, v.MessagesOut = e.Receipt(), max(1, v.MessagesIn*v.TokensOut/max(1, v.TokensIn))
		return err
	}
	res, err := compress.Run(ctx, in, c.Plan, engine)
	if err != nil {
		return err
	}
	v.MessagesOut, v.TokensOut, v.Ratio = res.Messages, res.Tokens, ratio(v.TokensIn, res.Tokens)
	v.Derivation.Output, c.Segments = objects.Sum(res.Body), res.Segments
	return compress.CheckSize(in, c.Plan, res.Segments)
}

// checkExisting calls b.Accept for a version that exists.
func checkExisting(ctx context.Context, db *state.DB, c CompressResult, b trust.Basis) error {
	if b.Accept == nil {
		return nil
	}
	segs, err := segments(ctx, db, c.Project.ID, c.Version.Derivation.Output)
	if err != nil {
		return err
	}
	return b.Accept(segs)
}

func newVersion(c CompressResult, s planning.Settings, stats planning.Stats, recipe lineage.Recipe,
	input objects.Hash) *records.Version {
	v := &records.Version{
		Session: c.Session.ID, Engine: c.Plan.Engine, Counter: s.Counter.ID(), Settings: settingsOf(s, c.Plan),
		Derivation: lineage.Derivation{Inputs: []objects.Hash{input}, Recipe: recipe},
		TokensIn:   s.Counter.Scale(stats.Raw()), MessagesIn: len(stats.Messages), TokensOut: c.Plan.Budget,
	}
	for _, f := range c.Fates {
		switch {
		case f.Kept:
			v.Preserved++
		case !f.Skipped:
			v.Summarised++
		}
	}
	v.Ratio = ratio(v.TokensIn, v.TokensOut)
	return v
}

// ratio returns tokens in / tokens out with two decimals.
func ratio(in, out int) float64 { return math.Round(100*float64(in)/float64(max(1, out))) / 100 }

// settingsOf describes the requested settings for the record.
func settingsOf(s planning.Settings, p planning.Plan) records.VersionSettings {
	v := records.VersionSettings{Mode: "uniform", Ratio: s.Ratio, Tokens: s.Tokens, Preset: s.Preset, Skip: s.Skip,
		Keepit: string(s.Keepit), Distance: s.Distance, Requested: s.Model}
	if v.Keepit == "" {
		v.Keepit = string(planning.Decay)
	}
	if s.Decay != keepit.DefaultDecay {
		v.Decay = s.Decay
	}
	if !s.Tiered() {
		v.Aggressiveness = p.Tiers[0].Level.String()
		return v
	}
	v.Mode = "tiered"
	if len(s.Tiers) > 0 {
		v.Preset = "custom"
		var parts []string
		for _, t := range s.Tiers {
			parts = append(parts, t.String())
		}
		v.Tiers = strings.Join(parts, " ")
	}
	return v
}

// SaveVersion commits a version, unless another writer saved the same one meanwhile.
func SaveVersion(ctx context.Context, db *state.DB, c CompressResult, bodies [][]byte) (CompressResult, error) {
	s, err := db.Refs.Stage(ctx)
	if err != nil {
		return c, err
	}
	defer s.Close()
	for _, b := range bodies {
		if _, err := s.Put(b); err != nil {
			return c, err
		}
	}
	err = db.Refs.Update(ctx, c.Project.ID, "compress "+records.ShortID(c.Session.ID), func(tx *refs.Tx) error {
		st, err := db.Fold(ctx, tx, c.Project.ID)
		if err != nil {
			return err
		}
		if v := st.Made(c.Version.Derivation.Key()); v != nil {
			c.Version, c.Existed = v, true
			return nil
		}
		if !st.Free(c.Session.ID, db.Refs.Device().ID, c.Version.Label) {
			c.Version.Label = st.NextLabel(c.Session.ID, db.Refs.Device().ID)
		}
		if err := tx.Adopt(s); err != nil {
			return err
		}
		v := c.Version
		tx.Subject(fmt.Sprintf("compress %s:%s  %s -> %s tokens", records.ShortID(c.Session.ID), v.Label,
			tokens.Format(v.TokensIn), tokens.Format(v.TokensOut)))
		tx.Trailer("Op", "compress")
		tx.Trailer("Session", c.Session.ID)
		tx.Trailer("Version", c.Version.Label)
		tx.Trailer("Output", c.Version.Derivation.Output.String())
		return addVersion(ctx, tx, c)
	})
	return c, err
}

// addVersion adds the record of a version.
func addVersion(ctx context.Context, tx *refs.Tx, c CompressResult) error {
	if err := originals.CheckInputs(ctx, tx, c.Version.Derivation.Inputs...); err != nil {
		return fmt.Errorf("session %s: %w", records.ShortID(c.Session.ID), err)
	}
	rec, err := tx.Add(records.KindVersion, c.Version)
	c.Version.ID, c.Version.Device, c.Version.Time = rec.ID, rec.Device, rec.Time
	return err
}

// Pressure returns the pressure on markers in a uniform compression of the session with these settings.
func Pressure(ctx context.Context, db *state.DB, rev state.Rev, ratio int, level *keepit.Level,
	distance int) (keepit.Pressure, error) {
	if distance == 0 && rev.Session != nil {
		st, err := trust.State(ctx, db, rev.Project.ID)
		if err != nil {
			return keepit.Pressure{}, err
		}
		distance = st.Distance(st.Session(rev.Session.ID))
	}
	p := keepit.Pressure{Level: keepit.LevelFor(ratio), Ratio: ratio, Distance: max(1, distance)}
	if level != nil {
		p.Level = *level
	}
	return p, nil
}
