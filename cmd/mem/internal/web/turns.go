package web

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
)

// Additions to the refined transcript on a page: tokens of messages, thinking, and subagents.

// addTokens sets the tokens of each message in its first turn.
func (s *Server) addTokens(ctx context.Context, rev state.Rev, turns []turn) error {
	if len(turns) == 0 {
		return nil
	}
	now := rev.Session.Now()
	counted, err := markers.Counts(ctx, s.Memory.DB, rev.Project.ID, rev.Session, now)
	if err != nil {
		return err
	}
	counter, at := tokens.For(now.Scan.Model), 0
	for i := range turns {
		for at < len(counted.Messages) && counted.Messages[at].Last < turns[i].N {
			at++
		}
		if at == len(counted.Messages) {
			break
		}
		if m := counted.Messages[at]; m.First <= turns[i].N {
			turns[i].Tokens = counter.Scale(m.Raw)
			at++
		}
	}
	return nil
}

// toggle returns the URL of the page with thinking shown or hidden.
func (b *transcriptBody) toggle(link func(int) string) string {
	q, err := url.ParseQuery(strings.TrimPrefix(link(max(1, b.From)), "?"))
	if err != nil {
		return ""
	}
	q.Del("thinking")
	if !b.Thinking {
		q.Set("thinking", "1")
	}
	return "?" + q.Encode()
}

// resultLookahead is the number of messages after a page that are searched for the results of its calls.
const resultLookahead = 50

// addRaw adds thinking and links to subagents, which the refined transcript does not contain, from the original.
func (s *Server) addRaw(ctx context.Context, rev state.Rev, b *transcriptBody, next int) error {
	agents, err := s.agentsOf(ctx, rev)
	if err != nil {
		return err
	}
	calls := len(agents) > 0 && slices.ContainsFunc(b.Turns, func(t turn) bool { return startsAgent(t.Entry) })
	if len(b.Turns) == 0 || !calls && !b.Thinking {
		return nil
	}
	to := rev.Session.Now().Scan.Values
	if next > 0 {
		to = min(to, next-1+resultLookahead)
	}
	one := rev
	one.Kind, one.From, one.To = state.IsMessages, b.From, to
	raw := &rawReader{n: b.From - 1, ids: map[string]int{}, agents: map[int][]string{}, thinking: map[int][]string{}}
	var lines bytes.Buffer
	if err := checkout.Write(ctx, s.Memory.DB, one, checkout.JSONL, &lines); err != nil {
		return err
	}
	for line := range bytes.Lines(lines.Bytes()) {
		raw.line(line)
	}
	if b.Thinking {
		b.think(raw.thinking, next)
	}
	for i := range b.Turns {
		t := &b.Turns[i]
		if ids := raw.agents[t.N]; startsAgent(t.Entry) && len(ids) > 0 {
			t.Agent = agents[ids[0]]
			raw.agents[t.N] = ids[1:] // a message may contain several calls
		}
	}
	return nil
}

// startsAgent reports whether an entry is a call that starts a subagent.
func startsAgent(e refine.Entry) bool {
	return e.Role == "tool" && (e.Name == "Task" || e.Name == "Agent")
}

// Failed reports whether a call of a tool failed. The result of an agent or of a question to the user is an answer.
func (t turn) Failed() bool {
	return t.Result != "" && t.Result != "ok" && !startsAgent(t.Entry) && t.Name != "AskUserQuestion"
}

// agentsOf returns the subagents of a session that are in memory: their names in URLs by agent id.
func (s *Server) agentsOf(ctx context.Context, rev state.Rev) (map[string]string, error) {
	st, err := trust.Outline(ctx, s.Memory.DB, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, one := range st.Sessions {
		if one.Parent() == rev.Session.ID && !one.Deleted && one.Revoked == "" {
			_, id, ok := strings.Cut(one.ID, "agent-")
			if ok {
				out[id] = one.ID
			}
		}
	}
	return out, nil
}

// think inserts thinking before the text of its message.
func (b *transcriptBody) think(thoughts map[int][]string, next int) {
	last := b.To
	if next > 0 {
		last = next - 1
	}
	var out []turn
	at := b.From
	put := func(until int) {
		for ; at <= until; at++ {
			for _, text := range thoughts[at] {
				out = append(out, turn{Entry: refine.Entry{N: at, Role: "thinking", Said: text}})
			}
		}
	}
	for _, t := range b.Turns {
		put(t.N)
		out = append(out, t)
	}
	put(last)
	for i := range out { // the thought is the first text of its message
		out[i].First = i == 0 || out[i-1].N != out[i].N
	}
	b.Turns = out
}

// A rawReader collects thinking and the ids of subagents from the lines of an original.
type rawReader struct {
	n        int              // of the last line
	ids      map[string]int   // messages of calls, by the id of the call
	agents   map[int][]string // ids of the agents that the calls of a message started
	thinking map[int][]string // texts by message
}

// line reads a message. It ignores messages of unknown shape.
func (r *rawReader) line(b []byte) {
	r.n++
	if !bytes.Contains(b, []byte(`"thinking"`)) && !bytes.Contains(b, []byte(`"tool_use"`)) &&
		!bytes.Contains(b, []byte(`"agentId"`)) {
		return
	}
	agent := gjson.GetBytes(b, "toolUseResult.agentId").Str
	for _, x := range gjson.GetBytes(b, "message.content").Array() {
		switch kind, text := x.Get("type").Str, x.Get("thinking").Str; {
		case kind == "thinking" && strings.TrimSpace(text) != "":
			r.thinking[r.n] = append(r.thinking[r.n], text)
		case kind == "tool_use":
			r.ids[x.Get("id").Str] = r.n
		case kind == "tool_result" && agent != "":
			if at, ok := r.ids[x.Get("tool_use_id").Str]; ok {
				r.agents[at] = append(r.agents[at], agent)
			}
		}
	}
}
