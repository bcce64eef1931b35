package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/view"
)

// A checker compares what the API answers with what its OpenAPI file says.
type checker struct {
	*rig
	doc    map[string]any
	called map[string]bool
}

func newChecker(t *testing.T) *checker {
	c := &checker{rig: newRig(t, nil, nil), called: map[string]bool{}}
	c.api(http.MethodGet, "/openapi.json", nil, &c.doc, 200)
	return c
}

// Call sends a request, checks that the file documents it and its answer, and reads that into out.
func (c *checker) call(method, template string, args []any, query string, in, out any, want int) {
	c.t.Helper()
	path := template
	for _, a := range args {
		from, to := strings.Index(path, "{"), strings.Index(path, "}")
		path = path[:from] + fmt.Sprint(a) + path[to+1:]
	}
	body := c.api(method, path+query, in, out, want)
	op, ok := dig(c.doc, "paths", api.Prefix+template, strings.ToLower(method)).(map[string]any)
	if !ok {
		c.t.Fatalf("%s %s is not documented", method, template)
	}
	c.called[method+" "+template] = true
	if in != nil {
		b, err := json.Marshal(in)
		must(c.t, err)
		c.valid("request of "+template, dig(op, "requestBody", "content", "application/json", "schema"), string(b))
	}
	response := dig(op, "responses", fmt.Sprint(want))
	if response == nil {
		response = dig(op, "responses", "default")
	}
	schema := dig(response, "content", "application/json", "schema")
	if schema == nil {
		c.t.Fatalf("%s %s: %d is not documented", method, template, want)
	}
	c.valid(method+" "+template, schema, body)
}

