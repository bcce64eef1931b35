package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/state"
)

// Prefix is the path prefix of the API.
const Prefix = "/api/memory"

// IsAPI reports whether a request is for the API.
func IsAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// An endpoint is one operation of the API. The routes and the OpenAPI file are generated from it.
type endpoint struct {
	method, path string // below Prefix
	summary      string
	query        []param
	body         any         // a zero value of the request body, nil for none
	answers      map[int]any // a zero value of the response body, by status; a string is a media type
	do           func(*API, *call) (reply, error)
}

// A param is a parameter of a query.
type param struct{ name, kind, about string }

// check returns an error if a query has a parameter that the endpoint does not define.
func (e endpoint) check(query url.Values) error {
	names := app.Each(e.query, func(p param) string { return p.name })
	for name := range query {
		if !slices.Contains(names, name) {
			return NewProblem(http.StatusBadRequest, "bad_request", "unknown parameter "+strconv.Quote(name),
				"parameters: "+cmp.Or(strings.Join(names, ", "), "none"))
		}
	}
	return nil
}

// A call is one request to an endpoint.
type call struct {
	context.Context
	w http.ResponseWriter
	r *http.Request
}

// A reply is the response of an endpoint. If its status is 0, the endpoint has written the response itself.
type reply struct {
	status int
	body   any
}

func ok(body any) (reply, error) { return reply{http.StatusOK, body}, nil }

// result is the response with status 200, or the error.
func result(body any, err error) (reply, error) { return reply{http.StatusOK, body}, err }

// with resolves the project, session, version or composition of a request before do handles it.
func with[T any](find func(*API, *call) (T, error),
	do func(*API, *call, T) (reply, error)) func(*API, *call) (reply, error) {
	return func(s *API, c *call) (reply, error) {
		subject, err := find(s, c)
		if err != nil {
			return reply{}, err
		}
		return do(s, c, subject)
	}
}

// taking is [with] for a request with a body.
func taking[T, B any](find func(*API, *call) (T, error),
	do func(*API, *call, T, B) (reply, error)) func(*API, *call) (reply, error) {
	return with(find, func(s *API, c *call, subject T) (reply, error) {
		var in B
		if err := c.into(&in); err != nil {
			return reply{}, err
		}
		return do(s, c, subject, in)
	})
}

func pathProject(s *API, c *call) (state.Project, error) {
	return s.Project(c, c.r.PathValue("projectId"))
}

func queryProject(s *API, c *call) (state.Project, error) {
	if name := c.r.URL.Query().Get("project"); name != "" {
		return s.Project(c, name)
	}
	return s.Scope.Project, nil
}

func pathSession(s *API, c *call) (state.Rev, error) { return s.Session(c, c.r.PathValue("sessionId")) }

func pathVersion(s *API, c *call) (state.Rev, error) {
	return s.Version(c, c.r.PathValue("sessionId"), c.r.PathValue("versionId"))
}

func pathComposition(s *API, c *call) (state.Rev, error) {
	return s.composition(c, c.r.PathValue("compositionId"))
}

// removed is the response to a deletion.
func removed(name string) app.Object { return app.Object{"removed", name} }

// into decodes the body of a request into v. Unknown members are an error.
func (c *call) into(v any) error {
	b, err := io.ReadAll(c.r.Body)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return BadRequest("malformed body: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return BadRequest("the body is more than one JSON value")
	}
	return nil
}

// number reads a whole number from 0 to limit from the query.
func (c *call) number(name string, otherwise, limit int) (int, error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > limit {
		return 0, BadRequest(fmt.Sprintf("%s is a whole number from 0 to %d", name, limit))
	}
	return n, nil
}

// flag reads true or false from the query.
func (c *call) flag(name string) (bool, error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		return false, BadRequest(name + " is true or false")
	}
	return on, nil
}

// Limits of a page of a list.
const (
	defaultPage = 50
	maxPage     = 500
)

// pageParams are the parameters of every list.
func pageParams(more ...param) []param {
	return append(more, param{"limit", "integer", "page size; default 50, maximum 500"},
		param{"cursor", "string", "nextCursor of the previous page"})
}

// listOf is the answer of an endpoint that lists things: an object that has them under a name and, if there are more,
// "nextCursor".
func listOf(name string, things any, next string) app.Object {
	return app.Object{name, things, "nextCursor,omitempty", next}
}

// paged answers with the requested page of a list, each element converted. The cursor is the key of the last element of the
// previous page, so new elements do not shift the pages.
func paged[T, A any](c *call, name string, all []T, key func(T) string, convert func(T) (A, error)) (reply, error) {
	limit, err := c.number("limit", defaultPage, maxPage)
	if err != nil {
		return reply{}, err
	}
	from := 0
	if cursor := c.r.URL.Query().Get("cursor"); cursor != "" {
		if from = slices.IndexFunc(all, func(x T) bool { return key(x) == cursor }) + 1; from == 0 {
			return reply{}, BadRequest("invalid cursor; start again without one")
		}
	}
	to := min(len(all), from+max(limit, 1))
	page, next := []A{}, ""
	for _, x := range all[from:to] {
		one, err := convert(x)
		if err != nil {
			return reply{}, err
		}
		page = append(page, one)
	}
	if to < len(all) {
		next = key(all[to-1])
	}
	return ok(listOf(name, page, next))
}
