package mcpcmd

// SearchIn is the input of the tool search.
type SearchIn struct {
	Query    string   `json:"query,omitempty" jsonschema:"words to look for; a phrase in double quotes must stand in the text as it is"`
	Regexp   []string `json:"regexp,omitempty" jsonschema:"regular expressions that the text must match"`
	Files    []string `json:"files,omitempty" jsonschema:"files that a tool call is about: names, ends of paths or patterns"`
	Since    string   `json:"since,omitempty" jsonschema:"written at this time or later: 2026-01-15, 3d, 2 weeks ago"`
	Until    string   `json:"until,omitempty" jsonschema:"written before this time"`
	Topic    string   `json:"topic,omitempty" jsonschema:"in sessions with this topic"`
	Keepit   string   `json:"keepit,omitempty" jsonschema:"with a marker of such a weight: >=0.5, <0.8 or 1.00"`
	Roles    []string `json:"roles,omitempty" jsonschema:"written by: user, script, assistant, plan, agent, tool, summary or note"`
	In       string   `json:"in,omitempty" jsonschema:"layers, separated by commas: L1, L2, L3, L4, versions, compositions, notes"`
	Branch   string   `json:"branch,omitempty" jsonschema:"in sessions on this git branch"`
	Projects string   `json:"projects,omitempty" jsonschema:"all, or related: this project and sessions related to it; else only this"`
	Limit    int      `json:"limit,omitempty" jsonschema:"the most hits, 10 without it, at most 100"`
	Open     bool     `json:"open,omitempty" jsonschema:"only what is open: rejected plans, interrupted requests, todos, questions, issues; query may be empty"`
}

// A Hit is a match of a query, or a line of a timeline.
type Hit struct {
	Ref     string `json:"ref" jsonschema:"name of the hit, for the tool show"`
	Who     string `json:"who,omitempty" jsonschema:"user, script, assistant, plan, agent, tool, summary or note, or the kind of a derived thing"`
	Date    string `json:"date,omitempty"`
	Request string `json:"request,omitempty" jsonschema:"of the exchange, if the hit is another message"`
	Line    string `json:"line" jsonschema:"the passage that answers"`
	Changed string `json:"changed,omitempty" jsonschema:"the message that later changed what an edit wrote: it holds, not this hit"`
}

// SearchOut is the output of the tool search.
type SearchOut struct {
	Hits []Hit `json:"hits"`
	More int   `json:"more,omitempty" jsonschema:"hits that did not fit into the answer"`

	Note string `json:"note,omitempty" jsonschema:"why nothing is found, or which words are in no text"`
}

// TimelineIn is the input of the tool timeline.
type TimelineIn struct {
	Ref   string `json:"ref,omitempty" jsonschema:"a message such as 6ecd8c99#12, or a session; without it the sessions of the project are listed"`
	Count int    `json:"count,omitempty" jsonschema:"messages before and after, or sessions; 10 without it"`
}

// TimelineOut is the output of the tool timeline.
type TimelineOut struct {
	Moments []Hit  `json:"moments"`
	Note    string `json:"note,omitempty" jsonschema:"why the list is empty"`
}

// ShowIn is the input of the tool show.
type ShowIn struct {
	Ref    string `json:"ref" jsonschema:"a session, message, message range, layer, version, composition, fact, concept or rule"`
	Offset int    `json:"offset,omitempty" jsonschema:"where to read on: next of the page before"`
}

// ShowOut is a page of a text.
type ShowOut struct {
	Ref  string `json:"ref"`
	Kind string `json:"kind"`
	Text string `json:"text"`
	Next int    `json:"next,omitempty" jsonschema:"the offset of the next page; absent on the last one"`
	Note string `json:"note,omitempty" jsonschema:"why there is no text"`
}

