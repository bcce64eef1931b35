package layers

import "github.com/memvcs/mem/layers/handover"

// digestVersion is the version of the file of digests in the cache; another one is made again.
const digestVersion = 2<<8 | handover.Version

// code writes or reads the digests.
func (f *digestFile) code(c *codec) {
	number(c, &f.version)
	if f.version != digestVersion {
		c.failed = true
		return
	}
	list(c, &f.list, func(d *storedDigest) {
		c.hash(&d.original)
		codeDigest(c, &d.Digest)
	})
}

func codeDigest(c *codec, d *handover.Digest) {
	word(c, &d.Session)
	c.time(&d.First)
	c.time(&d.Last)
	word(c, &d.Dir)
	word(c, &d.Branch)
	number(c, &d.Compact)
	said := func(s *handover.Said) {
		number(c, &s.N)
		word(c, &s.Text)
	}
	list(c, &d.Turns, func(t *handover.Turn) {
		said(&t.Asked)
		said(&t.Answered)
	})
	list(c, &d.Files, func(f *handover.File) {
		word(c, &f.Path)
		for _, n := range []*int{&f.Edits, &f.Reads, &f.First, &f.N, &f.Edited, &f.Call} {
			number(c, n)
		}
		list(c, &f.Symbols, func(s *string) { word(c, s) })
	})
	list(c, &d.Commands, func(x *handover.Command) {
		word(c, &x.Name)
		word(c, &x.Args)
		number(c, &x.N)
		number(c, &x.Runs)
		number(c, &x.End)
		number(c, &x.Exit)
	})
	list(c, &d.Failed, func(x *handover.Failure) {
		word(c, &x.Test)
		word(c, &x.Command)
		number(c, &x.N)
	})
	list(c, &d.Todos, func(x *handover.Todo) {
		word(c, &x.Text)
		word(c, &x.State)
		number(c, &x.N)
	})
	list(c, &d.Marked, said)
}
