package objects

import (
	"reflect"
	"strings"
)

// An Object is the JSON of what is written in one place only: a name and a value for each member. A name that ends with
// ",omitempty" leaves out an empty value, as in a tag of encoding/json; without a name, the value is a struct whose members
// stand in its place.
type Object []any

// MarshalJSON writes the members in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := 0; i < len(o); i += 2 {
		name, optional := strings.CutSuffix(o[i].(string), ",omitempty")
		if x := reflect.ValueOf(o[i+1]); optional && (!x.IsValid() || x.IsZero() || x.Kind() == reflect.Slice && x.Len() == 0) {
			continue
		}
		value, err := EncodeJSON(o[i+1])
		if err != nil {
			return nil, err
		}
		if name == "" {
			value = value[1 : len(value)-1]
		} else {
			value = append([]byte(`"`+name+`":`), value...)
		}
		if len(b) > 1 && len(value) > 0 {
			b = append(b, ',')
		}
		b = append(b, value...)
	}
	return append(b, '}'), nil
}
