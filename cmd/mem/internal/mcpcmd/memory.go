package mcpcmd

import "context"

// Memory implements the tools. Compose saves nothing unless save is set.
type Memory interface {
	Search(ctx context.Context, in SearchIn) (SearchOut, error)
	Timeline(ctx context.Context, in TimelineIn) (TimelineOut, error)
	Show(ctx context.Context, in ShowIn) (ShowOut, error)
	Facts(ctx context.Context, in FactsIn) (FactsOut, error)
	AddKeepit(ctx context.Context, in KeepitIn) (KeepitOut, error)
	Suggest(ctx context.Context, in SuggestIn) (SuggestOut, error)
	Compose(ctx context.Context, in ComposeIn, save bool) (ComposeOut, error)
}

// Options configure [Serve].
type Options struct {
	Version string // of the program
	Write   bool   // offer tools that change memory
}
