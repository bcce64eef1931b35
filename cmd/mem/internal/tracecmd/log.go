package tracecmd

type LogOptions struct {
	Format  string
	Oneline bool
	Number  int
	Since   string
	Graph   bool
	Stat    bool
	Patch   bool
	Search  string
	Handed  bool
	Undo    bool
	All     bool
	Rev     string // what it is about, "" for all
	Limited bool   // Number was given
}
