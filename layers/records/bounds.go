package records

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of any body. Bodies that mem writes are far below them.
const (
	MaxNumber = 1 << 42  // of bytes, tokens, messages, millionths of a dollar
	MaxText   = 16 << 20 // bytes of one text
	MaxList   = 4 << 20  // members of one list
)

// The years of valid times: those that have a form in UTC in any zone.
const firstYear, lastYear = 1, 9998

// Bound returns an error for the first value in v, a pointer to a body, that is out of bounds: a number below zero
// or above [MaxNumber], a text or a list that is too long, a time without a form in UTC.
func Bound(v any) error { return bound(reflect.ValueOf(v).Elem()) }

func bound(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := v.Int(); n < 0 || n > MaxNumber {
			return fmt.Errorf("the number %d", n)
		}
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := v.Uint(); n > MaxNumber {
			return fmt.Errorf("the number %d", n)
		}
	case reflect.Float64:
		if f := v.Float(); !(f >= 0 && f <= MaxNumber) {
			return fmt.Errorf("the number %g", f)
		}
	case reflect.String:
		if s := v.String(); len(s) > MaxText || !utf8.ValidString(s) {
			return fmt.Errorf("a text of %d bytes", len(s))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return bound(v.Elem())
		}
	case reflect.Array, reflect.Slice:
		return boundList(v)
	case reflect.Struct:
		return boundStruct(v)
	}
	return nil
}

func boundList(v reflect.Value) error {
	if v.Len() > MaxList {
		return fmt.Errorf("a list of %d", v.Len())
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return nil // a hash or raw JSON
	}
	for i := range v.Len() {
		if err := bound(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func boundStruct(v reflect.Value) error {
	if v.Type() == reflect.TypeFor[time.Time]() {
		if t := v.Interface().(time.Time).UTC(); t.Year() < firstYear || t.Year() > lastYear {
			return fmt.Errorf("the time %s", t)
		}
		return nil
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.PkgPath != "" && !f.Anonymous || f.Tag.Get("json") == "-" {
			continue // never decoded
		}
		if err := bound(v.Field(i)); err != nil {
			return fmt.Errorf("%s: %w", memberName(f), err)
		}
	}
	return nil
}

// memberName returns the name of a field in JSON.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, f.Name)
}
