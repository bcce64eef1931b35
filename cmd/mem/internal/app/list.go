package app

// A List is the answer of a command that lists things: a table, or with --json an object that has them under a key.
type List struct {
	*Table
	what, key  string
	elements   []any
	None, Hint string // what an empty list notes, and the command that it suggests; "" for nothing
	Page       string // of the setting pager.PAGE; "" for no pager
	Format     string // the template of --format that prints each thing instead; "" for none
	After      Object // members of the answer after the list
}

// List returns an empty list for the answer of the command what.
func (e *Env) List(what, key string, columns ...any) *List {
	return &List{Table: e.Table(columns...), what: what, key: key, elements: []any{}}
}

// Add adds a thing, with one value for each column, as in [Table.Row].
func (l *List) Add(thing any, values ...any) {
	l.elements = append(l.elements, thing)
	l.Row(values...)
}

// Len returns the number of things.
func (l *List) Len() int { return len(l.elements) }

// Print prints the list; with --json after the members of more, as in an [Object].
func (l *List) Print(more ...any) error {
	switch {
	case l.e.Opt.JSON:
		return l.e.PrintJSON(l.what, nil, append(append(more, l.key, l.elements), l.After...)...)
	case l.Format != "":
		f, err := l.e.parseFormat(l.Format)
		for i := 0; err == nil && i < len(l.elements); i++ {
			err = f.print(l.elements[i])
		}
		return err
	case len(l.elements) == 0:
		if l.None != "" {
			l.e.Note("%s", l.None)
		}
		if l.Hint != "" {
			l.e.Hint("%s", l.Hint)
		}
		return nil
	case l.Page != "":
		l.e.Page(l.Page)
	}
	return l.Flush()
}

// Each returns what f returns for each element of a list, never nil.
func Each[T, U any](list []T, f func(T) U) []U {
	out := make([]U, 0, len(list))
	for _, x := range list {
		out = append(out, f(x))
	}
	return out
}
