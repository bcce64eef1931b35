package layers

import (
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
)

// How the bodies of records are written into the outline. A test fills every field of them and compares.

func (s *Session) code(c *codec) {
	word(c, &s.ID)
	for _, points := range []*[]Point{&s.Points, &s.Guests} {
		list(c, points, func(p *Point) {
			p.Stamp.code(c)
			c.time(&p.Time)
			p.Session = s.ID
			p.Snapshot.code(c)
		})
	}
	if len(s.Points) == 0 {
		c.failed = true // a session is what its points say
	}
}

// code leaves out Session, which is known, Typed and the queue of Scan, which are bulk.
func (s *Snapshot) code(c *codec) {
	number(c, &s.Generation)
	c.hash(&s.Original)
	number(c, &s.Size)
	number(c, &s.Segments)
	word(c, &s.Rules)
	c.bool(&s.Withheld)
	s.codeScan(c)
	word(c, &s.Source)
	word(c, &s.Parent)
	list(c, &s.Files, func(f *FileRef) {
		word(c, &f.Name)
		c.hash(&f.Hash)
		number(c, &f.Size)
		c.bool(&f.Withheld)
	})
	list(c, &s.Markers, func(m *Mark) {
		number(c, &m.N)
		number(c, &m.Weight)
		number(c, &m.Start)
		number(c, &m.End)
		c.bool(&m.Clamped)
	})
	list(c, &s.Echo, func(n *int) { number(c, n) })
}

func (s *Snapshot) codeScan(c *codec) {
	x := &s.Scan
	number(c, &x.Closed)
	number(c, &x.Values)
	number(c, &x.Opaque)
	number(c, &x.Messages)
	number(c, &x.Typed)
	number(c, &x.Read)
	number(c, &x.Marked)
	c.time(&x.First)
	c.time(&x.Last)
	word(c, &x.SessionID)
	word(c, &x.AgentID)
	word(c, &x.Cwd)
	word(c, &x.Branch)
	word(c, &x.Version)
	word(c, &x.Model)
	word(c, &x.Title)
	number(c, &x.TitleFrom)
	c.bool(&x.Scripted)
	word(c, &x.LastID)
	word(c, &x.LastUUID)
}

// codeDerivation leaves out the parameters of the recipe, which are bulk.
func codeDerivation(c *codec, d *lineage.Derivation) {
	c.hash(&d.Output)
	list(c, &d.Inputs, c.hash)
	word(c, &d.Recipe.Step)
	number(c, &d.Recipe.Version)
	list(c, &d.Witnesses, c.hash)
}

func (v *Version) code(c *codec) {
	word(c, &v.Session)
	word(c, &v.Label)
	word(c, &v.Source)
	word(c, &v.Since)
	c.hash(&v.Base)
	word(c, &v.For)
	c.hash(&v.Original)
	codeDerivation(c, &v.Derivation)
	c.hash((*objects.Hash)(&v.key))
	word(c, &v.Engine)
	v.Settings.code(c)
	number(c, &v.TokensIn)
	number(c, &v.TokensOut)
	word(c, &v.Counter)
	number(c, &v.MessagesIn)
	number(c, &v.MessagesOut)
	c.float(&v.Ratio)
	number(c, &v.Preserved)
	number(c, &v.Summarised)
	codeReceipt(c, &v.Receipt)
}

func codeReceipt(c *codec, r *engines.Receipt) {
	number(c, &r.Windows)
	number(c, &r.Requests)
	number(c, &r.Again)
	number(c, &r.Replaced)
	number(c, &r.Trimmed)
	codeUsage(c, &r.Usage)
}

func codeUsage(c *codec, u *engines.Usage) {
	number(c, &u.Input)
	number(c, &u.Output)
	number(c, &u.Micros)
}

func (k *Cost) code(c *codec) {
	word(c, &k.Day)
	word(c, &k.Project)
	word(c, &k.Session)
	word(c, &k.Engine)
	word(c, &k.Model)
	number(c, &k.Requests)
	codeUsage(c, &k.Usage)
}

func (o *Override) code(c *codec) {
	word(c, &o.Session)
	number(c, &o.Generation)
	number(c, &o.Message)
	number(c, &o.Start)
	number(c, &o.End)
	number(c, &o.Weight)
	c.bool(&o.Added)
	c.bool(&o.Removed)
}

func (s *VersionSettings) code(c *codec) {
	word(c, &s.Mode)
	number(c, &s.Ratio)
	number(c, &s.Tokens)
	word(c, &s.Aggressiveness)
	word(c, &s.Preset)
	word(c, &s.Tiers)
	number(c, &s.Skip)
	word(c, &s.Keepit)
	number(c, &s.Distance)
	number(c, &s.Decay.Minimal)
	number(c, &s.Decay.Moderate)
	number(c, &s.Decay.Aggressive)
	number(c, &s.Decay.MaxDistance)
	number(c, &s.Decay.Pinned)
}

func (k *Composition) code(c *codec) {
	word(c, &k.Name)
	number(c, &k.Budget)
	word(c, &k.Strategy)
	list(c, &k.Parts, func(p *CompositionPart) {
		word(c, &p.Project)
		word(c, &p.Session)
		word(c, &p.Label)
		c.hash(&p.Output)
		number(c, &p.Tokens)
	})
	codeDerivation(c, &k.Derivation)
	number(c, &k.Tokens)
	word(c, &k.Counter)
	number(c, &k.Messages)
	word(c, &k.Tier)
}
