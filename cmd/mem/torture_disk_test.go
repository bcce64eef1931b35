package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// onFullDisk runs in a mount namespace of its own: a small disk with a copy of the store is filled up
// to the last $LEFT KiB, a command meets it, then there is room again. Every line it prints but "first"
// must end in 0.
const onFullDisk = `
set -eu
mount -t tmpfs -o size=16m,mode=700 none "$DISK"
cp -a "$STORE" "$DISK/store"
export MEM_DIR="$DISK/store"
head -c 32m /dev/zero >"$DISK/fill" 2>/dev/null || true
size=$(stat -c %s "$DISK/fill")
truncate -s $((size - LEFT * 1024)) "$DISK/fill"
set +e
"$@" 2>"$OUT/stderr"; echo "first $?"
"$MEM" fsck >"$OUT/fsck" 2>&1; echo "fsck-full $?"
"$MEM" checkout "$OLD:original" -o "$OUT/old"; echo "checkout-full $?"
cmp "$OUT/old" "$KEPT"; echo "old-full $?"
rm "$DISK/fill"
"$MEM" fsck >"$OUT/fsck" 2>&1; echo "fsck $?"
"$@"; echo "again $?"
"$MEM" checkout "$NEW:original" -o "$OUT/new" && cmp "$OUT/new" "$WANT"; echo "new $?"
git -C "$MEM_DIR/memory.git" fsck --strict --no-dangling >"$OUT/fsck" 2>&1; echo "git-fsck $?"
`

// tortureFullDisk adds and compresses on a disk with hardly any room left.
func tortureFullDisk(t *testing.T, r *rig) {
	space := namespace(t)
	old, grown := NewGenerator(401, "/home/user/app"), NewGenerator(402, "/home/user/app")
	kept := r.write("in/"+old.ID+".jsonl", old.More(30))
	before := grown.More(20)
	file := r.write("in/"+grown.ID+".jsonl", before)
	r.ok("add", kept)
	r.ok("add", file)
	after := r.write("after/"+grown.ID+".jsonl", append(before, grown.More(60)...))

	step := amount(t, 32, 8, 4)
	for left := 0; left <= 64; left += step {
		r.full(space, left, map[string]string{"OLD": old.ID, "KEPT": kept, "NEW": grown.ID, "WANT": after}, r.Bin, "add", after)
		r.full(space, left, map[string]string{"OLD": old.ID, "KEPT": kept, "NEW": grown.ID, "WANT": file}, r.Bin, "compress", old.ID, "--ratio", "3")
	}
}

// namespace returns the command that runs another one where it may mount.
func namespace(t *testing.T) []string {
	for _, argv := range [][]string{{"unshare", "-m"}, {"unshare", "-Urm"}} {
		try := append(append([]string{}, argv[1:]...), "mount", "-t", "tmpfs", "none", t.TempDir())
		if exec.Command(argv[0], try...).Run() == nil {
			return argv
		}
	}
	t.Skip("SKIPPED: neither root nor a user namespace can mount a small disk here")
	return nil
}

func (r *rig) full(space []string, left int, env map[string]string, argv ...string) {
	r.t.Helper()
	disk, out := filepath.Join(r.Home, "disk"), filepath.Join(r.Home, "out")
	for _, dir := range []string{disk, out} {
		if err := os.RemoveAll(dir); err != nil {
			r.t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			r.t.Fatal(err)
		}
	}
	cmd := exec.Command(space[0], append(append(append([]string{}, space[1:]...), "sh", "-c", onFullDisk, "sh"), argv...)...)
	cmd.Env = append(r.Environ(), "DISK="+disk, "OUT="+out, "STORE="+r.Dir, "MEM="+r.Bin, fmt.Sprintf("LEFT=%d", left))
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	said, err := cmd.CombinedOutput()
	what := fmt.Sprintf("%s with %d KiB left", argv[1], left)
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", what, err, said)
	}
	stderr, err := os.ReadFile(filepath.Join(out, "stderr"))
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(said)) {
		name, code, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case code == "0":
		case name == "first" && (code == "128" || code == "3") && strings.Contains(string(stderr), "error: "):
		case name == "first" || strings.Contains("fsck-full checkout-full old-full fsck again new git-fsck", name):
			r.t.Fatalf("%s: %s\n%s\nstderr: %s", what, line, said, stderr)
		}
	}
}

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
	r := newRig(t, inPath(t), homeOf(t))
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
