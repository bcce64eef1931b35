package layers

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
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Compressed is what a compression made, found, or would make.
type Compressed struct {
	Project  Project
	Session  *Session
	Point    *Point
	From     int      // first message that it is about
	Version  *Version // of a dry run: as it would be, without a label
	Existed  bool     // the same recipe had been run before
	Plan     compress.Plan
	Fates    []compress.Fate
	Segments []compress.Segment // only if they were made now
	Receipt  engines.Receipt    // what a model took; of a dry run, what it would take at least
}

// ErrNotCompressible says that a revision names nothing that can be compressed.
var ErrNotCompressible = errors.New("only a session or a version can be compressed")

// Compress makes a version of the session or of the version that rev names. The same recipe on the same input returns
// the version that exists. A dry run decides everything and writes nothing.
func (m *Memory) Compress(ctx context.Context, rev Rev, s compress.Settings, dryRun bool) (Compressed, error) {
	switch {
	case rev.Session == nil:
	case rev.Kind == IsSession || rev.Kind == IsOriginal:
		now := rev.Session.Now()
		return m.compress(ctx, rev, basis{point: now, input: now.Original}, s, dryRun)
	case rev.Kind == IsVersion && s.Skip > 0:
		return Compressed{}, fmt.Errorf("%w: %w", compress.ErrSettings, ErrSkip)
	case rev.Kind == IsVersion:
		b, err := ofVersion(rev)
		if err != nil {
			return Compressed{}, err
		}
		return m.compress(ctx, rev, b, s, dryRun)
	}
	return Compressed{}, ErrNotCompressible
}

// CompressSince makes a version of what was said in the session that rev names after the messages that the version base
// covers. The error is a [*NothingNewError] if there is nothing.
func (m *Memory) CompressSince(ctx context.Context, rev, base Rev, s compress.Settings, dryRun bool) (Compressed, error) {
	if rev.Session == nil || rev.Kind != IsSession && rev.Kind != IsOriginal {
		return Compressed{}, ErrNotCompressible
	}
	if s.Skip > 0 {
		return Compressed{}, fmt.Errorf("%w: %w", compress.ErrSettings, ErrSkip)
	}
	b, err := sinceVersion(rev, base)
	if err != nil {
		return Compressed{}, err
	}
	c, err := m.compress(ctx, rev, b, s, dryRun)
	if errors.Is(err, compress.ErrEmpty) {
		err = &NothingNewError{rev.Session.ID, base.Version.Label, b.after}
	}
	return c, err
}

func (m *Memory) compress(ctx context.Context, rev Rev, b basis, s compress.Settings, dryRun bool) (Compressed, error) {
	st, err := m.State(ctx, rev.Project.ID)
	if err != nil {
		return Compressed{}, err
	}
	return m.compressBy(ctx, st, rev, b, s, dryRun, m.saveVersion)
}

