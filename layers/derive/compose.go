package derive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// Name and version of the step in recipes.
const (
	ComposeStep        = "compose"
	ComposeStepVersion = 6
)

// A ComposePart is a session of a [ComposeRequest].
type ComposePart struct {
	Rev        state.Rev
	Share      int  // limit in tokens; 0 lets the strategy choose
	Recompress bool // ignore existing versions
}

// A ComposeRequest describes a composition.
type ComposeRequest struct {
	Project     state.Project // where it is stored; if unknown, the project of the first part is used
	Name        string
	Parts       []ComposePart
	Budget      int
	Strategy    compose.Strategy
	Ratio       int // preferred ratio of existing versions; 0 = any
	MaxDistance int // largest distance for which an existing version may have been made; 0 = any
	DryRun      bool

	// Engine returns the engine for a part that must be compressed, nil for [compress.Extract]. It is called only for
	// such parts, and may be nil itself.
	Engine func(ctx context.Context, part state.Rev) (version.Summarizer, error)
}

// A ComposeResult is the result of [Compose].
type ComposeResult struct {
	Project     state.Project // where it is stored
	Composition *records.Composition
	Existed     bool // the name already has this content
	Recount     int  // tokens that the composition's counter finds in addition to the counters of the parts
	Plan        compose.Plan
	Made        []string               // versions that were made for it, as session:label
	Copies      []string               // sessions that are left out: other parts have all of their messages
	Foreign     *projects.ForeignError // why the project cannot be pushed or exported with it; nil if it can

	Receipt engines.Receipt // usage of a model; in a dry run, the minimum estimate
}

// ErrNoParts means that a request names no session.
var ErrNoParts = errors.New("nothing to compose")

// ErrRepeated means that a session is there twice and not in two versions that the request names.
var ErrRepeated = errors.New("a session can be there twice only in different versions that are named")

// CheckParts returns [ErrRepeated] if a session is there twice in one version, or in a form that is still to be chosen,
// which can turn out to be the other one.
func CheckParts(parts []ComposePart) error {
	for i, p := range parts {
		for _, q := range parts[:i] {
			same := p.Rev.Hash == q.Rev.Hash || p.Rev.Kind == state.IsSession || q.Rev.Kind == state.IsSession
			if p.Rev.Session.ID == q.Rev.Session.ID && same {
				return fmt.Errorf("compose %s: %w", records.ShortID(p.Rev.Session.ID), ErrRepeated)
			}
		}
	}
	return nil
}

// A composer executes one request.
type composer struct {
	m         *state.DB
	req       ComposeRequest
	counter   tokens.Counter // of the frame
	mats      []markers.Material
	without   [][][2]int // messages of each part whose tool calls are left out
	after     []int      // messages of each part up to this one are left out: another part has them
	copies    []string   // sessions that are left out, because other parts have all of their messages
	out       compose.Composition
	reasons   map[int]string // why a part was compressed, by index
	receipt   engines.Receipt
	shortfall error // a [*compose.BudgetError] if the surviving markers do not fit

	tier    planning.Age    // of a summary: its parts are compressed in it, and no versions
	digests []planning.Plan // of a summary: how each part was compressed
}

// Compose chooses a form for each session, creates missing versions, and stores the composition under its name. The
// result never exceeds the budget.
func Compose(ctx context.Context, db *state.DB, req ComposeRequest) (ComposeResult, error) {
	c, done, err := ComposeParts(ctx, db, req)
	if err != nil || req.DryRun {
		return done, err
	}
	return c.Save(ctx, done)
}

