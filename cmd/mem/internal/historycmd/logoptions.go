package historycmd

import "time"

// LogOptions are the options of mem log.
type LogOptions struct {
	Format  string
	Oneline bool
	Number  int
	Since   time.Time
	Graph   bool
	Stat    bool
	Patch   bool
	Search  string
	Handed  bool
	Undo    bool
	All     bool
	Rev     string // list only operations on this revision, "" for all
	Limited bool   // Number was given
}

// Asks reports whether the options select more than entries.
func (o LogOptions) Asks() bool { return o.Graph || o.Stat || o.Patch || o.Search != "" }
