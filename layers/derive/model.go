package derive

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	trusted "github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// run carries out the plan of c. What a model was asked and answered becomes the witnesses of the version, and is
// returned to be stored with it; what it cost is in the ledger when run returns, whatever else went wrong.
func (m Ops) run(ctx context.Context, in compress.Input, c *Compressed, engine compress.Summarizer) (compress.Result,
	[][]byte, error) {
	asking, ok := engine.(*engines.Summarizer)
	if !ok {
		if engine == nil {
			engine = compress.Extract{}
		}
		res, err := compress.Run(ctx, in, c.Plan, engine)
		imported, ok := engine.(*engines.Imported)
		if !ok || err != nil {
			return res, nil, err
		}
		witnesses, err := c.witnessed(imported.Exchanges())
		return res, witnesses, err
	}
	asking = asking.Metered(&Meter{M: m, Caps: m.Opts.Caps, Project: c.Project.ID, Session: c.Session.ID,
		Engine: asking.ID()})
	res, err := compress.Run(ctx, in, c.Plan, asking)
	c.Receipt = asking.Receipt()
	if err != nil {
		return res, nil, err
	}
	witnesses, err := c.witnessed(asking.Exchanges())
	c.Version.Receipt = c.Receipt
	return res, witnesses, err
}

// witnessed names what was asked and answered as the witnesses of the version, and returns it as it is stored.
func (c *Compressed) witnessed(exchanges []engines.Exchange) ([][]byte, error) {
	witnesses, err := engines.Witnesses(exchanges)
	for _, w := range witnesses {
		c.Version.Derivation.Witnesses = append(c.Version.Derivation.Witnesses, objects.Sum(w))
	}
	return witnesses, err
}

// estimate says what a model would take for a plan; an engine without a model takes nothing.
func estimate(ctx context.Context, in compress.Input, p compress.Plan,
	engine compress.Summarizer) (engines.Receipt, error) {
	asking, ok := engine.(*engines.Summarizer)
	if !ok {
		return engines.Receipt{}, nil
	}
	e := asking.Estimate()
	_, err := compress.Run(ctx, in, p, e)
	return e.Receipt(), err
}

// ErrNoWitnesses says that no model was asked for what shall be replayed.
var ErrNoWitnesses = errors.New("no recorded answers of a model")

// Recorded returns what models were asked and answered for the versions of a session, or for the one version that rev
// names, in the order of the versions.
func (m Ops) Recorded(ctx context.Context, rev state.Rev) ([]engines.Exchange, error) {
	if rev.Session == nil {
		return nil, records.ErrNotCompressible
	}
	st, err := trusted.On(m.DB).State(ctx, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	var out []engines.Exchange
	for _, v := range st.Versions {
		if v.Session != rev.Session.ID || rev.Version != nil && v.ID != rev.Version.ID {
			continue
		}
		xs, err := m.exchanges(ctx, rev.Project.ID, v)
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

// exchanges returns what a model was asked and answered for a version.
func (m Ops) exchanges(ctx context.Context, p refs.Project, v *records.Version) ([]engines.Exchange, error) {
	var bodies [][]byte
	for _, h := range v.Derivation.Witnesses {
		b, err := originals.On(m.DB).Object(ctx, p, h)
		if err != nil {
			return nil, fmt.Errorf("witness of %s: %w", v.Label, err)
		}
		bodies = append(bodies, b)
	}
	xs, err := engines.Recorded(bodies)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.Label, err)
	}
	return xs, nil
}

// A Reproduction is a version that was made once more.
type Reproduction struct {
	Same   bool         // byte for byte
	Output objects.Hash // of what was made now
	Body   []byte
}

// ErrEngineGone says that a version or composition was made by a step or engine that this program does not have, so
// that it cannot be reproduced.
var ErrEngineGone = compress.ErrEngineGone

// Reproduce makes the version that rev names once more, from its recipe and inputs, with the recorded answers of a
// model where one was asked. Nothing is asked, paid or written.
func (m Ops) Reproduce(ctx context.Context, rev state.Rev) (Reproduction, error) {
	v := rev.Version
	if v == nil || rev.Session == nil || len(v.Derivation.Inputs) == 0 {
		return Reproduction{}, records.ErrNotCompressible
	}
	var r Reproduction
	plan, err := v.Plan()
	if err != nil {
		return r, err
	}
	engine, err := m.replaying(ctx, rev.Project.ID, v, plan.Engine)
	if err != nil {
		return r, err
	}
	b, err := basisOf(rev.Session, v)
	if err != nil {
		return r, err
	}
	mat, err := m.materialOf(ctx, rev.Project.ID, rev.Session, b)
	if err != nil {
		return r, err
	}
	res, err := compress.Run(ctx, mat.Input, plan, engine)
	if err != nil {
		return r, fmt.Errorf("make %s once more: %w", v.Label, err)
	}
	r.Output, r.Body = objects.Sum(res.Body), res.Body
	r.Same = r.Output == v.Derivation.Output
	return r, nil
}

// replaying returns the engine that made a version, with recorded answers in the place of a model.
func (m Ops) replaying(ctx context.Context, p refs.Project, v *records.Version,
	id string) (compress.Summarizer, error) {
	if own := (compress.Extract{}); id == own.ID() {
		return own, nil
	}
	var engine compress.Summarizer = compress.Extract{}
	if tool, ok := engines.ImportedTool(id); ok {
		xs, err := m.exchanges(ctx, p, v)
		if err != nil {
			return nil, err
		}
		if len(xs) != 1 {
			return nil, fmt.Errorf("%s: %d witnesses of what %s wrote, not one", v.Label, len(xs), tool)
		}
		if engine, err = engines.NewImported(tool, []byte(xs[0].Answer.Text)); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Label, err)
		}
	} else if model, window, ok := engines.ModelOf(id); ok {
		xs, err := m.exchanges(ctx, p, v)
		if err != nil {
			return nil, err
		}
		engine = engines.New(engines.NewReplay(model, xs), engines.Options{Window: window})
	}
	if engine.ID() != id {
		return nil, fmt.Errorf("%s: %w: it was %s, this is %s", v.Label, ErrEngineGone, id, engine.ID())
	}
	return engine, nil
}
