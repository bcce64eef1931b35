package mcpcmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
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

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// TestInput checks which lines are passed on, and that each other line has an answer.
func TestInput(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("x", maxLine) + `"`
	for _, tt := range []struct {
		in, want string
		refused  []int
	}{
		{"", "", nil},
		{"\n \r\n", "", nil},
		{"{}\n[1]\r\n 2 \n", "{}\n[1]\n2\n", nil},
		{"{}", "{}\n", nil},
		{"{\n{}\n", "{}\n", []int{codeNotJSON}},
		{"{} {}\n{}\n{", "{}\n", []int{codeNotJSON, codeNotJSON}},
		{long + "\n{}\n", "{}\n", []int{codeInvalid}},
		{`"` + strings.Repeat("x", 200_000) + "\"\n", `"` + strings.Repeat("x", 200_000) + "\"\n", nil},
	} {
		var answers bytes.Buffer
		out := &output{WriteCloser: nopWriteCloser{&answers}}
		got, err := io.ReadAll(newInput(io.NopCloser(strings.NewReader(tt.in)), out))
		if err != nil || string(got) != tt.want {
			t.Errorf("%.40q: %.40q, %v, want %.40q", tt.in, got, err, tt.want)
		}
		want := ""
		for _, code := range tt.refused {
			want += fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":`, code)
		}
		var heads strings.Builder
		for line := range strings.Lines(answers.String()) {
			head, _, _ := strings.Cut(line, `"message":`)
			heads.WriteString(head + `"message":`)
		}
		if heads.String() != want {
			t.Errorf("%.40q: the answers are %s", tt.in, answers.String())
		}
	}
}
