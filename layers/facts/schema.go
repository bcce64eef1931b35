package facts

import "encoding/json"

// Schema is the JSON schema of what [Decode] reads.
func Schema() json.RawMessage { return schema(false) }

// AnswerSchema is the schema that models are held to: that of [Schema] without what they need not say, and with every
// field required, as servers want it that guarantee a form.
func AnswerSchema() json.RawMessage { return schema(true) }

// A shape is a JSON schema. The order of the members is fixed.
type shape struct {
	Schema      string          `json:"$schema,omitempty"`
	Title       string          `json:"title,omitempty"`
	Type        string          `json:"type"`
	Description string          `json:"description,omitempty"`
	Enum        []Kind          `json:"enum,omitempty"`
	Items       *shape          `json:"items,omitempty"`
	Properties  json.RawMessage `json:"properties,omitempty"`
	Required    []string        `json:"required,omitempty"`
	More        *bool           `json:"additionalProperties,omitempty"`
}

// A member is a field of an object; for models those without need are left out, or required too.
type member struct {
	name   string
	shape  shape
	needed bool
	people bool // models are not asked for it
}

func schema(strict bool) json.RawMessage {
	build := func(title string, members ...member) shape { return object(title, strict, members) }
	texts := func(about string) shape {
		return shape{Type: "array", Description: about, Items: &shape{Type: "string"}}
	}
	evidence := build("", member{name: "message", needed: true,
		shape: shape{Type: "integer", Description: "number of the message"}},
		member{name: "quote", needed: true, shape: shape{Type: "string",
			Description: "words of that message, exactly as they stand in it"}})
	ids := func(about string) shape { return texts("ids (f:...) of facts that " + about) }
	fact := build("",
		member{name: "kind", needed: true, shape: shape{Type: "string", Enum: Kinds(),
			Description: "request: what the user asked for; action: what was done; decision: what was settled, and why; " +
				"issue: what is wrong; solution: what put it right; preference: how the user wants things"}},
		member{name: "text", needed: true, shape: shape{Type: "string",
			Description: "one sentence that can be understood alone"}},
		member{name: "evidence", needed: true, shape: shape{Type: "array", Description: "the quotes that say it",
			Items: &evidence}},
		member{name: "keywords", shape: texts("words to find it by")},
		member{name: "files", shape: texts("files it is about")},
		member{name: "supersedes", shape: ids("it takes the place of")},
		member{name: "refutes", shape: ids("it shows to be wrong")},
		member{name: "resolves", shape: ids("it puts an end to: issues")})
	span := func(about string) shape {
		return shape{Type: "array", Description: about, Items: &shape{Type: "integer"}}
	}
	exchange := build("",
		member{name: "messages", shape: span("numbers of its first and last message")},
		member{name: "l1_range", people: true, shape: span("instead of messages: first and last line of L1")},
		member{name: "summary", shape: shape{Type: "string",
			Description: "what was asked and what came of it, in one sentence"}},
		member{name: "topic", shape: shape{Type: "string", Description: "3 to 5 words"}},
		member{name: "keywords", shape: texts("words to find it by")},
		member{name: "files", shape: texts("files that were read or changed")},
		member{name: "facts", needed: true, shape: shape{Type: "array", Items: &fact}})
	title := "facts of a session: the input of \"mem facts save\""
	whole := build(title,
		member{name: "session", people: true, shape: shape{Type: "string",
			Description: "the session; needed if the command does not name it"}},
		member{name: "through", people: true, shape: shape{Type: "integer",
			Description: "the last message that was looked at, also if nothing is to be said of it"}},
		member{name: "exchanges", needed: true, shape: shape{Type: "array",
			Description: "requests of the user with what came of them", Items: &exchange}})
	if !strict {
		whole.Schema = "https://json-schema.org/draft/2020-12/schema"
	}
	b, err := json.Marshal(whole)
	if err != nil {
		panic("facts: " + err.Error()) // only text and numbers
	}
	return b
}

func object(title string, strict bool, members []member) shape {
	no := false
	s := shape{Type: "object", More: &no}
	if !strict {
		s.Title = title
	}
	out := []byte{'{'}
	for _, m := range members {
		if strict && m.people {
			continue
		}
		b, err := json.Marshal(m.shape)
		if err != nil {
			panic("facts: " + err.Error()) // as in schema
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), m.name...), `":`...)
		out = append(out, b...)
		if m.needed || strict {
			s.Required = append(s.Required, m.name)
		}
	}
	s.Properties = append(out, '}')
	return s
}
