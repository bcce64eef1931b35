package verdict

import "testing"

func TestTask(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, output, want string }{
		{"mise run lint", "[lint] $ golangci-lint run ./...\n0 issues.\n", "golangci-lint run ./..."},
		{"cd web && bun run test 2>&1 | tail -20", "$ bun test src/\nbun test v1.2\n", "bun test src/"},
		{"mise run fmt && mise run lint", "[fmt] $ gofmt -w .\n[lint] $ golangci-lint run ./...\n", ""},
		{"npm run build; npm test", "> shop@1.0.0 build\n> tsc\n\n> shop@1.0.0 test\n> jest\n", ""},
		{"bun test src/", "$ bun test src/\n", ""},
		{"make", "cc -c a.c\n", ""},
	} {
		if got := Task(tt.line, tt.output); got != tt.want {
			t.Errorf("Task(%q) = %q, want %q", tt.line, got, tt.want)
		}
	}
}
