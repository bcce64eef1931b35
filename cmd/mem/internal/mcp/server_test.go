package mcp

import (
	"context"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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