// ComposeParts is like [Compose] without storing the composition. It stores missing versions.
func ComposeParts(ctx context.Context, db *state.DB, req ComposeRequest) (*composer, ComposeResult, error) {
	if len(req.Parts) == 0 {
		return nil, ComposeResult{}, ErrNoParts
	}
	if err := CheckParts(req.Parts); err != nil {
		return nil, ComposeResult{}, err
	}
	if st, err := trust.State(ctx, db, req.Project.ID); err != nil {
		return nil, ComposeResult{}, err
	} else if st.Name == "" { // unknown project
		req.Project = req.Parts[0].Rev.Project
	}
	var from []refs.Project
	var sessions []*state.Session
	for _, p := range req.Parts {
		from, sessions = append(from, p.Rev.Project.ID), append(sessions, p.Rev.Session)
	}
	foreign, err := trust.MayCompose(ctx, db, req.Project, from)
	if err != nil {
		return nil, ComposeResult{}, err
	}
	c := &composer{m: db, req: req, counter: largestCounter(db, sessions), reasons: map[int]string{}}
	c.out = compose.Composition{Name: req.Name, Budget: req.Budget}
	if err := c.findCopies(ctx); err != nil {
		return nil, ComposeResult{}, err
	}
	ask, err := c.ask(ctx)
	if err != nil {
		return nil, ComposeResult{}, err
	}
	plan, fits, err := c.plan(ctx, ask)
	for i := range plan.Picks {
		if n := c.after[i]; n > 0 {
			plan.Picks[i].Why += fmt.Sprintf("; without #1-%d, which another part has", n)
		}
	}
	done := ComposeResult{Project: req.Project, Plan: plan, Foreign: foreign, Copies: c.copies}
	if err != nil {
		return nil, done, c.enough(ctx, ask, err)
	}
	if req.DryRun {
		done.Receipt, err = c.estimate(ctx, plan, fits)
		return nil, done, err
	}
	for i, pick := range plan.Picks {
		made, err := c.fill(ctx, i, pick, fits[i])
		switch {
		case err != nil:
			return nil, done, err
		case made == nil:
		case made.SameText:
			plan.Picks[i].Why = made.Version.Label + " has all that is worth reading"
		case made.Existed:
			why, _, _ := strings.Cut(pick.Why, ": ")
			plan.Picks[i].Why = why + ": " + made.Version.Label + " has this recipe"
		default:
			done.Made = append(done.Made, records.ShortID(pick.Session)+":"+made.Version.Label)
			c.reasons[i] = string(records.CleanTitle(strings.Replace(pick.Why, "would compress", "compressed", 1)))
		}
	}
	done.Receipt = c.receipt
	for i, p := range c.out.Parts {
		if c.counterOf(i).ID() != c.counter.ID() {
			done.Recount += max(0, c.counter.Count(version.Text(p.Segments))-p.Tokens)
		}
	}
	if err := c.out.Measure(c.counter); err != nil {
		return nil, done, err
	}
	return c, done, nil
}

// ask returns the parts with their possible forms.
func (c *composer) ask(ctx context.Context) (compose.Request, error) {
	ask := compose.Request{Budget: c.req.Budget, Strategy: c.req.Strategy, Ratio: c.req.Ratio, MaxDistance: c.req.MaxDistance}
	for i, p := range c.req.Parts {
		src, err := c.source(ctx, i, p)
		if err != nil {
			return ask, err
		}
		ask.Sources = append(ask.Sources, src)
	}
	ask.Overhead = compose.Reserve(c.counter, c.req.Name, c.out.Parts)
	return ask, nil
}

// findCopies finds the parts that begin with messages of another part, such as forks of one session. Such a part
// contributes only what is its own. One of which nothing is its own is left out. Versions that the request names are
// used as they are.
func (c *composer) findCopies(ctx context.Context) error {
	groups := map[refs.Project][]*state.Session{}
	for _, p := range c.req.Parts {
		v := p.Rev.Version
		if p.Rev.Kind != state.IsVersion || v.Whole() && v.Origin() == p.Rev.Session.Now().Original {
			groups[p.Rev.Project.ID] = append(groups[p.Rev.Project.ID], p.Rev.Session)
		}
	}
	same := map[refs.Project]sessions.Copies{}
	for p, group := range groups {
		var err error
		if same[p], err = sessions.CopiesAmong(ctx, c.m, p, group); err != nil {
			return err
		}
	}
	var parts []ComposePart
	for _, p := range c.req.Parts {
		after := copiedUpTo(p.Rev.Session, same[p.Rev.Project.ID])
		if p.Rev.Kind == state.IsVersion {
			after = 0
		}
		if after > 0 {
			now := p.Rev.Session.Now()
			counted, err := markers.Counts(ctx, c.m, p.Rev.Project.ID, p.Rev.Session, now)
			if err != nil {
				return err
			}
			if (planning.Stats{Messages: counted.Messages}).After(after).Raw() == 0 {
				c.copies = append(c.copies, p.Rev.Session.ID)
				continue
			}
		}
		parts, c.after = append(parts, p), append(c.after, after)
	}
	c.req.Parts = parts
	return nil
}

// beginning returns the number, from 1, of the part with the beginning of part i: another branch of its session, or the
// only other part of its project. It is 0 if there is none or it can be several.
func (c *composer) beginning(i int) int {
	if c.after[i] == 0 {
		return 0
	}
	of := c.req.Parts[i].Rev
	file, _ := records.CutDevice(of.Session.ID)
	var branches, others []int
	for k, p := range c.req.Parts {
		if k == i || p.Rev.Project.ID != of.Project.ID {
			continue
		}
		others = append(others, k+1)
		if id, _ := records.CutDevice(p.Rev.Session.ID); id == file {
			branches = append(branches, k+1)
		}
	}
	for _, list := range [][]int{branches, others} {
		if len(list) == 1 {
			return list[0]
		}
	}
	return 0
}

