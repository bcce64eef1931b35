package hookcmd

import "testing"

// TestClientError has versions of the client before and after the one that gives hooks their arguments.
func TestClientError(t *testing.T) {
	t.Parallel()
	for version, old := range map[string]bool{
		"2.1.138 (Claude Code)": true, "2.1.17": true, "2.0.200": true, "1.9.999 (Claude Code)": true, "2.1.138-beta": true,
		"2.1.139 (Claude Code)": false, "2.1.332": false, "2.2.0": false, "3.0.0": false, "": false, "claude": false, "2.1": false,
	} {
		if err := ClientError(version); (err != nil) != old {
			t.Errorf("%q: %v", version, err)
		}
	}
}