// FactsIn is the input of the tool facts.
type FactsIn struct {
	Query   string   `json:"query,omitempty" jsonschema:"words to look for; without them the newest facts are listed"`
	Kinds   []string `json:"kinds,omitempty" jsonschema:"request, action, decision, issue, solution or preference"`
	Session string   `json:"session,omitempty" jsonschema:"only facts of this session"`
	Open    bool     `json:"open,omitempty" jsonschema:"only issues that nothing has resolved"`
	Limit   int      `json:"limit,omitempty" jsonschema:"the most facts, 20 without it"`
}

// A Fact is a fact of a session.
type Fact struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Verdict string `json:"verdict" jsonschema:"verified: a reader of the quotes says that they support it; quoted: the quotes exist; stated: it has none"`
	By      string `json:"verified_by,omitempty" jsonschema:"who was asked whether the quotes support it"`
	At      string `json:"verified_at,omitempty"`
	Ref     string `json:"ref,omitempty" jsonschema:"the message that says it"`
	Text    string `json:"text" jsonschema:"the sentence if it was verified, otherwise its quotes with their speakers"`
}

// FactsOut is the output of the tool facts.
type FactsOut struct {
	Facts []Fact `json:"facts"`
	Note  string `json:"note,omitempty" jsonschema:"why the list is empty"`
}

// KeepitIn is the input of the tool keepit_add.
type KeepitIn struct {
	Ref    string `json:"ref" jsonschema:"one message that the user typed, such as 6ecd8c99#12"`
	Text   string `json:"text,omitempty" jsonschema:"the part to keep, word for word; without it all that was typed"`
	Weight string `json:"weight,omitempty" jsonschema:"0.00 to 1.00, or pinned, critical, important, notable, minor, hint; 0.80 without it"`
}

// KeepitOut is the output of the tool keepit_add.
type KeepitOut struct {
	ID     string `json:"id"`
	Ref    string `json:"ref"`
	Weight string `json:"weight"`
	Text   string `json:"text"`
}

// SuggestIn is the input of the tool suggest.
type SuggestIn struct {
	Files  []string `json:"files,omitempty" jsonschema:"files of the task: names, ends of paths or patterns"`
	Topics []string `json:"topics,omitempty" jsonschema:"what the task is about"`
	Budget int      `json:"budget,omitempty" jsonschema:"the most total tokens; default 8000"`
	Limit  int      `json:"limit,omitempty" jsonschema:"the most sessions, 5 without it"`

	Projects string `json:"projects,omitempty" jsonschema:"all, or related: this project and sessions related to it; else only this"`
}

// A Suggestion is a session or version that fits a task.
type Suggestion struct {
	Rev    string   `json:"rev" jsonschema:"name of the suggestion, for the tools show and compose"`
	Score  float64  `json:"score"`
	Topics []string `json:"topics,omitempty"`
	Files  []string `json:"files,omitempty"`
	Tokens int      `json:"tokens"`
	Title  string   `json:"title,omitempty"`
}

// SuggestOut is the output of the tool suggest.
type SuggestOut struct {
	Suggestions []Suggestion `json:"suggestions"`
	Note        string       `json:"note,omitempty" jsonschema:"why nothing is suggested"`
}

// ComposeIn is the input of the tool compose.
type ComposeIn struct {
	Name   string   `json:"name" jsonschema:"name of the composition"`
	Revs   []string `json:"revs" jsonschema:"sessions or versions, each with its own share if it ends in =TOKENS"`
	Budget int      `json:"budget,omitempty" jsonschema:"the most tokens, 16000 without it"`
}

// A Part is the part of one session in a composition.
type Part struct {
	Session string `json:"session"`
	Title   string `json:"title,omitempty"`
	Pick    string `json:"pick"`
	Tokens  int    `json:"tokens"`
	Why     string `json:"why"`
}

// ComposeOut is the output of the tool compose.
type ComposeOut struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Parts  []Part `json:"parts"`
	Saved  bool   `json:"saved" jsonschema:"false: the plan only, the server is read-only"`
}
