package mcpcmd

import (
	"context"
	"fmt"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memvcs/mem/layers/tokens"
)

// TestAnswerText checks that code in an answer is not escaped, which would cost the model tokens.
func TestAnswerText(t *testing.T) {
	t.Parallel()
	handle := answer(make(turn, 1), func(context.Context, ShowIn) (ShowOut, error) {
		return ShowOut{Ref: "6ecd8c99#12", Kind: "messages", Text: "if a < b && c > d {"}, nil
	})
	r, _, err := handle(t.Context(), nil, ShowIn{})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"ref":"6ecd8c99#12","kind":"messages","text":"if a < b && c > d {"}`
	if text, ok := r.Content[0].(*sdk.TextContent); len(r.Content) != 1 || !ok || text.Text != want {
		t.Errorf("answer = %+v, want %s", r.Content[0], want)
	}
}

// TestFit checks that as many hits as possible are in an answer, also of very many.
func TestFit(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 10, 20_000} {
		var in SearchOut
		for i := range n {
			in.Hits = append(in.Hits, Hit{Ref: fmt.Sprintf("6ecd8c99#%d", i+1), Who: "user", Line: "the retry policy of the shop"})
		}
		out, err := fit(in)
		text, _ := encode(out)
		if size := tokens.Raw(text); err != nil || size > searchTokens || len(out.Hits)+out.More != n {
			t.Errorf("%d hits: %d and %d more in %d tokens, %v", n, len(out.Hits), out.More, size, err)
		}
		if len(out.Hits) < n {
			text, _ = encode(SearchOut{Hits: in.Hits[:len(out.Hits)+1], More: out.More - 1})
			if size := tokens.Raw(text); size <= searchTokens {
				t.Errorf("%d hits: one more would fit", n)
			}
		}
	}
}
