package api

import (
	"encoding"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/view"
)

// openAPI describes the API. It is generated from the same table as the routes; schemas come from the types of requests
// and responses.
func openAPI() map[string]any {
	d := &describer{schemas: map[string]any{}}
	paths := map[string]any{}
	for _, e := range endpoints() {
		item, ok := paths[Prefix+e.path].(map[string]any)
		if !ok {
			item = map[string]any{}
			paths[Prefix+e.path] = item
		}
		item[strings.ToLower(e.method)] = d.operation(e)
	}
	return map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "mem", "version": "1",
			"description": "The memory of Claude Code sessions, served by \"mem serve\" on the loopback interface. " +
				"Programs authenticate with a token of \"mem token add\".",
		},
		"paths":    paths,
		"security": []any{map[string]any{"token": []any{}}, map[string]any{"cookie": []any{}}},
		"components": map[string]any{
			"schemas": d.schemas,
			"securitySchemes": map[string]any{
				"token":  map[string]any{"type": "http", "scheme": "bearer"},
				"cookie": map[string]any{"type": "apiKey", "in": "cookie", "name": "mem-PORT"},
			},
		},
	}
}

type describer struct{ schemas map[string]any }

func (d *describer) operation(e endpoint) map[string]any {
	op := map[string]any{"summary": e.summary, "operationId": operationID(e)}
	params := app.Each(pathParams(e.path), func(name string) any {
		return map[string]any{"name": name, "in": "path", "required": true,
			"schema": map[string]any{"type": "string"}}
	})
	for _, q := range e.query {
		params = append(params, map[string]any{"name": q.name, "in": "query", "description": q.about,
			"schema": map[string]any{"type": q.kind}})
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	if e.body != nil {
		op["requestBody"] = map[string]any{"required": true, "content": d.content(e.body)}
	}
	responses := map[string]any{"default": map[string]any{"description": "An error", "content": d.content(errorAnswer{})}}
	for status, v := range e.answers {
		responses[strconv.Itoa(status)] = map[string]any{"description": http.StatusText(status), "content": d.content(v)}
	}
	op["responses"] = responses
	return op
}

// operationID names an operation by its method and path: getSessionsVersions.
func operationID(e endpoint) string {
	id := strings.ToLower(e.method)
	for part := range strings.SplitSeq(e.path, "/") {
		part = strings.Trim(part, "{}")
		if part != "" {
			id += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return id
}

func pathParams(path string) (names []string) {
	for _, m := range regexp.MustCompile(`\{([^}]+)\}`).FindAllStringSubmatch(path, -1) {
		names = append(names, m[1])
	}
	return names
}

func (d *describer) content(v any) map[string]any {
	switch v := v.(type) {
	case string:
		return map[string]any{v: map[string]any{"schema": map[string]any{"type": "string"}}}
	case app.Object:
		props, required := map[string]any{}, []any{}
		for i := 0; i < len(v); i += 2 {
			name, optional := strings.CutSuffix(v[i].(string), ",omitempty")
			if props[name] = d.schema(reflect.TypeOf(v[i+1])); !optional {
				required = append(required, name)
			}
		}
		return map[string]any{"application/json": map[string]any{"schema": map[string]any{"type": "object",
			"properties": props, "required": required, "additionalProperties": false}}}
	}
	return map[string]any{"application/json": map[string]any{"schema": d.schema(reflect.TypeOf(v))}}
}

// schema describes a type. Structs are named; all members without omitempty are required.
func (d *describer) schema(t reflect.Type) map[string]any {
	switch {
	case t.Kind() == reflect.Pointer:
		return d.schema(t.Elem())
	case t == reflect.TypeFor[view.Weight]():
		return map[string]any{"type": "number", "minimum": 0, "maximum": 1}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return map[string]any{"type": "string"}
	case t == reflect.TypeFor[view.Thousandths](), t.String() == "json.Number":
		return map[string]any{"type": "number"}
	}
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Array:
		return map[string]any{"type": "array", "items": d.schema(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.Struct:
		name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
		if _, ok := d.schemas[name]; !ok {
			d.schemas[name] = nil // for recursive types
			props, required := map[string]any{}, []any{}
			d.members(t, props, &required)
			d.schemas[name] = map[string]any{"type": "object", "properties": props, "required": required,
				"additionalProperties": false}
		}
		return map[string]any{"$ref": "#/components/schemas/" + name}
	}
	return map[string]any{}
}

func (d *describer) members(t reflect.Type, props map[string]any, required *[]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			if f.Type.Kind() == reflect.Pointer {
				f.Type = f.Type.Elem()
			}
			d.members(f.Type, props, required)
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		props[name] = d.schema(f.Type)
		if !strings.Contains(options, "omit") && !slices.Contains(*required, any(name)) {
			*required = append(*required, name)
		}
	}
}
