package derive

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trace"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// run executes the plan of c. The requests to a model and its answers become witnesses of the version and are returned
// for storing; the cost is recorded when run returns, also after an error.
func run(ctx context.Context, db *state.DB, in compress.Input, c *CompressResult,
	engine version.Summarizer) (compress.Result, [][]byte, error) {
	asking, ok := engine.(*engines.Summarizer)
	if !ok {
		res, err := compress.Run(ctx, in, c.Plan, engine)
		return res, nil, err
	}
	asking = asking.Metered(&Meter{M: db, Caps: db.Opts.Caps, Project: c.Project.ID, Session: c.Session.ID,
		Engine: asking.ID()})
	res, err := compress.Run(ctx, in, c.Plan, asking)
	c.Receipt = asking.Receipt()
	if err != nil {
		return res, nil, err
	}
	c.Receipt.Lines, c.Receipt.Baseless = support(res.Segments, in.Items)
	witnesses, err := c.addWitnesses(asking.Exchanges())
	c.Version.Receipt = c.Receipt
	return res, witnesses, err
}

// support counts the lines of a version that a model wrote, and those of them that no message supports.
func support(segs []version.Segment, items []version.Item) (lines, baseless int) {
	var pieces []trace.Piece
	for _, s := range segs {
		if strings.HasPrefix(s.Label, "summary by ") {
			pieces = append(pieces, trace.Piece{Segment: s})
		}
	}
	said := func(_ string, n int) string {
		var b strings.Builder
		k := sort.Search(len(items), func(k int) bool { return max(items[k].N, items[k].To) >= n })
		for ; k < len(items) && items[k].N <= n; k++ {
			b.WriteString(items[k].String() + "\n")
		}
		return b.String()
	}
	for _, o := range trace.Blame(trace.VersionLines(pieces), pieces, said) {
		if o.Frame {
			continue
		}
		lines++
		if !o.Supported {
			baseless++
		}
	}
	return lines, baseless
}

// addWitnesses adds the hashes of requests and answers to the version and returns their stored form.
func (c *CompressResult) addWitnesses(exchanges []engines.Exchange) ([][]byte, error) {
	witnesses, err := engines.EncodeExchanges(exchanges)
	for _, w := range witnesses {
		c.Version.Derivation.Witnesses = append(c.Version.Derivation.Witnesses, objects.Sum(w))
	}
	return witnesses, err
}

// ErrNoWitnesses means that there are no recorded answers to replay.
var ErrNoWitnesses = errors.New("no recorded answers of a model")

// Recorded returns the requests to models and their answers for the versions of a session, or for the one version that
// rev names, in the order of the versions.
func Recorded(ctx context.Context, db *state.DB, rev state.Rev) ([]engines.Exchange, error) {
	if rev.Session == nil {
		return nil, records.ErrNotCompressible
	}
	st, err := trust.State(ctx, db, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	var out []engines.Exchange
	for _, v := range st.Versions {
		if v.Session != rev.Session.ID || rev.Version != nil && v.ID != rev.Version.ID {
			continue
		}
		xs, err := exchanges(ctx, db, rev.Project.ID, v)
		if err != nil {
			return nil, err
		}
		out = append(out, xs...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: %w", records.ShortID(rev.Session.ID), ErrNoWitnesses)
	}
	return out, nil
}

// exchanges returns the requests to a model and its answers for a version.
func exchanges(ctx context.Context, db *state.DB, p refs.Project, v *records.Version) ([]engines.Exchange, error) {
	var bodies [][]byte
	for _, h := range v.Derivation.Witnesses {
		b, err := originals.Object(ctx, db, p, h)
		if err != nil {
			return nil, fmt.Errorf("witness of %s: %w", v.Label, err)
		}
		bodies = append(bodies, b)
	}
	xs, err := engines.DecodeExchanges(bodies)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.Label, err)
	}
	return xs, nil
}

// Reproduce runs the recipe of a version again on its inputs, with recorded answers instead of a model, and returns its
// text. It costs and writes nothing. The error is [compress.ErrEngineGone] if this program does not have the step or the engine of the
// version.
func Reproduce(ctx context.Context, db *state.DB, rev state.Rev) ([]byte, error) {
	v := rev.Version
	if v == nil || rev.Session == nil || len(v.Derivation.Inputs) == 0 {
		return nil, records.ErrNotCompressible
	}
	if made := v.Derivation.Recipe; made.Step != planning.Step || made.Version != planning.StepVersion {
		return nil, fmt.Errorf("%s: %w: it was %s/%d, this is %s/%d", v.Label, compress.ErrEngineGone, made.Step,
			made.Version, planning.Step, planning.StepVersion)
	}
	plan, err := v.Plan()
	if err != nil {
		return nil, err
	}
	engine, err := replayEngine(ctx, db, rev.Project.ID, v, plan.Engine)
	if err != nil {
		return nil, err
	}
	b, err := recordedBasis(rev.Session, v)
	if err != nil {
		return nil, err
	}
	mat, err := materialOf(ctx, db, rev.Project.ID, rev.Session, b)
	if err != nil {
		return nil, err
	}
	res, err := compress.Run(ctx, mat.Input, plan, engine)
	if err != nil {
		return nil, fmt.Errorf("reproduce %s: %w", v.Label, err)
	}
	return res.Body, nil
}

// replayEngine returns the engine that made a version, with recorded answers instead of a model.
func replayEngine(ctx context.Context, db *state.DB, p refs.Project, v *records.Version,
	id string) (version.Summarizer, error) {
	if own := (compress.Extract{}); id == own.ID() {
		return own, nil
	}
	var engine version.Summarizer = compress.Extract{}
	if model, window, ok := engines.ModelOf(id); ok {
		xs, err := exchanges(ctx, db, p, v)
		if err != nil {
			return nil, err
		}
		engine = engines.New(engines.NewReplay(model, xs), engines.Options{Window: window})
	}
	if engine.ID() != id {
		return nil, fmt.Errorf("%s: %w: it was %s, this is %s", v.Label, compress.ErrEngineGone, id, engine.ID())
	}
	return engine, nil
}