// copiedUpTo returns the last of the messages at the beginning of a session that another session has, 0 if there is none.
// One that has a text that was marked in this session only is the session's own.
func copiedUpTo(s *state.Session, same sessions.Copies) int {
	n := sessions.CopiedPrefix(same[s.ID])
	for _, o := range s.Overrides {
		if o.Added && !o.Removed && o.Generation == s.Now().Generation {
			n = min(n, o.Message-1)
		}
	}
	return n
}

// largestCounter returns the counter, of those of the sessions' models, that counts the most tokens, so that no model
// counts more than the budget.
func largestCounter(db *state.DB, sessions []*state.Session) tokens.Counter {
	var best tokens.Counter
	for i, s := range sessions {
		if c := markers.Counter(db, s.Now()); i == 0 || c.Scale(1000) > best.Scale(1000) {
			best = c
		}
	}
	return best
}

// counterOf returns the counter for versions of the session of part i.
func (c *composer) counterOf(i int) tokens.Counter {
	return markers.Counter(c.m, c.req.Parts[i].Rev.Session.Now())
}

// source returns the possible forms of a session with their costs.
func (c *composer) source(ctx context.Context, i int, p ComposePart) (compose.Source, error) {
	s, now := p.Rev.Session, p.Rev.Session.Now()
	src := compose.Source{Session: s.ID, Share: p.Share, Recompress: p.Recompress}
	st, err := trust.State(ctx, c.m, p.Rev.Project.ID)
	if err != nil {
		return src, err
	}
	without, err := trust.LeaveOut(ctx, c.m, p.Rev.Project.ID, s, now.Original)
	if err == nil && p.Rev.Kind == state.IsVersion {
		err = trust.MayUse(ctx, c.m, p.Rev)
	}
	if err != nil {
		return src, err
	}
	c.without = append(c.without, without)
	mat, err := markers.ReadMaterial(ctx, c.m, p.Rev.Project.ID, s, now, without)
	if err != nil {
		return src, err
	}
	mat.Marks = slices.DeleteFunc(mat.Marks, func(k planning.Mark) bool { return k.Message <= c.after[i] })
	c.mats = append(c.mats, mat)
	raw := mat.Stats.After(c.after[i]).Raw()
	c.out.Parts = append(c.out.Parts, compose.Part{
		Session: s.ID, Project: p.Rev.Project.Name, Title: s.OwnTitle(), Begin: now.Scan.First, Date: now.Ended(),
		Messages: now.Scan.Messages, After: c.after[i], Of: c.beginning(i),
	})
	src.Distance = max(1, st.Distance(st.Session(s.ID)))
	src.Original = c.counterOf(i).Scale(raw)
	if p.Rev.Kind == state.IsOriginal {
		src.Pin = compose.Original
	}
	src.Digest = c.tier != ""
	if (src.Original <= c.req.Budget || src.Pin != "") && !src.Digest { // else it cannot be chosen
		segs, err := c.original(ctx, i)
		if err != nil {
			return src, err
		}
		part := compose.Part{Tokens: src.Original, Segments: segs}
		src.Tags = part.Cost(c.counter, i) - part.Tokens
	}
	if src.MinTokens, err = c.minShare(i, c.pinnedCost(i, mat), src.Distance, c.charge); err != nil {
		return src, err
	}
	if src.Digest {
		return src, nil
	}
	return src, c.versions(ctx, i, st, p, &src)
}

// versions adds the current versions of the session, or only the requested one.
func (c *composer) versions(ctx context.Context, i int, st *state.State, p ComposePart, src *compose.Source) error {
	for _, v := range st.VersionsOf(p.Rev.Session.ID) {
		asked := p.Rev.Kind == state.IsVersion && v.ID == p.Rev.Version.ID
		current := v.Origin() == p.Rev.Session.Now().Original && v.Since == "" && v.After == c.after[i]
		if p.Rev.Kind == state.IsVersion && !asked || !asked && !current {
			continue
		}
		segs, err := segments(ctx, c.m, p.Rev.Project.ID, v.Derivation.Output)
		if err != nil {
			return err
		}
		part := compose.Part{Tokens: v.TokensOut, Segments: segs}
		src.Versions = append(src.Versions, compose.Version{
			Label: v.Label, Hash: v.Derivation.Output, Tokens: part.Tokens, Tags: part.Cost(c.counter, i) - part.Tokens,
			Ratio: int(v.Ratio), Kept: v.Preserved, Summarised: v.Summarised, Freshness: v.Settings.Distance, Auto: !v.Asked(),
		})
		if asked {
			src.Pin = v.Label
		}
	}
	return nil
}

// pinnedCost returns the cost of a session's pinned texts, which no compression may drop.
func (c *composer) pinnedCost(i int, mat markers.Material) int {
	var pins []version.Segment
	for _, k := range mat.Marks {
		if k.Weight >= keepit.Pinned {
			pins = append(pins, keptSegment(k))
		}
	}
	return c.charge(i, pins)
}

