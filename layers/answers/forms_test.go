package answers

import (
	"errors"
	"strings"
	"testing"
)

type order struct {
	Name  string   `json:"name" form:"required,max=8" about:"who it is for"`
	Size  string   `json:"size" enum:",small,large"`
	Count int      `json:"count" form:"min=1"`
	Span  [2]int   `json:"span" form:"pair,min=1"`
	Tags  []string `json:"tags" form:"items=2"`
	Note  string   `json:"note" form:"human"`
	Made  string   `json:"made" form:"-"`
	Parts []part   `json:"parts" form:"required"`
}

type part struct {
	ID string `json:"id" form:"required"`
}

// TestDecode: every wrong field is named at once, with its path.
func TestDecode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"name":"a","parts":[]}`: "",
		"```json\n{\"name\":\"a\",\"size\":\"\",\"count\":null,\"parts\":[{\"id\":\"x\"}]}\n```": "",
		`{"name":"a","made":"b","parts":[]}`:                                                     "made: unknown field; the fields are name, size, count, span, tags, note, parts",
		`{"name":" ","size":"huge","count":0,"span":[1],"tags":["a","b","c"],"parts":[{},3]}`:    `name: it is empty; size: "huge" is none of , small, large; count: want a whole number from 1, not 0; span: want two numbers, the first and the last; tags: 3 are too many: want at most 2; parts[0].id: missing: want text; parts[1]: want an object, not a number`,
		`{"name":"123456789","parts":null}`:                                                      "name: 9 characters are too many: want at most 8; parts: missing: want a list",
		`[]`:                                                                                     "want an object, not a list",
		`{`:                                                                                      "the input ends in the middle of the JSON object",
	} {
		_, err := Decode[order]([]byte(in))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("Decode(%s) = %s, want %s", in, got, want)
		}
	}
}

// TestAnswerSchema: a model is asked for every field but those for people.
func TestAnswerSchema(t *testing.T) {
	t.Parallel()
	strict, whole := string(AnswerSchema[order]()), string(Schema[order]("an order"))
	if !strings.Contains(strict, `"required":["name","size","count","span","tags","parts"]`) || strings.Contains(strict, `"note"`) {
		t.Error(strict)
	}
	if !strings.Contains(whole, `"required":["name","parts"]`) || !strings.Contains(whole, `"note"`) || strings.Contains(whole, `"made"`) {
		t.Error(whole)
	}
}

// FuzzDecode: any input is decoded or refused with a problem.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"name":"a","parts":[{"id":"x"}],"span":[1,2]}`))
	f.Add([]byte("\ufeff{“name”:1}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := Decode[order](in)
		var bad *Error
		if err != nil && (!errors.As(err, &bad) || len(bad.Problems) == 0) {
			t.Fatalf("no field: %v", err)
		}
		if err == nil && v.Parts == nil {
			t.Fatal("a required list is missing")
		}
	})
}
