package engines

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/strictjson"
)

// importedName starts the ID of an [Imported].
const importedName = "imported"

// errUnverified means that the text of another tool contains claims that its messages do not support.
var errUnverified = errors.New("it does not follow from the session")

// An Imported is an engine that returns the text of a version of another tool. The text must pass the same checks as
// the answer of a model. It is stored as the witness of the version, so that the version can be reproduced.
type Imported struct {
	tool   string
	answer []byte
	segs   []answerSegment
}

var _ compress.Summarizer = (*Imported)(nil)

// NewImported returns an engine for the text of a tool, in the form of a model's answer.
func NewImported(tool string, answer []byte) (*Imported, error) {
	segs, err := decode(string(answer))
	return &Imported{tool, answer, segs}, err
}

// NewImportedAnswer encodes segments as an answer.
func NewImportedAnswer(segs []compress.Segment) ([]byte, error) {
	var v struct {
		Segments []answerSegment `json:"segments"`
	}
	for _, s := range segs {
		one := answerSegment{Role: &s.Role, Text: &s.Text}
		for _, run := range s.Src {
			for n := run[0]; n <= run[1]; n++ {
				one.Messages = append(one.Messages, n)
			}
		}
		v.Segments = append(v.Segments, one)
	}
	return strictjson.Line(v)
}

// ID contains the tool and a hash of the answer, so that two versions of a session have different recipes.
func (i *Imported) ID() string {
	return fmt.Sprintf("%s/1 (%s, %s)", importedName, i.tool, objects.Sum(i.answer).String()[:16])
}

// ImportedTool returns the tool in the ID of an [Imported]; ok is false for another engine.
func ImportedTool(id string) (tool string, ok bool) {
	rest, ok := strings.CutPrefix(id, importedName+"/1 (")
	if i := strings.LastIndex(rest, ", "); ok && i >= 0 {
		return rest[:i], true
	}
	return "", false
}

// Exchanges returns the answer in the stored form.
func (i *Imported) Exchanges() []Exchange {
	q := Question{Format: questionFormat, Engine: i.ID(), Prompt: "imported from " + i.tool}
	return []Exchange{{q, Answer{Format: answerFormat, Model: i.tool, Text: string(i.answer)}}}
}

// Segments checks the answer against the items of the session. The error of an unsupported claim wraps errUnverified.
func (i *Imported) Segments(items []compress.Item) ([]compress.Segment, error) {
	segs, wrong := check(i.tool, i.segs, window{items: items})
	if len(wrong) > 0 {
		return nil, fmt.Errorf("%w: %s", errUnverified, wrong[0])
	}
	return segs, nil
}

// Summarize returns the whole answer.
func (i *Imported) Summarize(ctx context.Context, req compress.Request) (compress.Summary, error) {
	segs, err := i.Segments(req.Items)
	if err != nil {
		return compress.Summary{}, err
	}
	return compress.Summary{Segments: segs}, ctx.Err()
}
