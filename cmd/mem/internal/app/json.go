package app

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/objects"
)

// An Object is the JSON of what only one command prints.
type Object = objects.Object

// PrintJSON prints the members of v, which may be nil, and more members as the answer of the command what, indented on a
// terminal. more has the members of an [Object].
func (e *Env) PrintJSON(what string, v any, more ...any) error {
	if v == nil {
		v = struct{}{}
	}
	b, err := EncodeJSON(what, v)
	if err != nil {
		return err
	}
	rest, err := Object(more).MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	if len(rest) > len("{}") {
		rest[0] = ','
		b = append(bytes.TrimSuffix(b, []byte("}\n")), term.EscapeJSON(rest)...)
		b = append(b, '\n')
	}
	return e.WriteJSON(b)
}

// WriteJSON prints encoded JSON, indented on a terminal.
func (e *Env) WriteJSON(b []byte) error {
	if e.Term.Stdout {
		var wide bytes.Buffer
		if err := json.Indent(&wide, b, "", "  "); err != nil {
			return fmt.Errorf("indent the answer: %w", err)
		}
		b = wide.Bytes()
	}
	_, err := e.Out.Write(b)
	return err
}

// EncodeJSON encodes v, which must be a JSON object, with the member "schema" in front.
func EncodeJSON(what string, v any) ([]byte, error) {
	b, err := objects.JSONLine(v)
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	body, ok := bytes.CutPrefix(b, []byte("{"))
	if !ok {
		return nil, fmt.Errorf("encode the answer: %T is not an object", v)
	}
	head := `{"schema":"mem.` + what + `/v1"`
	if !bytes.HasPrefix(body, []byte("}")) {
		head += ","
	}
	return term.EscapeJSON(append([]byte(head), body...)), nil
}
