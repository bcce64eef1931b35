package compose

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/memvcs/mem/objects"
)

// ManifestOptions are values of composition.json that are not part of the composition.
type ManifestOptions struct {
	CreatedAt  time.Time
	OutputFile string                     // path of the composed file, as the user gave it
	UsedIn     []string                   // sessions that were started from it
	Recompress map[string]json.RawMessage // by version hash: why and how parts were compressed for it
}

// manifest is composition.json.
type manifest struct {
	ID            string         `json:"compositionId"`
	Name          string         `json:"name"`
	CreatedAt     time.Time      `json:"createdAt"`
	Components    []manifestPart `json:"components"`
	OutputFile    string         `json:"outputFile"`
	TotalTokens   int            `json:"totalTokens"`
	TotalMessages int            `json:"totalMessages"`
	UsedIn        []string       `json:"usedInSessions"`
	Budget        int            `json:"tokenBudget,omitempty"`
	Tokenizer     string         `json:"tokenizer"`
	Hash          objects.Hash   `json:"hash"`
	Markdown      objects.Hash   `json:"composedMdHash"`
	Transcript    objects.Hash   `json:"composedJsonlHash"`
}

type manifestPart struct {
	Session    string          `json:"sessionId"`
	Version    string          `json:"versionId"`
	Order      int             `json:"order"`
	Tokens     int             `json:"tokenContribution"`
	Recompress json.RawMessage `json:"recompress,omitempty"`
	Hash       objects.Hash    `json:"hash"`
	Project    string          `json:"project,omitempty"`
	Title      string          `json:"title,omitempty"`
	Period     string          `json:"period,omitempty"`
	Messages   int             `json:"messages"`
}

// Manifest returns composition.json. tokenContribution is a part's own token count; totalTokens is the sum with the
// frame; totalMessages counts the messages of composed.jsonl.
func (c Composition) Manifest(m ManifestOptions) ([]byte, error) {
	out := manifest{
		ID: c.ID(), Name: c.Name, CreatedAt: m.CreatedAt.UTC(), Components: []manifestPart{}, OutputFile: m.OutputFile,
		TotalTokens: c.Tokens, TotalMessages: c.Messages(), UsedIn: append([]string{}, m.UsedIn...), Budget: c.Budget,
		Tokenizer: c.Counter, Hash: objects.Sum(c.Encode()), Markdown: objects.Sum(c.Markdown()),
		Transcript: objects.Sum(c.Transcript()),
	}
	for i, p := range c.Parts {
		out.Components = append(out.Components, manifestPart{Session: p.Session, Version: p.Version, Order: i, Tokens: p.Tokens, Hash: p.Hash,
			Project: p.Project, Title: p.Title, Period: p.Period(), Messages: p.Messages,
			Recompress: m.Recompress[p.Hash.String()]})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(out)
	return b.Bytes(), err
}
