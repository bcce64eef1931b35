package shell

import (
	"strings"
	"testing"
)

// TestGit holds that commits and pushes are told by their output where the exit status does not belong to them.
func TestGit(t *testing.T) {
	t.Parallel()
	const made = "[main 1234abc] a: fix it\n 1 file changed, 1 insertion(+)\n"
	const sent = "To github.com:x/y.git\n   1234abc..5678def  main -> main\n"
	for _, c := range []struct{ line, out, want string }{
		{"git commit -m 'a: fix it' 2>&1 | tail -3", made, "git commit"},
		{"git add a\ngit commit -m \"a: fix it\"\ngit push", "ok\n" + made + sent, "git commit, git push"},
		{"git commit -m \"$(cat <<'EOF'\na: fix it\n\nWhy.\nEOF\n)\" | tail -3; true", made, "git commit"},
		{"cat > c.sh <<'EOF'\ngit -C x commit -qam 'a: fix it'\nEOF\nbash c.sh", made, "git commit"},
		{"nix develop -c git commit -m 'a: fix it' | cat", made, "git commit"},
		{"rtk git commit -m 'a: `fix` \"it\"' | cat", "[x/y-z (root-commit) 1234abc] a: `fix` \"it\"\n", "git commit"},
		{"rtk git commit -m \"a: \\`fix\\` it\" | cat", "[detached HEAD 1234abc] a: `fix` it\n", "git commit"},
		{"git commit --amend --no-edit | tail -3", made, "git commit"},
		{"git commit -m 'b: another' | tail -3; cat log", made, ""},
		{"git commit -m 'a: fix it' | tail -1", " 1 file changed, 1 insertion(+)\n", ""},
		{"git commit -m 'a: fix it' | tail -1", "nothing to commit, working tree clean\n", ""},
		{"cat log | tail", made + sent, ""},
		{"git push 2>&1 | tail -1", "   1234abc..5678def  main -> main\n", "git push"},
		{"git push -u origin x 2>&1 | tail", "To /x/y.git\n * [new branch]      x -> x\n", "git push"},
		{"git push --force | tail", "To /x/y.git\n + 1234abc...5678def main -> main (forced update)\n", "git push"},
		{"git push --all | tail", sent + " ! [rejected]        x -> x (fetch first)\n", ""},
		{"git pull --rebase && git push | tail", "From github.com:x/y\n   1234abc..5678def  main       -> origin/main\n", ""},
		{"git pull | tail; git push | tail", "From github.com:x/y\n   1234abc..5678def  main       -> origin/main\n" + sent, "git push"},
	} {
		if got := strings.Join(Judge(Run{Line: c.line, Ended: true, Output: c.out}).Done, ", "); got != c.want {
			t.Errorf("%q printed %q: done %q, want %q", c.line, c.out, got, c.want)
		}
	}
	j := Judge(Run{Line: "rtk git add a && rtk git commit -m x", Ended: true, Output: "ok 1 file changed\nFAILED: git commit\n$ bun test"})
	if j.Verdict != Failed || j.Proof != "FAILED: git commit" {
		t.Errorf("a wrapper that hides the failure: %+v", j)
	}
}