// compressBy compresses as a state of the project has it, and lets save keep what was made: the version and its objects.
func (m *Memory) compressBy(ctx context.Context, st *State, rev Rev, b basis, s compress.Settings, dryRun bool, save func(context.Context, Compressed, [][]byte) (Compressed, error)) (Compressed, error) {
	c := Compressed{Project: rev.Project, Session: rev.Session, Point: b.point, From: b.after + 1}
	if s.Distance == 0 {
		s.Distance = max(1, st.Distance(st.session(rev.Session.ID)))
	}
	if s.Counter == (tokens.Counter{}) {
		s.Counter = m.counter(c.Point)
	}
	if err := m.mayCompress(ctx, rev, &b); err != nil {
		return c, err
	}
	mat, err := m.materialOf(ctx, rev.Project.ID, c.Session, b)
	if err != nil {
		return c, err
	}
	s.Since = b.after
	if c.Plan, c.Fates, err = compress.Resolve(s, mat.stats, mat.marks); err != nil {
		return c, err
	}
	c.Plan.Without = b.without
	recipe, err := c.Plan.Recipe()
	if err != nil {
		return c, err
	}
	if c.Version = st.made(recipe.Key(b.input)); c.Version != nil {
		c.Existed = true
		return c, m.accepted(ctx, c, b)
	}
	c.Version = newVersion(c, s, mat.stats.After(b.after), recipe, b.input)
	if b.after == 0 {
		c.Version.MessagesIn = b.point.Scan.Messages // as lists count them, those without text included
	}
	b.note(c.Version, m.repo.Device().ID)
	if dryRun {
		if err := compress.CheckPins(mat.input, c.Plan); err != nil {
			return c, err
		}
		return m.preview(ctx, c, mat, s.Engine)
	}
	res, witnesses, err := m.run(ctx, mat.input, &c, s.Engine)
	switch {
	case err != nil:
	case b.accept != nil:
		err = b.accept(res.Segments)
	case len(res.Segments) == 0:
		err = fmt.Errorf("%w into %s tokens", compress.ErrTooSmall, tokens.Commas(c.Plan.Budget))
	}
	if err != nil {
		return c, err
	}
	c.Segments = res.Segments
	c.Version.TokensOut, c.Version.MessagesOut = res.Tokens, res.Messages
	c.Version.Ratio = math.Round(100*float64(c.Version.TokensIn)/float64(max(1, res.Tokens))) / 100
	c.Version.Derivation.Output = objects.Sum(res.Body)
	return save(ctx, c, append(witnesses, res.Body))
}

// preview fills in what a compression would cost, and from how many messages its text would come: of an engine that costs
// nothing by running it, of a model by estimates.
func (m *Memory) preview(ctx context.Context, c Compressed, mat material, engine compress.Summarizer) (Compressed, error) {
	var err error
	v := c.Version
	if _, asks := engine.(*engines.Summarizer); asks {
		c.Receipt, err = estimate(ctx, mat.input, c.Plan, engine)
		v.MessagesOut = max(1, v.MessagesIn*v.TokensOut/max(1, v.TokensIn))
		return c, err
	}
	if engine == nil {
		engine = compress.Extract{}
	}
	res, err := compress.Run(ctx, mat.input, c.Plan, engine)
	if err != nil {
		return c, err
	}
	v.MessagesOut = res.Messages
	return c, nil
}

// accepted asks about a version that exists.
func (m *Memory) accepted(ctx context.Context, c Compressed, b basis) error {
	if b.accept == nil {
		return nil
	}
	segs, err := m.VersionSegments(ctx, c.Project.ID, c.Version)
	if err != nil {
		return err
	}
	return b.accept(segs)
}

// made returns the version that a derivation made, nil if there is none. What a device that is not trusted says it made is none.
func (st *State) made(k lineage.Key) *Version {
	for _, v := range slices.Backward(st.Versions) {
		if !v.Deleted && !v.guest && v.key == k {
			return v
		}
	}
	return nil
}

