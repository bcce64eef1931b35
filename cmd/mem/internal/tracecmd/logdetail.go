package tracecmd

// Asks reports whether the options ask for more than entries.
func (o LogOptions) Asks() bool { return o.Graph || o.Stat || o.Patch || o.Search != "" }
