package shell

import (
	"testing"
)

// TestShortCommand holds what is taken off the ends of commands, and that nothing is taken out of their middle.
func TestShortCommand(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"$ cd /home/dev/shop && go test ./... 2>&1 | tail -20": "$ go test ./...",
		"$ go vet ./cart/price/sum.go | head -3 -> exit 1":     "$ go vet ./cart/price/sum.go -> exit 1",
		"$ cat a.txt | tail -5 | sort":                         "$ cat a.txt | tail -5 | sort",
		"$ rm -f x || true":                                    "$ rm -f x",
		"$ make 2>&1 | tee log":                                "$ make 2>&1 | tee log",
		"$ a || true && b":                                     "$ a || true && b",
		"$ cd a; cd b && ls":                                   "$ cd a; cd b && ls",
		`$ echo "a | head b"`:                                  `$ echo "a | head b"`,
		"":                                                     "",
	} {
		if got := ShortLine(in); got != want {
			t.Errorf("ShortCommand(%q) = %q, want %q", in, got, want)
		}
	}
}