func newVersion(c Compressed, s compress.Settings, stats compress.Stats, recipe lineage.Recipe, input objects.Hash) *Version {
	v := &Version{
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
	v.Ratio = math.Round(100*float64(v.TokensIn)/float64(max(1, v.TokensOut))) / 100
	return v
}

// settingsOf says what was asked for in the words of the seeds.
func settingsOf(s compress.Settings, p compress.Plan) VersionSettings {
	v := VersionSettings{Mode: "uniform", Ratio: s.Ratio, Tokens: s.Tokens, Preset: s.Preset, Skip: s.Skip, Keepit: string(s.Keepit), Distance: s.Distance}
	if v.Keepit == "" {
		v.Keepit = string(compress.Decay)
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

// saveVersion commits a version, unless another writer made the same one meanwhile.
func (m *Memory) saveVersion(ctx context.Context, c Compressed, bodies [][]byte) (Compressed, error) {
	s, err := m.repo.Stage(ctx)
	if err != nil {
		return c, err
	}
	defer s.Close()
	for _, b := range bodies {
		if _, err := s.Put(b); err != nil {
			return c, err
		}
	}
	err = m.repo.Update(ctx, c.Project.ID, "compress "+ShortID(c.Session.ID), func(tx *refs.Tx) error {
		st, err := m.state(ctx, tx, c.Project.ID)
		if err != nil {
			return err
		}
		if v := st.made(c.Version.Derivation.Key()); v != nil {
			c.Version, c.Existed = v, true
			return nil
		}
		if !st.free(c.Session.ID, m.repo.Device().ID, c.Version.Label) {
			c.Version.Label = st.nextLabel(c.Session.ID, m.repo.Device().ID)
		}
		if err := tx.Adopt(s); err != nil {
			return err
		}
		if err := unforgotten(ctx, tx, c.Version.Derivation.Inputs...); err != nil {
			return fmt.Errorf("session %s: %w", ShortID(c.Session.ID), err)
		}
		v := c.Version
		tx.Subject(fmt.Sprintf("compress %s:%s  %s -> %s tokens", ShortID(c.Session.ID), v.Label, tokens.Format(v.TokensIn), tokens.Format(v.TokensOut)))
		tx.Trailer("Op", "compress")
		tx.Trailer("Session", c.Session.ID)
		tx.Trailer("Version", c.Version.Label)
		tx.Trailer("Output", c.Version.Derivation.Output.String())
		rec, err := tx.Add(kindVersion, c.Version)
		c.Version.ID, c.Version.Device, c.Version.Time = rec.ID, rec.Device, rec.Time
		return err
	})
	return c, err
}

// nextLabel returns the label of the next version that a device makes of a session. Numbers are never
// used again, not even those of deleted versions.
func (st *State) nextLabel(session, device string) string {
	n := 0
	for _, v := range st.Versions {
		if v.Session == session && v.Device == device {
			var k int
			if _, err := fmt.Sscanf(v.Label, "v%d", &k); err == nil {
				n = max(n, k)
			}
		}
	}
	for _, q := range st.Purges {
		for _, l := range q.Body.Labels {
			if l.Device == device && l.Session == purgeKey(session) {
				n = max(n, l.Last)
			}
		}
	}
	return fmt.Sprintf("v%03d", n+1)
}

// free reports whether a version of a session that is made again can have the label that it had.
func (st *State) free(session, device, label string) bool {
	return label != "" && !slices.ContainsFunc(st.Versions, func(v *Version) bool {
		return v.Session == session && v.Device == device && v.Label == label
	})
}

// FileName returns the name of the version's files without extension, as in the seeds:
// v001_tiered-standard_10k.
func (v *Version) FileName() string {
	kind := v.Settings.Preset
	if kind == "" {
		kind = v.Settings.Aggressiveness
	}
	return fmt.Sprintf("%s_%s-%s_%dk", v.Label, v.Settings.Mode, kind, (v.TokensOut+500)/1000)
}

// placeOf is where a mark stands, as a plan names it: message, start and end of its text.
func placeOf(mark compress.Mark) [3]int { return [3]int{mark.Message, mark.TextStart, mark.TextEnd} }

// markFates returns for each mark that the version knew whether it kept it.
func (v *Version) markFates() map[[3]int]bool {
	plan, err := v.Plan()
	if err != nil {
		return nil
	}
	out := map[[3]int]bool{}
	for _, s := range plan.Summarised {
		out[[3]int{s.Message, s.Start, s.End}] = false
	}
	for _, s := range plan.Kept {
		out[[3]int{s.Message, s.Start, s.End}] = true
	}
	return out
}

// Pressure returns under which pressure a uniform compression of the session with these settings puts its
// markers.
func (m *Memory) Pressure(ctx context.Context, rev Rev, ratio int, level *keepit.Level, distance int) (keepit.Pressure, error) {
	st, err := m.State(ctx, rev.Project.ID)
	if err != nil {
		return keepit.Pressure{}, err
	}
	if distance == 0 && rev.Session != nil {
		distance = st.Distance(st.session(rev.Session.ID))
	}
	p := keepit.Pressure{Level: keepit.LevelFor(ratio), Ratio: ratio, Distance: max(1, distance)}
	if level != nil {
		p.Level = *level
	}
	return p, nil
}