// original returns the whole conversation as segments, as a model would read it.
func (c *composer) original(ctx context.Context, i int) ([]version.Segment, error) {
	rev := c.req.Parts[i].Rev
	return originals.Composed(ctx, c.m, rev.Project.ID, rev.Session.Now(), c.after[i], c.without[i])
}

// fill sets part i to what was picked. If that is a compression, it returns its result.
func (c *composer) fill(ctx context.Context, i int, pick compose.Pick, f fitted) (made *CompressResult, err error) {
	rev, part := c.req.Parts[i].Rev, &c.out.Parts[i]
	part.Version = pick.Label()
	switch pick.Kind {
	case compose.PickOriginal:
		part.Hash, part.Tokens = rev.Session.Now().Original, pick.Tokens-pick.Tags
		part.Segments, err = c.original(ctx, i)
	case compose.PickVersion:
		part.Hash, part.Tokens = pick.Version.Hash, pick.Version.Tokens
		part.Segments, err = segments(ctx, c.m, rev.Project.ID, part.Hash)
	default:
		return c.compress(ctx, i, f, pick.Distance)
	}
	return nil, err
}

// record returns the record of the composition and its text. The plan has what a summary adds to it.
func (c *composer) record(plan records.ComposePlan) (*records.Composition, []byte, error) {
	body := c.out.Encode()
	comp := &records.Composition{
		Name: c.req.Name, Budget: c.req.Budget, Strategy: c.req.Strategy.String(), Tokens: c.out.Tokens,
		Counter: c.out.Counter, Messages: c.out.Messages(), Tier: string(c.tier),
	}
	plan.Name, plan.Budget, plan.Counter, plan.Digests = c.req.Name, c.req.Budget, c.out.Counter, c.digests
	for i, p := range c.out.Parts {
		if p.Version == compose.Original && len(c.without[i]) > 0 {
			plan.Without = c.without
		}
		if p.Version == compose.Original && c.after[i] > 0 {
			plan.After = c.after
		}
	}
	for i, p := range c.out.Parts {
		comp.Parts = append(comp.Parts, records.CompositionPart{Project: c.req.Parts[i].Rev.Project.ID, Session: p.Session,
			Label: p.Version, Output: p.Hash, Tokens: p.Tokens, Reason: c.reasons[i]})
		plan.Parts = append(plan.Parts, p.Session+":"+p.Version)
		comp.Derivation.Inputs = append(comp.Derivation.Inputs, p.Hash)
	}
	var err error
	comp.Derivation.Recipe, err = lineage.NewRecipe(ComposeStep, ComposeStepVersion, plan)
	comp.Derivation.Output = objects.Sum(body)
	comp.Typed = typedKeys(c.out.Transcript())
	return comp, body, err
}

// Save stores the composition under its name, unless the name already has the same content.
func (c *composer) Save(ctx context.Context, done ComposeResult) (ComposeResult, error) {
	comp, body, err := c.record(records.ComposePlan{})
	if err != nil {
		return done, err
	}
	done.Composition = comp
	s, err := c.m.Refs.Stage(ctx)
	if err != nil {
		return done, err
	}
	defer s.Close()
	if _, err := s.Put(body); err != nil {
		return done, err
	}
	message := fmt.Sprintf("compose %s  %s tokens, %s", comp.Name, tokens.Format(comp.Tokens),
		records.Numbered(len(comp.Parts), "part", "parts"))
	err = c.m.Refs.Update(ctx, c.req.Project.ID, message, func(tx *refs.Tx) error {
		st, err := c.m.Fold(ctx, tx, c.req.Project.ID)
		if err != nil {
			return err
		}
		if was := st.Composition(comp.Name); was != nil && was.Derivation.Output == comp.Derivation.Output {
			done.Composition, done.Existed = was, true
			return nil
		}
		if err := tx.Adopt(s); err != nil {
			return err
		}
		if err := originals.CheckParts(ctx, c.m, tx, comp); err != nil {
			return err
		}
		tx.Trailer("Op", "compose")
		tx.Trailer("Composition", comp.Name)
		tx.Trailer("Output", comp.Derivation.Output.String())
		rec, err := tx.Add(records.KindComposition, comp)
		comp.ID, comp.Device, comp.Time = rec.ID, rec.Device, rec.Time
		return err
	})
	return done, err
}

// typedKeys returns the keys of the prompts in a transcript that mem generated.
func typedKeys(b []byte) []transcript.Key {
	sc := transcript.NewScanner(transcript.Carry{}, func(b []byte) [32]byte { return objects.Sum(b) })
	sc.Write(b)
	var keys []transcript.Key
	for _, p := range sc.Summary().Prompts {
		keys = append(keys, p.Key)
	}
	return keys
}
