// Package engines compresses sessions with a model.
//
// A [Model] answers one question: [Claude] runs the user's own client, [Anthropic] and [OpenAI] talk to servers,
// [Command] runs any program, [Replay] returns recorded answers. A [Summarizer] makes an engine for [compress.Run]
// of it: it cuts long sessions into windows that fit the model, assigns each a part of the budget, and verifies
// every answer. A segment must name its messages, and each path, number or identifier in it must occur in those
// messages. Otherwise the window is requested once more and then left to [compress.Extract]. The model is then asked whether
// the messages support what it wrote, with [answers.Instructions]: a segment that they contradict is left out. An answer that is too
// long is cut by coverage. The [Receipt] counts all of this.
//
// The text of a transcript is data. It is inside a fence whose key is computed from the text and does not occur in
// it, so nothing in it can end the fence or pose as another message. Pinned texts are not part of it.
//
// Requests and answers are stored ([Summarizer.Exchanges]), so that a later run can be answered by [Replay] and
// gives the same bytes. A [Meter] approves the cost of each request in advance, and records the actual cost
// afterwards, also of useless answers.
//
// The clients are written on net/http. The vendors' SDK was measured: for two endpoints it made every start of the
// program a fifth slower and the binary half as large again.
//
// Nothing here reads the environment or the clock: keys, programs and proxies are passed in.
package engines

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/memvcs/mem/objects"
)

var (
	// ErrCap means that the daily cap in tokens or money is reached. A [Meter] returns it.
	ErrCap = errors.New("the day's cap is reached")
	// ErrAuth means that the key of a model is missing or was rejected.
	ErrAuth = errors.New("authentication is needed")
	// ErrTimeout means that a model did not answer in time.
	ErrTimeout = errors.New("no answer in time")
	// ErrSetup means that an engine is misconfigured: a setting is missing, or a program too old.
	ErrSetup = errors.New("engine setup")
	// ErrRecorded means that a question was never recorded.
	ErrRecorded = errors.New("no recorded answer")
)

// A Model answers questions. The usage of an answer is valid also with an error.
type Model interface {
	Ask(ctx context.Context, q Question) (Answer, error)
	// ID names the engine and its model, as in "claude opus".
	ID() string
}

// A Question contains all input of a model. It is stored as the first half of a witness.
type Question struct {
	Format    string          `json:"format"` // questionFormat
	Engine    string          `json:"engine"` // ID of the model
	System    string          `json:"system"`
	Prompt    string          `json:"prompt"`
	Schema    json.RawMessage `json:"schema"` // of the answer
	MaxTokens int             `json:"max_tokens"`

	// MaxMicros limits the cost of the answer, in millionths of a dollar; less than zero is no limit.
	MaxMicros int64 `json:"-"`
}

// An Answer is the output of a model. It is stored as the second half of a witness.
type Answer struct {
	Format string `json:"format"` // answerFormat
	Model  string `json:"model"`  // the name reported by the model
	Text   string `json:"text"`
	Stop   string `json:"stop,omitempty"` // reason for the end, if reported
	Usage  Usage  `json:"usage"`
}

const (
	questionFormat = "mem.question/1"
	answerFormat   = "mem.answer/1"
)

// Usage is the cost of answers.
type Usage struct {
	Input  int   `json:"input_tokens"`
	Output int   `json:"output_tokens"`
	Micros int64 `json:"usd_micros"` // millionths of a dollar
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.Micros + v.Micros}
}

// Limits of the usage of one answer. A server or program that reports more is wrong, and sums of such numbers would
// overflow.
const (
	maxTokens = 1_000_000_000
	maxMicros = 1_000_000_000_000
)

// clamp limits u to what one answer can cost.
func (u Usage) clamp() Usage {
	return Usage{min(max(u.Input, 0), maxTokens), min(max(u.Output, 0), maxTokens), min(max(u.Micros, 0), maxMicros)}
}

// Tokens is the number that counts against a cap in tokens.
func (u Usage) Tokens() int { return u.Input + u.Output }

// An Exchange is a question with its answer.
type Exchange struct {
	Question Question
	Answer   Answer
}

// key identifies the question in a [Replay], independent of the model.
func (q Question) key() objects.Hash {
	return objects.Sum(fmt.Appendf(nil, "%d %d %d\n%s%s%s", len(q.System), len(q.Prompt), q.MaxTokens, q.System,
		q.Prompt, q.Schema))
}

// A Meter controls costs.
type Meter interface {
	// Allow is called before a request with the maximum cost u. It returns the limit for this request in millionths
	// of a dollar, less than zero for no limit, or an error that wraps [ErrCap]. The amount is reserved until Spend.
	Allow(ctx context.Context, u Usage) (left int64, err error)
	// Spend is called after every allowed request, also a free one, with the name reported by the model.
	Spend(ctx context.Context, model string, u Usage) error
}

// defaultTimeout is the time for one answer, retries included.
const defaultTimeout = 10 * time.Minute

// withTimeout runs ask with a deadline; an error because of it wraps [ErrTimeout].
func withTimeout(ctx context.Context, limit time.Duration, ask func(context.Context) (Answer, error)) (Answer, error) {
	limit = cmp.Or(limit, defaultTimeout)
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a, err := ask(inner)
	if err != nil && inner.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: limit %s", ErrTimeout, limit)
	}
	return a, err
}
