package engines

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/objects"
)

// importedName begins the ID of an [Imported].
const importedName = "imported"

// ErrUnverified says that what another tool wrote says something that its messages do not.
var ErrUnverified = errors.New("it does not follow from the session")

// An Imported is the text of a version that another tool made. It is held to what is asked of the answers of models:
// every segment names its messages, and those contain every path, number and identifier in it. The answer is the
// witness of the version, so that it can be made once more.
type Imported struct {
	tool   string
	answer []byte
	segs   []said
}

var _ compress.Summarizer = (*Imported)(nil)

// NewImported returns the engine that gives the answer of a tool, in the form in which models answer.
func NewImported(tool string, answer []byte) (*Imported, error) {
	segs, err := decode(string(answer))
	return &Imported{tool, answer, segs}, err
}

// NewImportedAnswer returns the answer that consists of segments.
func NewImportedAnswer(segs []compress.Segment) ([]byte, error) {
	var v struct {
		Segments []said `json:"segments"`
	}
	for _, s := range segs {
		one := said{Role: &s.Role, Text: &s.Text}
		for _, run := range s.Src {
			for n := run[0]; n <= run[1]; n++ {
				one.Messages = append(one.Messages, n)
			}
		}
		v.Segments = append(v.Segments, one)
	}
	return compact(v)
}

// ID names the tool and the answer, so that two versions of a session are two recipes.
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

// Exchanges returns the answer in the form in which those of models are stored.
func (i *Imported) Exchanges() []Exchange {
	q := Question{Format: questionFormat, Engine: i.ID(), Prompt: "imported from " + i.tool}
	return []Exchange{{q, Answer{Format: answerFormat, Model: i.tool, Text: string(i.answer)}}}
}

// Segments checks the answer against the items of the session. The error wraps [ErrUnverified].
func (i *Imported) Segments(items []compress.Item) ([]compress.Segment, error) {
	segs, wrong := check(i.segs, window{items: items})
	if len(wrong) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrUnverified, wrong[0])
	}
	return segs, nil
}

// Summarize returns all of the answer.
func (i *Imported) Summarize(ctx context.Context, req compress.Request) (compress.Summary, error) {
	segs, err := i.Segments(req.Items)
	if err != nil {
		return compress.Summary{}, err
	}
	return compress.Summary{Segments: segs}, ctx.Err()
}
