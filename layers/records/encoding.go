package records

import (
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
)

// Code codes the snapshot without Session, which is known, and without Typed and the queue of Scan, which are large.
func (s *Snapshot) Code(c *Codec) {
	Number(c, &s.Generation)
	c.Hash(&s.Original)
	Number(c, &s.Size)
	Number(c, &s.Segments)
	Word(c, &s.Rules)
	c.Bool(&s.Withheld)
	s.codeScan(c)
	Word(c, &s.Source)
	Word(c, &s.Parent)
	List(c, &s.Files, func(f *FileRef) {
		Word(c, &f.Name)
		c.Hash(&f.Hash)
		Number(c, &f.Size)
		c.Bool(&f.Withheld)
	})
	mark := func(m *Mark) {
		Number(c, &m.N)
		Number(c, &m.Weight)
		Number(c, &m.Start)
		Number(c, &m.End)
		c.Bool(&m.Clamped)
	}
	List(c, &s.Markers, mark)
	List(c, &s.Echo, func(n *int) { Number(c, n) })
	rewound := [][2]int(s.Rewound)
	List(c, &rewound, func(x *[2]int) { Number(c, &x[0]); Number(c, &x[1]) })
	s.Rewound = rewound
	List(c, &s.Waiting, mark)
}

func (s *Snapshot) codeScan(c *Codec) {
	x := &s.Scan
	Number(c, &x.Closed)
	Number(c, &x.Values)
	Number(c, &x.Opaque)
	Number(c, &x.Messages)
	Number(c, &x.Typed)
	Number(c, &x.Read)
	Number(c, &x.Marked)
	c.Time(&x.First)
	c.Time(&x.Last)
	Word(c, &x.SessionID)
	Word(c, &x.AgentID)
	Word(c, &x.Cwd)
	Word(c, &x.Branch)
	Word(c, &x.Version)
	Word(c, &x.Model)
	Word(c, &x.Title)
	Number(c, &x.TitleFrom)
	c.Bool(&x.Scripted)
	Number(c, &x.TitleN)
	Word(c, &x.Second)
	Number(c, &x.SecondN)
	Word(c, &x.LastID)
	Word(c, &x.LastUUID)
	Word(c, &x.Tip)
	c.Bool(&x.Forked)
}

// codeDerivation codes a derivation without the parameters of its recipe, which are large.
func codeDerivation(c *Codec, d *lineage.Derivation) {
	c.Hash(&d.Output)
	List(c, &d.Inputs, c.Hash)
	Word(c, &d.Recipe.Step)
	Number(c, &d.Recipe.Version)
	List(c, &d.Witnesses, c.Hash)
}

// Code codes the version.
func (v *Version) Code(c *Codec) {
	Word(c, &v.Session)
	Word(c, &v.Label)
	Word(c, &v.Source)
	Word(c, &v.Since)
	Number(c, &v.After)
	c.Hash(&v.Base)
	Word(c, &v.For)
	c.Hash(&v.Original)
	codeDerivation(c, &v.Derivation)
	c.Hash((*objects.Hash)(&v.Key))
	Word(c, &v.Engine)
	v.Settings.code(c)
	Number(c, &v.TokensIn)
	Number(c, &v.TokensL1)
	Number(c, &v.TokensOut)
	Word(c, &v.Counter)
	Number(c, &v.MessagesIn)
	Number(c, &v.MessagesOut)
	c.float(&v.Ratio)
	Number(c, &v.Preserved)
	Number(c, &v.Summarised)
	codeReceipt(c, &v.Receipt)
}

func codeReceipt(c *Codec, r *engines.Receipt) {
	Number(c, &r.Windows)
	Number(c, &r.Requests)
	Number(c, &r.Retried)
	Number(c, &r.Replaced)
	Number(c, &r.Trimmed)
	Number(c, &r.Lines)
	Number(c, &r.Baseless)
	codeUsage(c, &r.Usage)
}

func codeUsage(c *Codec, u *engines.Usage) {
	Number(c, &u.Input)
	Number(c, &u.Output)
	Number(c, &u.Micros)
}

// Code codes the cost.
func (k *Cost) Code(c *Codec) {
	Word(c, &k.Day)
	Word(c, &k.Project)
	Word(c, &k.Session)
	Word(c, &k.Engine)
	Word(c, &k.Model)
	Number(c, &k.Requests)
	codeUsage(c, &k.Usage)
}

// Code codes the override.
func (o *Override) Code(c *Codec) {
	Word(c, &o.Session)
	Number(c, &o.Generation)
	Number(c, &o.Message)
	Number(c, &o.Start)
	Number(c, &o.End)
	Number(c, &o.Weight)
	c.Bool(&o.Added)
	c.Bool(&o.Removed)
}

func (s *VersionSettings) code(c *Codec) {
	Word(c, &s.Mode)
	Number(c, &s.Ratio)
	Number(c, &s.Tokens)
	Word(c, &s.Aggressiveness)
	Word(c, &s.Preset)
	Word(c, &s.Tiers)
	Number(c, &s.Skip)
	Word(c, &s.Keepit)
	Number(c, &s.Distance)
	Word(c, &s.Requested)
	Number(c, &s.Decay.Minimal)
	Number(c, &s.Decay.Moderate)
	Number(c, &s.Decay.Aggressive)
	Number(c, &s.Decay.MaxDistance)
	Number(c, &s.Decay.Pinned)
}

// Code codes the composition.
func (k *Composition) Code(c *Codec) {
	Word(c, &k.Name)
	Number(c, &k.Budget)
	Word(c, &k.Strategy)
	List(c, &k.Parts, func(p *CompositionPart) {
		Word(c, &p.Project)
		Word(c, &p.Session)
		Word(c, &p.Label)
		c.Hash(&p.Output)
		Number(c, &p.Tokens)
		Word(c, &p.Reason)
	})
	codeDerivation(c, &k.Derivation)
	Number(c, &k.Tokens)
	Word(c, &k.Counter)
	Number(c, &k.Messages)
	Word(c, &k.Tier)
}
