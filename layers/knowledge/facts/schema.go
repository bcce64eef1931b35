package facts

import "encoding/json"

// Schema is the JSON schema of the input of [Decode].
func Schema() json.RawMessage { return schema(false) }

// AnswerSchema is the schema for answers of models: [Schema] without the fields for people, and with every other field
// required, as servers with guaranteed schemas demand.
func AnswerSchema() json.RawMessage { return schema(true) }

// A jsonSchema is a JSON schema with its members in a fixed order, and the limits that [Decode] checks.
type jsonSchema struct {
	Schema      string          `json:"$schema,omitempty"`
	Title       string          `json:"title,omitempty"`
	Type        string          `json:"type"`
	Description string          `json:"description,omitempty"`
	Enum        []Kind          `json:"enum,omitempty"`
	Items       *jsonSchema     `json:"items,omitempty"`
	Properties  json.RawMessage `json:"properties,omitempty"`
	Required    []string        `json:"required,omitempty"`
	More        *bool           `json:"additionalProperties,omitempty"`

	members []property // of an object
	most    int        // items of a list, characters of a text
	least   int        // of a number
	pair    bool       // a list of two numbers
	missing string     // what is wanted if it is missing, if not a list or text
}

// A property is a field of an object.
type property struct {
	name      string
	shape     jsonSchema
	required  bool
	humanOnly bool // not in [AnswerSchema]
}

func schema(strict bool) json.RawMessage {
	b, err := json.Marshal(inputSchema(strict))
	if err != nil {
		panic("facts: " + err.Error()) // only text and numbers
	}
	return b
}

func inputSchema(strict bool) jsonSchema {
	build := func(title string, members ...property) jsonSchema { return object(title, strict, members) }
	texts := func(about string) jsonSchema {
		return jsonSchema{Type: "array", Description: about, Items: &jsonSchema{Type: "string", most: maxWord}, most: maxWords}
	}
	text := func(most int, about string) jsonSchema {
		return jsonSchema{Type: "string", Description: about, most: most}
	}
	evidence := build("", property{name: "message", required: true,
		shape: jsonSchema{Type: "integer", Description: "number of the message", least: 1, missing: "the number of a message"}},
		property{name: "quote", required: true, shape: text(maxQuote, "the exact words of that message")})
	ids := func(about string) jsonSchema { return texts("ids (f:..., or of this answer) of facts that " + about) }
	fact := build("",
		property{name: "id", shape: text(maxWord, "a name such as a1, by which other facts of this answer can name it")},
		property{name: "kind", required: true, shape: jsonSchema{Type: "string", Enum: Kinds(), most: maxWord,
			Description: "request: what the user asked for; action: what was done; decision: what was decided, and why; " +
				"issue: what is wrong; solution: what fixed it; preference: how the user wants things"}},
		property{name: "text", required: true, shape: text(maxText, "one sentence that can be understood alone")},
		property{name: "reason", shape: text(maxText, "why it was decided, if that was said")},
		property{name: "evidence", required: true, shape: jsonSchema{Type: "array", Description: "the quotes that say it",
			Items: &evidence, most: maxEvidence}},
		property{name: "keywords", shape: texts("words to find it by")},
		property{name: "files", shape: texts("files it is about")},
		property{name: "supersedes", shape: ids("it replaces")},
		property{name: "refutes", shape: ids("it disproves")},
		property{name: "resolves", shape: ids("it resolves: issues")})
	span := func(about string) jsonSchema {
		return jsonSchema{Type: "array", Description: about, Items: &jsonSchema{Type: "integer", least: 1}, most: 1000, pair: true}
	}
	exchange := build("",
		property{name: "messages", shape: span("numbers of its first and last message")},
		property{name: "l1_range", humanOnly: true, shape: span("instead of messages: first and last line of L1")},
		property{name: "summary", shape: text(maxText, "the request and its result in one sentence")},
		property{name: "details", shape: text(maxDetails, "what was found and done, if it matters")},
		property{name: "topic", shape: text(maxWord, "3 to 5 words")},
		property{name: "keywords", shape: texts("words to find it by")},
		property{name: "files", shape: texts("files that were read or changed")},
		property{name: "facts", required: true, shape: jsonSchema{Type: "array", Items: &fact, most: maxFacts}})
	title := "facts of a session: the input of \"mem facts save\""
	whole := build(title,
		property{name: "session", humanOnly: true, shape: text(maxWord, "the session; needed if the command does not name it")},
		property{name: "through", humanOnly: true, shape: jsonSchema{Type: "integer",
			Description: "the last message that was read, also if no fact is about it"}},
		property{name: "exchanges", required: true, shape: jsonSchema{Type: "array",
			Description: "requests of the user with their results", Items: &exchange, most: maxExchanges}})
	if !strict {
		whole.Schema = "https://json-schema.org/draft/2020-12/schema"
	}
	return whole
}

func object(title string, strict bool, members []property) jsonSchema {
	no := false
	s := jsonSchema{Type: "object", More: &no, members: members}
	if !strict {
		s.Title = title
	}
	out := []byte{'{'}
	for _, m := range members {
		if strict && m.humanOnly {
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
		if m.required || strict {
			s.Required = append(s.Required, m.name)
		}
	}
	s.Properties = append(out, '}')
	return s
}
