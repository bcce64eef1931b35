package compress

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
)

// TestCheckSize checks that a version of a bracket is refused with a budget that is large enough, and that a short
// conversation is no error.
func TestCheckSize(t *testing.T) {
	t.Parallel()
	run := func(budget int, texts ...string) error {
		t.Helper()
		in := Input{}
		for i, s := range texts {
			in.Items = append(in.Items, version.Item{N: i + 1, Kind: version.User, Text: s})
		}
		p := planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: budget,
			Tiers: []planning.Part{{From: 1, To: len(texts), Budget: budget, Level: 2}}}
		r, err := Run(context.Background(), in, p, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		return CheckSize(in, p, r.Segments)
	}
	const request = "Please find out why the nightly import stalls after the second retry."
	long := []string{request, "}", "ok"}
	for i := range 20 {
		long = append(long, fmt.Sprintf("The pool of service %d is too small, and slow readers exhaust it.", i))
	}
	for _, budget := range []int{1, 3, 5} {
		var small *SmallError
		err := run(budget, long...)
		if !errors.As(err, &small) || !errors.Is(err, ErrTooSmall) || small.Least != enough {
			t.Errorf("%d tokens: %v", budget, err)
		} else if err := run(small.Least, long...); err != nil {
			t.Errorf("%d tokens, as proposed: %v", small.Least, err)
		}
	}
	if err := run(5, request, "}", "ok"); err != nil {
		t.Errorf("a third of a short conversation: %v", err)
	}
	for _, whole := range []string{"ok", "yes, please"} {
		if err := run(10, whole); err != nil {
			t.Errorf("all of a short conversation, %q: %v", whole, err)
		}
	}
	if err := run(24, "請修復這個錯誤", request); err != nil {
		t.Errorf("Chinese: %v", err)
	}
}
