package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// onNoRoom runs in a mount namespace of its own: a small disk with a copy of the store and its reserve is filled to the last byte, which
// "add" shows, and a command that frees space meets it. With $BARE the reserve is removed first, and the disk filled with its room too.
const onNoRoom = `
set -eu
mount -t tmpfs -o size=48m,mode=700 none "$DISK"
cp -a "$STORE" "$DISK/store"
export MEM_DIR="$DISK/store"
"$MEM" gc >/dev/null
[ -z "$BARE" ] || rm "$MEM_DIR/reserve"
head -c 64m /dev/zero >"$DISK/fill" 2>/dev/null || true
set +e
"$MEM" add "$MORE" 2>/dev/null; echo "add $?"
"$@" 2>"$OUT/stderr"; echo "first $?"
"$MEM" fsck >"$OUT/fsck" 2>&1; echo "fsck $?"
[ -n "$BARE" ] || { test -s "$MEM_DIR/reserve"; echo "reserve $?"; }
"$MEM" show "$GONE" >/dev/null 2>&1; echo "show $?"
rm "$DISK/fill"
"$MEM" doctor --fix >"$OUT/doctor"; stat -c "size %s" "$MEM_DIR/reserve"
`

// TestFullDiskFrees runs the commands that free space on a disk without a free byte: they work, because the store keeps a reserve.
func TestFullDiskFrees(t *testing.T) {
	t.Parallel()
	space := namespace(t)
	r := newRig(t, build(t, ".", "mem"), homeOf(t))
	gone, kept, more := NewGenerator(601, "/home/user/app"), NewGenerator(602, "/home/user/app"), NewGenerator(603, "/home/user/app")
	r.ok("add", r.write("in/"+kept.ID+".jsonl", kept.More(60)))
	r.ok("add", r.write("in/"+gone.ID+".jsonl", gone.More(60)))
	r.ok("compress", kept.ID, "--ratio", "3")
	r.ok("compress", kept.ID, "--ratio", "5")
	file := r.write("in/"+more.ID+".jsonl", more.More(60))

	run := func(bare string, argv ...string) map[string]string {
		t.Helper()
		disk, out := filepath.Join(r.Home, "disk"), filepath.Join(r.Home, "out")
		for _, dir := range []string{disk, out} {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(space[0], append(append(append([]string{}, space[1:]...), "sh", "-c", onNoRoom, "sh", r.Bin), argv...)...)
		cmd.Env = append(r.Environ(), "DISK="+disk, "OUT="+out, "STORE="+r.Dir, "MEM="+r.Bin, "MORE="+file, "GONE="+gone.ID, "BARE="+bare)
		said, err := cmd.CombinedOutput()
		stderr, rerr := os.ReadFile(filepath.Join(out, "stderr"))
		if err != nil || rerr != nil {
			t.Fatalf("%v: %v %v\n%s", argv, err, rerr, said)
		}
		got := map[string]string{"stderr": string(stderr)}
		for line := range strings.Lines(string(said)) {
			name, code, _ := strings.Cut(strings.TrimSpace(line), " ")
			got[name] = code
		}
		return got
	}
	for _, tt := range []struct {
		argv []string
		show string // status of looking at the session afterwards
	}{
		{[]string{"forget", "-y", gone.ID}, "128"},
		{[]string{"rm", gone.ID}, ""},
		{[]string{"prune", "--keep-last", "1"}, "0"},
		{[]string{"gc"}, "0"},
	} {
		got := run("", tt.argv...)
		if got["add"] != "128" || got["first"] != "0" || got["fsck"] != "0" || got["size"] != "4194304" || tt.show != "" && got["show"] != tt.show {
			t.Errorf("%v on a full disk: %v", tt.argv, got)
		}
		if got["reserve"] != "0" {
			t.Errorf("%v on a full disk leaves no reserve: %v", tt.argv, got)
		}
	}
	if got := run("yes", "forget", "-y", gone.ID); got["first"] != "128" || got["fsck"] != "0" || !strings.Contains(got["stderr"], "no space left") {
		t.Errorf("forget on a full disk without a reserve: %v, want an error: else this test proves nothing", got)
	}
}
