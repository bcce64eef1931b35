// Package engines compresses sessions with a model.
//
// A [Model] answers one question: [Claude] runs the user's own client, [Anthropic] and [OpenAI] talk to servers,
// [Command] runs any program, [Replay] returns recorded answers. A [Summarizer] makes an engine for [compress.Run]
// of it: it cuts long sessions into windows that fit the model, assigns each a part of the budget, and verifies
// every answer. A segment must name its messages, and each path, number or identifier in it must occur in those
// messages. Otherwise the window is requested once more and then left to [compress.Extract]. An answer that is too
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
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/memvcs/mem/objects"
)

var (
	// ErrCap says that a day's cap in tokens or money is reached. A [Meter] returns it.
	ErrCap = errors.New("the day's cap is reached")
	// ErrAuth says that a model does not accept the key, or that there is none.
	ErrAuth = errors.New("authentication is needed")
	// ErrTimeout says that a model did not answer in time.
	ErrTimeout = errors.New("no answer in time")
	// ErrSetup says that an engine cannot work as it is set up: a setting is missing, or a program too old.
	ErrSetup = errors.New("engine setup")
	// ErrRecorded says that a question was never recorded.
	ErrRecorded = errors.New("no recorded answer")
)

// A Model answers questions. Usage of the answer counts also if there is an error.
type Model interface {
	Ask(ctx context.Context, q Question) (Answer, error)
	// ID names the engine and its model, as in "claude opus".
	ID() string
}

// A Question is all that a model is told. Stored, it is the first half of a witness.
type Question struct {
	Format    string          `json:"format"` // questionFormat
	Engine    string          `json:"engine"` // ID of the model
	System    string          `json:"system"`
	Prompt    string          `json:"prompt"`
	Schema    json.RawMessage `json:"schema"` // of the answer
	MaxTokens int             `json:"max_tokens"`

	// MaxMicros is what the answer may cost, in millionths of a dollar; below zero it is not limited.
	MaxMicros int64 `json:"-"`
}

// An Answer is what a model said. Stored, it is the second half of a witness.
type Answer struct {
	Format string `json:"format"` // answerFormat
	Model  string `json:"model"`  // as the model names itself
	Text   string `json:"text"`
	Stop   string `json:"stop,omitempty"` // why it ended, if it says so
	Usage  Usage  `json:"usage"`
}

const (
	questionFormat = "mem.question/1"
	answerFormat   = "mem.answer/1"
)

// Usage is what answers cost.
type Usage struct {
	Input  int   `json:"input_tokens"`
	Output int   `json:"output_tokens"`
	Micros int64 `json:"usd_micros"` // millionths of a dollar
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.Micros + v.Micros}
}

// The most that one answer can have cost. A server or program that tells more, or less than nothing, is wrong,
// and sums of such numbers would be no cap.
const (
	mostTokens = 1_000_000_000
	mostMicros = 1_000_000_000_000
)

// sane returns u within what one answer can have cost.
func (u Usage) sane() Usage {
	return Usage{min(max(u.Input, 0), mostTokens), min(max(u.Output, 0), mostTokens), min(max(u.Micros, 0), mostMicros)}
}

// Tokens is what counts against a cap in tokens.
func (u Usage) Tokens() int { return u.Input + u.Output }

// An Exchange is a question with its answer.
type Exchange struct {
	Question Question
	Answer   Answer
}

// key is what an answer is found by: the question, whoever it was put to.
func (q Question) key() objects.Hash {
	return objects.Sum(fmt.Appendf(nil, "%d %d %d\n%s%s%s", len(q.System), len(q.Prompt), q.MaxTokens, q.System,
		q.Prompt, q.Schema))
}

// A Meter watches over what is spent.
type Meter interface {
	// Allow is asked before a request that will cost about u. It returns how many millionths of a dollar may be
	// spent on it, less than zero for any number, or an error that wraps [ErrCap]. What it allows is held until Spend.
	Allow(ctx context.Context, u Usage) (left int64, err error)
	// Spend is told what became of every request that was allowed, also of one that cost nothing. The model is as it
	// names itself.
	Spend(ctx context.Context, model string, u Usage) error
}

// DefaultTimeout is how long a model has for one answer, with all that is tried again.
const DefaultTimeout = 10 * time.Minute

// inTime runs ask under a deadline and says so if that is why it ended.
func inTime(ctx context.Context, limit time.Duration, ask func(context.Context) (Answer, error)) (Answer, error) {
	if limit <= 0 {
		limit = DefaultTimeout
	}
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a, err := ask(inner)
	if err != nil && inner.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %s were not enough", ErrTimeout, limit)
	}
	return a, err
}