func dig(v any, keys ...string) any {
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

func (c *checker) valid(what string, schema any, body string) {
	c.t.Helper()
	var v any
	must(c.t, json.Unmarshal([]byte(body), &v))
	if err := c.check(schema, v, what); err != nil {
		c.t.Errorf("%v\n%.500s", err, body)
	}
}

// check holds a value against a schema, of what OpenAPI 3.1 has the parts that the file uses.
func (c *checker) check(schema, v any, at string) error {
	s, ok := schema.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: no schema", at)
	}
	if ref, ok := s["$ref"].(string); ok {
		return c.check(dig(c.doc, "components", "schemas", strings.TrimPrefix(ref, "#/components/schemas/")), v, at)
	}
	switch x := v.(type) {
	case map[string]any:
		if s["type"] != "object" {
			return fmt.Errorf("%s: an object, want %v", at, s["type"])
		}
		props, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, k := range required {
			if _, ok := x[fmt.Sprint(k)]; !ok {
				return fmt.Errorf("%s: %v is missing", at, k)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(x)) {
			of, ok := props[k]
			if !ok {
				of, ok = s["additionalProperties"].(map[string]any)
			}
			if !ok {
				return fmt.Errorf("%s: %s is not documented", at, k)
			}
			if err := c.check(of, x[k], at+"."+k); err != nil {
				return err
			}
		}
	case []any:
		if s["type"] != "array" {
			return fmt.Errorf("%s: an array, want %v", at, s["type"])
		}
		for i, e := range x {
			if err := c.check(s["items"], e, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	default:
		kind := map[string]string{"string": "string", "float64": "number", "bool": "boolean"}[fmt.Sprintf("%T", v)]
		if f, ok := v.(float64); ok && s["type"] == "integer" && f == float64(int64(f)) {
			kind = "integer"
		}
		if s["type"] != kind {
			return fmt.Errorf("%s: %v, want %v", at, v, s["type"])
		}
	}
	return nil
}

// ended waits for a job.
func (c *checker) ended(j api.JobAnswer) api.JobAnswer {
	c.t.Helper()
	for range 1000 {
		c.call(http.MethodGet, "/jobs/{jobId}", []any{j.ID}, "", nil, &j, 200)
		if j.State != "running" {
			return j
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.t.Fatalf("job %s does not end", j.ID)
	return j
}

// TestAPI calls each operation of the OpenAPI file and checks each answer against it.
func TestAPI(t *testing.T) {
	t.Parallel()
	c := newChecker(t)
	const long = "6ecd8c99-4036-403d-bf84-cf8400f67836" // the session of the sample that has markers
	p := []any{c.project.ID}
	s := []any{long}

	c.call("GET", "/projects", nil, "", nil, nil, 200)
	var record api.ProjectRecord
	c.call("GET", "/projects/{projectId}", p, "", nil, &record, 200)
	if len(record.Sessions) < 2 || record.DisplayName != "shop" || record.CreatedAt.IsZero() {
		t.Errorf("project %s has %d sessions, created %q", record.DisplayName, len(record.Sessions), record.CreatedAt)
	}
	c.call("GET", "/projects/{projectId}/sessions", p, "?limit=2", nil, nil, 200)

	var markers struct{ Markers []view.Marker }
	c.call("GET", "/sessions/{sessionId}/keepits", s, "", nil, &markers, 200)
	if len(markers.Markers) < 2 {
		t.Fatalf("the sample has %d markers", len(markers.Markers))
	}
	one := markers.Markers[0]
	var set view.Marker
	c.call("PUT", "/sessions/{sessionId}/keepits/{markerId}", []any{long, one.ID}, "", api.WeightRequest{Weight: 37}, &set, 200)
	if set.Weight != 37 {
		t.Errorf("the weight is %d, want 37", set.Weight)
	}

	decay := api.DecayRequest{SessionID: long, Ratio: 30, Aggressiveness: "aggressive", Distance: 5}
	var fates view.DecayPreview
	body := c.api("POST", "/decay/preview", decay, nil, 200)
	if !strings.Contains(body, `"threshold":0.65`) || !strings.Contains(body, `"weight":0.37,"survives":false`) {
		t.Errorf("decay preview: %s", body)
	}
	c.call("POST", "/decay/preview", nil, "", decay, nil, 200)
	_ = fates

	settings := api.CompressionSettings{Mode: "uniform", Ratio: 10, Aggressiveness: "moderate", Keepit: "decay", Distance: 1}
	c.call("POST", "/sessions/{sessionId}/versions/preview", s, "", settings, nil, 200)
	var v view.Version
	c.call("POST", "/sessions/{sessionId}/versions", s, "", settings, &v, 201)
	if v.ID != "v001" || v.Tokens < 1 || v.Settings.Ratio != 10 {
		t.Errorf("version %+v", v)
	}
	c.call("POST", "/sessions/{sessionId}/versions", s, "", settings, nil, 200)
	tiers := api.CompressionSettings{Mode: "tiered", Preset: "custom", Tiers: []records.RecipeTier{
		{End: 50, Ratio: 20, Aggressiveness: "aggressive"}, {End: 100, Ratio: 5, Aggressiveness: "minimal"},
	}}
	c.call("POST", "/sessions/{sessionId}/versions", s, "", tiers, &v, 201)
	c.call("GET", "/sessions/{sessionId}/versions", s, "", nil, nil, 200)
	var content view.Version
	c.call("GET", "/sessions/{sessionId}/versions/{versionId}", []any{long, "v001"}, "", nil, &content, 200)
	if len(content.Content) < 100 {
		t.Errorf("content %q", content.Content)
	}
	c.compositions(p, long)
	c.looks(long)
	c.call("DELETE", "/sessions/{sessionId}/versions/{versionId}", []any{long, "v002"}, "", nil, nil, 200)
	c.call("GET", "/sessions/{sessionId}/versions/{versionId}", []any{long, "v002"}, "", nil, nil, 404)
	c.call("DELETE", "/projects/{projectId}/sessions/{sessionId}", []any{c.project.ID, c.ids[0]}, "?force=true", nil, nil, 200)
	c.call("POST", "/projects/{projectId}/sessions/{sessionId}", []any{c.project.ID, c.ids[0]}, "", nil, nil, 201)

	paths, _ := c.doc["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		methods, _ := paths[path].(map[string]any)
		path = strings.TrimPrefix(path, api.Prefix)
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			if name := strings.ToUpper(method) + " " + path; !c.called[name] && path != "/events" {
				t.Errorf("%s is never called here", name)
			}
		}
	}
}

func (c *checker) compositions(p []any, session string) {
	c.t.Helper()
	req := api.CompositionRequest{Name: "ctx", Budget: 4000, Components: []api.ComponentRequest{{SessionID: session, VersionID: "v001"}, {SessionID: c.ids[0], VersionID: "auto"}}, Format: "md"}
	var preview view.Composed
	c.call("POST", "/projects/{projectId}/compositions/preview", p, "", req, &preview, 200)
	if len(preview.Parts) != 2 || preview.Tokens > 4000 {
		c.t.Errorf("preview %+v", preview)
	}
	var j api.JobAnswer
	c.call("POST", "/projects/{projectId}/compositions", p, "", req, &j, 202)
	if j = c.ended(j); j.State != "done" {
		c.t.Fatalf("job %+v %+v", j, j.Error)
	}
	c.call("GET", "/jobs", nil, "", nil, nil, 200)
	c.call("DELETE", "/jobs/{jobId}", []any{j.ID}, "", nil, nil, 200)
	var list struct{ Compositions []view.Composition }
	c.call("GET", "/projects/{projectId}/compositions", p, "", nil, &list, 200)
	c.call("POST", "/projects/{projectId}/compositions", p, "", req, &j, 202)
	if j = c.ended(j); !strings.HasSuffix(j.What, "that stays as ctx@{1}") {
		c.t.Errorf("composed again: %+v", j)
	}
	id := list.Compositions[0].ID
	var details view.Composition
	c.call("GET", "/compositions/{compositionId}", []any{id}, "", nil, &details, 200)
	if details.Name != "ctx" || details.Tokens > 4000 || details.Content == "" {
		c.t.Errorf("composition %+v", details)
	}
	if text := c.api("GET", "/compositions/ctx?format=jsonl", nil, nil, 200); !strings.HasPrefix(text, "{") {
		c.t.Errorf("jsonl %.100s", text)
	}
	c.call("DELETE", "/sessions/{sessionId}/versions/{versionId}", []any{session, "v001"}, "", nil, nil, 409)
	c.call("DELETE", "/compositions/{compositionId}", []any{id}, "", nil, nil, 200)
	req.Budget = 10
	c.call("POST", "/projects/{projectId}/compositions/preview", p, "", req, nil, 422)
	req.Budget, req.Components = 4000, append(req.Components, req.Components[0])
	for _, path := range []string{"/projects/{projectId}/compositions/preview", "/projects/{projectId}/compositions"} {
		c.call("POST", path, p, "", req, nil, 400) // the same version twice
	}
	req.Components = req.Components[:2]
	req.Name, req.Components[0] = "again", api.ComponentRequest{SessionID: session, Recompress: &api.CompressionSettings{Ratio: 25}}
	c.call("POST", "/projects/{projectId}/compositions/preview", p, "", req, nil, 200)
	c.call("POST", "/projects/{projectId}/compositions", p, "", req, &j, 202)
	if j = c.ended(j); j.State != "done" {
		c.t.Fatalf("job %+v %+v", j, j.Error)
	}
	c.call("GET", "/compositions/{compositionId}", []any{"again"}, "", nil, &details, 200)
	var made view.Version
	c.call("GET", "/sessions/{sessionId}/versions/{versionId}", []any{session, details.Components[0].VersionID}, "", nil, &made, 200)
	if made.Settings.Ratio != 25 {
		c.t.Errorf("the part is %+v, want a version of 25:1", made.Settings)
	}
	req.Budget, req.Name = 4000, "../x"
	c.call("POST", "/projects/{projectId}/compositions", p, "", req, nil, 400)
}

func (c *checker) looks(session string) {
	c.t.Helper()
	var found api.SearchAnswer
	c.call("GET", "/search", nil, "?q=price", nil, &found, 200)
	if len(found.Hits) == 0 {
		c.t.Error("nothing is found")
	}
	c.call("GET", "/search", nil, "?minWeight=0.5&limit=3&layer=L1", nil, nil, 200)
	c.call("GET", "/search", nil, "", nil, nil, 400)
	c.call("GET", "/search", nil, "?q=x&by=line", nil, nil, 400)
	c.call("GET", "/search", nil, "?text=x&branch=main", nil, nil, 400)
	c.call("GET", "/suggest", nil, "?topic=price", nil, nil, 200)
	c.call("GET", "/stats", nil, "", nil, nil, 200)
	var log sessionPage
	c.call("GET", "/log", nil, "?limit=1", nil, &log, 200)
	c.call("GET", "/log", nil, "?limit=1&cursor="+log.Next, nil, nil, 200)
	c.call("GET", "/log", nil, "?cursor=nothing", nil, nil, 400)
	c.call("GET", "/diff", nil, "?a="+session+":v001&b="+session+":v002", nil, nil, 200)
	c.call("GET", "/blame", nil, "?rev="+session+":v001", nil, nil, 200)
	c.call("GET", "/status", nil, "", nil, nil, 200)
	var next view.Next
	c.call("GET", "/next", nil, "", nil, &next, 200)
	if next.Units == 0 || len(next.Lines) == 0 {
		c.t.Errorf("the next session gets nothing: %+v", next)
	}
	for _, path := range []string{"/facts", "/rules", "/concepts"} {
		c.call("GET", path, nil, "", nil, nil, 200)
	}
}

// TestMalformed sends bodies that are not as they must be.
func TestMalformed(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	at := api.Prefix + "/sessions/" + r.ids[0] + "/versions"
	for _, body := range []string{"", "{", "[]", `{"mode":"odd"}`, `{"compactionRatio":"ten"}`, `{"compactionRatio":-1}`, `{"compactionRatio":1e99}`, `{"unknown":1}`, `{} {}`,
		`{"keepitMode":"x"}`, `{"aggressiveness":"x"}`, `{"mode":"uniform","tierPreset":"standard"}`, `{"mode":"tiered","compactionRatio":3}`, `{"tierPreset":"odd"}`} {
		a := r.do(http.MethodPost, at, body, nil)
		var e struct {
			Error struct{ Code, Message, Hint *string }
		}
		if err := json.Unmarshal([]byte(a.body), &e); err != nil || a.status != 400 || e.Error.Code == nil || e.Error.Message == nil || e.Error.Hint == nil {
			t.Errorf("%s: %d %.200s", body, a.status, a.body)
		}
	}
	for _, weight := range []string{"2", "-1", "0.123", `"0.5"`, "null", "1e-3"} {
		a := r.do(http.MethodPut, api.Prefix+"/sessions/"+r.ids[0]+"/keepits/k1", `{"weight":`+weight+`}`, nil)
		if a.status != 400 {
			t.Errorf("weight %s: %d %.200s", weight, a.status, a.body)
		}
	}
}

// sessionPage is one page of a list.
type sessionPage struct {
	Sessions []view.Session
	Next     string `json:"nextCursor"`
}

// TestPages walks a list page by page.
func TestPages(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	seen, cursor := map[string]bool{}, ""
	for range 20 {
		var list sessionPage
		r.api(http.MethodGet, "/projects/"+string(r.project.ID)+"/sessions?limit=1&cursor="+cursor, nil, &list, 200)
		if len(list.Sessions) > 1 {
			t.Fatalf("a page of %d", len(list.Sessions))
		}
		for _, s := range list.Sessions {
			if seen[s.ID] {
				t.Errorf("%s stands on two pages", s.ID)
			}
			seen[s.ID] = true
		}
		if cursor = list.Next; cursor == "" {
			break
		}
	}
	if len(seen) < 2 {
		t.Errorf("%d sessions on all pages", len(seen))
	}
}
