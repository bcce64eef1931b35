package records_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/records"
)

// TestVersionBodies: labels name files and are printed, so they have the form of labels; the plan and the tiers of a
// later mem are not read.
func TestVersionBodies(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("a", 64)
	body := func(members, step string, version int, params string) json.RawMessage {
		return fmt.Appendf(nil, `{"session":"s",%s,"derivation":{"output":%q,"inputs":[%q],`+
			`"recipe":{"step":%q,"version":%d,"params":%s}}}`, members, hash, hash, step, version, params)
	}
	const tiers = `"label":"v001","settings":{"mode":"tiered","customTiers":"soft"}`
	for _, tt := range []struct {
		body json.RawMessage
		want bool
	}{
		{body(`"label":"v001"`, "x", 1, `{}`), true},
		{body(`"label":"v002","source":"v001~3b0e55d1","since":"v001"`, "x", 1, `{}`), true},
		{body(`"label":"v002","source":"v001~../../x"`, "x", 1, `{}`), false},
		{body(`"label":"v001~../../x"`, "x", 1, `{}`), false},
		{body(`"label":"v001~\u001b[31m"`, "x", 1, `{}`), false},
		{body(`"label":"~x"`, "x", 1, `{}`), false},
		{body(`"label":""`, "x", 1, `{}`), false},
		{body(tiers, "compress", 1, `{}`), false},
		{body(tiers, "compress", 2, `[]`), true},
	} {
		err := records.CheckBody(records.KindVersion, tt.body)
		if (err == nil) != tt.want {
			t.Errorf("%s: %v, want %v", tt.body, err, tt.want)
		}
		var v records.Version
		if err != nil || json.Unmarshal(tt.body, &v) != nil {
			continue
		}
		if _, err := v.Compression(); err != nil {
			t.Errorf("%s: %v", tt.body, err)
		}
		if _, err := v.KeepitStats(); err != nil {
			t.Errorf("%s: %v", tt.body, err)
		}
	}
}
