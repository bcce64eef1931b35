package shell

import (
	"strings"
	"testing"
)

func TestTasks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, output, want string }{
		{"mise run lint", "[lint] $ golangci-lint run ./...\n0 issues.\n", "mise run lint = golangci-lint run ./..."},
		{"mise run lint | tail", "[lint:fmt] $ ~/x/lint/fmt\n[lint:go] $ ~/x/lint/go\n[lint] $ ~/x/lint/default\n", "mise run lint = …"},
		{"mise run lint | tail -3", "[lint:go] 0 issues.\n[lint] $ golangci-lint run\n", "mise run lint = …"},
		{"mise run ci | tail -3", "[lint] $ golangci-lint run\n[test] $ go test ./...\n", "mise run ci = …"},
		{"mise run test:ci", "[test:ci] $ go test -race ./...\n", "mise run test:ci = go test -race ./..."},
		{"cd web && bun run test 2>&1 | tail -20", "$ bun test src/\nbun test v1.2\n", "bun run test = bun test src/"},
		{"mise run fmt && mise run lint", "[lint:go] 0 issues.\n[fmt] $ gofmt -w .\n[lint:go] $ golangci-lint run ./...\n", "mise run fmt = gofmt -w .; mise run lint = …"},
		{"npm run build; npm test", "> shop@1.0.0 build\n> tsc\n\n> shop@1.0.0 test\n> jest\n", ""},
		{"npm run build", "npm warn Unknown env config\n\n> Build error occurred\n[TypeError: no function]\n\n> shop@1.0.0 build\n> next build\n", "npm run build = next build"},
		{"npm run build", "> Build error occurred\n", ""},
		{"bun test src/", "$ bun test src/\n", ""},
		{"make", "cc -c a.c\n", ""},
	} {
		if got := strings.Join(Tasks(tt.line, tt.output), "; "); got != tt.want {
			t.Errorf("Tasks(%q) = %q, want %q", tt.line, got, tt.want)
		}
	}
}
