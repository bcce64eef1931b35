package story

import (
	"bytes"
	"fmt"
	"strings"
)

// torn is what crashes, full disks and restores leave of a session.
func torn(put func(string, []byte)) {
	s := newSession(Torn, "/home/dev/shop", "2.1.51", middle, "2026-02-20T10:00:00Z")
	s.files = shopFiles()
	s.user("Disk was full last night. Is data/orders.jsonl intact? ##keepit0.75## The order file is checked at start-up, a broken last line is moved to orders.broken.")
	s.raw("\n   \n\t\r\n")
	s.say("I'll look at the last lines.")
	s.raw(`{"parentUuid":"` + s.parent + `","isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"The last line ends in the mid` + "\n")
	s.bash("tail -c 60 data/orders.jsonl", "{\"number\":17,\"total_cents\":995}\n{\"number\":18,\"total_ce")
	s.raw(`{"type":"user","uuid":"torn-in-a-string","message":{"role":"user","con`)
	s.line("type", "file-history-snapshot", "messageId", uuid("glued", 1), "snapshot", object{}, "isSnapshotUpdate", false)
	s.raw(strings.Repeat("\x00", 512) + "\n")
	s.raw("null\n42\n\"a bare string\"\n[{\"type\":\"user\"},{\"type\":\"assistant\"}]\n")
	s.raw(string(encode(object{"type", "custom-title", "customTitle", "Broken order file", "sessionId", s.id})) + string(encode(object{"type", "mode", "mode", "normal", "sessionId", s.id})) + "\n")
	s.raw("{\"type\":\"user\",\"uuid\":\"" + uuid("latin", 1) + "\",\"timestamp\":\"2026-02-20T10:00:30.000Z\",\"message\":{\"role\":\"user\",\"content\":\"A customer wrote from M\xfcnchen, bytes as they came: \xff\xfe\"}}\n")
	s.raw(`{"type":"from-the-future","payload":{"deep":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `},"n":1e400,"escaped":"\ud800 \u0000 \/"}` + "\n")
	s.raw(`{"type":"too-deep","payload":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + "}\n")
	s.raw("\xef\xbb\xbf" + `{"type":"permission-mode","permissionMode":"default","sessionId":"` + s.id + `"}` + "\r\n")
	s.say("Line 18 was cut off by the full disk. I'll move it to `data/orders.broken` and check the file at start-up from now on.")
	s.write("checkout/check.go", "package checkout\n\n// Check moves a broken last line of the order file out of the way.\nfunc Check(path string) error {\n\treturn checkLast(path, path[:len(path)-len(\".jsonl\")]+\".broken\")\n}\n")
	id := s.call("Edit", object{"file_path", s.path("cmd/shop/main.go"), "old_string", "func main() {", "new_string", "func main() {\n\tmust(checkout.Check(ordersFile))", "replace_all", false})
	s.result(id, "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>", "Error: File has not been read yet. Read it first before writing to it.", true)
	id = s.call("Bash", object{"command", "rm data/orders.jsonl", "description", "Remove the file"})
	s.result(id, "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nnever delete orders, move the line", "User rejected tool use", true)
	s.say("Right, I only move the broken line.")
	s.system("api_error", "error", object{}, "retryInMs", 600, "retryAttempt", 1, "maxRetries", 10)
	s.system("local_command", "content", "<local-command-stdout>Bye!</local-command-stdout>")
	s.system("microcompact_boundary", "content", "Context microcompacted", "microcompactMetadata", object{"trigger", "auto", "preTokens", 41000, "tokensSaved", 9000})
	s.record("progress", "data", object{"type", "bash_progress", "output", "17 orders", "fullOutput", "17 orders", "elapsedTimeSeconds", 2, "totalLines", 1}, "toolUseID", "bash-progress-0", "parentToolUseID", id)
	s.record("progress", "data", object{"type", "mcp_progress", "status", "started", "serverName", "orders", "toolName", "check"}, "toolUseID", "mcp-progress-0", "parentToolUseID", id)
	s.parent = uuid("lost", 2) // a record that another program has taken out
	s.system("turn_duration", "durationMs", 41000)
	s.line("type", "permission-mode", "permissionMode", "plan", "sessionId", Basket) // of another session, written into this file
	s.raw(`{"type":"user","uuid":"` + uuid("tail", 1) + `","message":{"role":"user","content":"this line was being written when the machine`)
	put(shop+Torn+".jsonl", s.bytes())
}

// rounded is the pricing library, in Japanese and Chinese.
func rounded(put func(string, []byte)) {
	s := newSession(Rounded, "/home/dev/pricing", "2.1.88", late, "2026-05-18T02:10:00Z")
	s.branch, s.model = "feature/tax", "claude-opus-4-6"
	s.files = map[string]string{"tax.go": "package pricing\n\n// Tax returns the tax of an amount in yen.\nfunc Tax(yen int64) int64 { return yen * 8 / 100 }\n"}
	s.user("消費税の計算を直してください。税率は10%で、軽減税率の商品だけ8%です。\n##keepit1.00## 消費税は合計に対して一度だけ計算し、端数は切り捨てます。明細ごとに丸めないでください。")
	s.think("Rate is 8 % for everything; must be 10 % with a reduced class.")
	s.read("tax.go")
	s.edit("tax.go", "// Tax returns the tax of an amount in yen.\nfunc Tax(yen int64) int64 { return yen * 8 / 100 }", "// Tax returns the tax of the sum of one class in yen, cut off.\nfunc Tax(sum int64, reduced bool) int64 {\n\tif reduced {\n\t\treturn sum * 8 / 100\n\t}\n\treturn sum * 10 / 100\n}")
	s.bash("go test ./...", "ok  \texample.com/pricing\t0.004s")
	s.say("税率ごとの合計に対して一度だけ計算するようにしました。1円未満は切り捨てです。")
	s.user("谢谢。中国的发票要怎么处理？增值税是含在价格里的。##keepit0.80## 中国价格都是含税价，税额 = 含税价 × 13 ÷ 113，四舍五入到分。")
	s.write("vat.go", "package pricing\n\n// VAT returns the tax that is in a price, both in fen, rounded half up.\nfunc VAT(gross int64) int64 { return (gross*13*2 + 113) / (2 * 113) }\n")
	s.bash("go test ./... -run TestVAT -v", "=== RUN   TestVAT\n--- PASS: TestVAT (0.00s)\nPASS")
	s.say("含税价 113.00 元的税额是 13.00 元，测试 `TestVAT` 已通过。")
	put("-home-dev-pricing/"+Rounded+".jsonl", s.bytes())
}

// stock is told by the newest client: attachments, new names of tools, an output that went to a file of its own.
func stock(put func(string, []byte)) {
	s := newSession(Stock, "/home/dev/shop", "2.1.222", late, "2026-08-03T07:30:00Z")
	s.branch, s.model = "stock", "claude-opus-4-7"
	s.files = shopFiles()
	s.line("type", "custom-title", "customTitle", "Stock levels", "sessionId", s.id)
	s.line("type", "permission-mode", "permissionMode", "acceptEdits", "sessionId", s.id)
	for _, a := range []object{
		{"type", "skill_listing", "content", "- commit\n- review", "skillCount", 2, "isInitial", true},
		{"type", "agent_listing_delta", "addedTypes", []any{"Explore", "general-purpose"}, "addedLines", []any{"- Explore"}, "removedTypes", []any{}},
		{"type", "deferred_tools_delta", "addedNames", []any{"WebFetch"}, "addedLines", []any{"WebFetch"}, "removedNames", []any{}},
		{"type", "prompt_snapshot", "content", strings.Repeat("You are a coding agent. ", 400)},
		{"type", "environment", "content", "cwd: /home/dev/shop"},
		{"type", "hook_additional_context", "content", []any{"House rules: prices are cents. ##keepit1.00## a hook did not type this"}, "hookName", "SessionStart", "toolUseID", uuid("hook", 9), "hookEvent", "SessionStart"},
		{"type", "hook_non_blocking_error", "hookName", "SessionStart:startup", "stderr", "weather: no network", "exitCode", 1},
		{"type", "nested_memory", "path", "/home/dev/shop/CLAUDE.md", "content", object{"type", "Project", "content", "Run go vet before committing."}},
	} {
		s.record("attachment", "attachment", a)
	}
	s.line("type", "api-request-shape", "tools", 18, "messages", 1, "sessionId", s.id)
	s.user("We oversold the blue mug twice. Add stock levels: an order that would take the stock below zero must fail before payment. ##keepit0.80## Stock is reserved when the order is placed, not when it is paid; a reservation expires after 15 minutes.")
	s.think("Reservation with expiry. Where is the catalogue? Look at data and cart.")
	task := s.call("TaskCreate", object{"subject", "Reserve stock in checkout.Place", "description", "Fail with ErrSoldOut", "activeForm", "Reserving stock"})
	s.result(task, "Task #1 created successfully: Reserve stock in checkout.Place", object{"task", object{"id", "1", "subject", "Reserve stock in checkout.Place"}}, false)
	stockOverflow(s, put)
	stockAgent(s, put)
	s.write("stock/stock.go", stockGo)
	s.queue("enqueue", "and log every reservation")
	s.bashFails("go test ./stock", 1, "--- FAIL: TestReserveExpires (0.00s)\n    stock_test.go:41: Available = 0 after 15 minutes, want 1\nFAIL\nFAIL\texample.com/shop/stock\t0.004s")
	s.queue("remove", "and log every reservation")
	s.record("attachment", "attachment", object{"type", "queued_command", "prompt", "and log every reservation", "source_uuid", uuid("queued", 1), "commandMode", "prompt", "origin", object{"kind", "human"}, "timestamp", s.tick()})
	s.edit("stock/stock.go", "if r.until.Before(now) {", "if !r.until.After(now) {")
	s.edit("stock/stock.go", "\ts.held[sku] = append(s.held[sku], reservation{count, now.Add(Hold)})\n", "\ts.held[sku] = append(s.held[sku], reservation{count, now.Add(Hold)})\n\tslog.Info(\"reserved\", \"sku\", sku, \"count\", count)\n")
	s.bash("go test ./stock -v", "=== RUN   TestReserve\n--- PASS: TestReserve (0.00s)\n=== RUN   TestReserveExpires\n--- PASS: TestReserveExpires (0.00s)\nPASS\nok  \texample.com/shop/stock\t0.003s")
	s.record("attachment", "attachment", object{"type", "edited_text_file", "filename", "/home/dev/shop/stock/stock.go", "snippet", "31\t\tslog.Info(\"reserved\")"})
	done := s.call("TaskUpdate", object{"taskId", "1", "status", "completed"})
	s.result(done, "Updated task #1 status", object{"success", true, "taskId", "1", "updatedFields", []any{"status"}, "statusChange", object{"from", "pending", "to", "completed"}}, false)
	s.say("An expired reservation is free at the very second now: the comparison was off by one instant. `Reserve` logs every reservation and fails with `ErrSoldOut`.")
	s.record("user", "message", object{"role", "user", "content", "<task-notification>\n<task-id>b7f2</task-id>\n<summary>Background command \"go test -race ./...\" completed (exit code 0)</summary>\n</task-notification>"}, "origin", object{"kind", "task-notification"}, "promptSource", "system")
	s.user("Ship it.\n\n<system-reminder>\nThe task tools have not been used recently.\n</system-reminder>")
	plan := "# Plan: ship stock levels\n\n1. Merge branch stock.\n2. Import the counts from the warehouse sheet.\n3. Watch the log for a day."
	id := s.call("ExitPlanMode", object{"plan", plan})
	s.result(id, "User has approved your plan. You can now start coding.\n\n## Approved Plan:\n"+plan, object{"plan", plan, "isAgent", false}, false)
	s.bash("git merge --no-ff stock && git push", "Merge made by the 'ort' strategy.\n stock/stock.go | 52 ++++\n 1 file changed, 52 insertions(+)")
	s.say("Merged and pushed. Step 2 needs the warehouse sheet from you.")
	s.line("type", "cost-state", "sessionId", s.id, "totalCostUSD", 1.42)
	s.line("type", "tools-used", "sessionId", s.id, "tools", []any{"Bash", "Edit", "Write", "Agent"})
	stockAgain(s)
	put(shop+Stock+".jsonl", s.bytes())
}

// stockAgain is the newest client that has taken the session up and was left at once: what it writes by itself.
func stockAgain(s *session) {
	s.version = "2.1.329"
	for _, a := range []object{
		{"type", "date", "content", "Today is 2026-08-03."},
		{"type", "model", "model", s.model},
		{"type", "task_reminder", "content", []any{}, "itemCount", 0},
		{"type", "hook_system_message", "content", "gofmt-guard is on", "hookName", "SessionStart", "toolUseID", uuid("hook", 10), "hookEvent", "SessionStart"},
		{"type", "hook_blocking_error", "hookName", "Stop", "toolUseID", uuid("hook", 11), "hookEvent", "Stop", "blockingError", object{"blockingError", "the tests have not run ##keepit1.00## a hook did not type this either", "command", "tests-ran"}},
		{"type", "hook_cancelled", "hookName", "SessionEnd", "toolUseID", uuid("hook", 12), "hookEvent", "SessionEnd", "timedOut", true, "timeoutMs", 1500},
		{"type", "compact_file_reference", "filename", "/home/dev/shop/stock/stock.go", "displayPath", "stock/stock.go"},
		{"type", "file", "filename", "/home/dev/shop/go.mod", "displayPath", "go.mod", "content", object{"type", "text", "file", object{"filePath", "/home/dev/shop/go.mod", "content", "module example.com/shop\n", "numLines", 1, "startLine", 1, "totalLines", 1}}},
	} {
		s.record("attachment", "attachment", a)
	}
	s.system("model_refusal_fallback", "content", "Switched to another model for one answer", "originalModel", s.model)
	s.line("type", "api-request", "sessionId", s.id, "requestId", ident("req_", s.id, 1), "model", s.model, "messages", 31)
	s.line("type", "api-request-blob", "sessionId", s.id, "hash", uuid("blob", 1), "data", noise("blob", 600))
	s.line("type", "atis-latch", "sessionId", s.id, "value", true)
	s.line("type", "frame-link", "sessionId", s.id, "frameId", uuid("frame", 1), "url", "https://frames.example.com/1")
}

// stockOverflow is a command whose output is too long for the transcript: it lies in a file of its own.
func stockOverflow(s *session, put func(string, []byte)) {
	var b bytes.Buffer
	for i := range 900 {
		fmt.Fprintf(&b, "{\"sku\":\"mug-%03d\",\"name\":\"Mug %d\",\"cents\":%d,\"stock\":%d}\n", i, i, 500+i*7%900, i*13%40)
	}
	name := Stock + "/tool-results/bash-catalog.txt"
	put(shop+name, b.Bytes())
	id := s.call("Bash", object{"command", "cat data/catalog.jsonl", "description", "Show the catalogue"})
	where := "/home/dev/.claude/projects/" + shop + name
	s.result(id, fmt.Sprintf("<persisted-output>\nOutput too large (%d bytes). Full output saved to: %s\n\nPreview (first 2KB):\n%s\n</persisted-output>", b.Len(), where, b.Bytes()[:2000]),
		object{"stdout", string(b.Bytes()[:2000]), "stderr", "", "interrupted", false, "isImage", false, "persistedOutputPath", where, "persistedOutputSize", b.Len()}, false)
}

// stockAgent is a subagent under its new name, with a transcript of its own.
func stockAgent(s *session, put func(string, []byte)) {
	prompt := "Which handlers of the shop place orders? List them with file and line."
	id := s.call("Agent", object{"description", "Find callers of Place", "prompt", prompt, "subagent_type", "Explore", "run_in_background", false})
	a := newSession(Stock, "/home/dev/shop", "2.1.222", late, s.now.Format("2006-01-02T15:04:05Z07:00"))
	a.agent, a.branch, a.model = "ad41f0c2b6e8", "stock", "claude-haiku-4-5"
	a.client(prompt)
	a.grep("checkout\\.Place", "/home/dev/shop/web/handlers.go:88:\to, err := checkout.Place(s.orders, c, email, s.now())\n/home/dev/shop/web/api.go:41:\to, err := checkout.Place(s.orders, c, req.Email, s.now())")
	report := "Two handlers call `checkout.Place`: `web/handlers.go:88` (page) and `web/api.go:41` (JSON)."
	a.say(report)
	dir := shop + Stock + "/subagents/agent-" + a.agent
	put(dir+".jsonl", a.bytes())
	put(dir+".meta.json", append(encode(object{"agentType", "Explore", "toolUseId", id, "description", "Find callers of Place", "model", "haiku"}), '\n'))
	s.result(id, []any{object{"type", "text", "text", report}}, object{"status", "completed", "prompt", prompt, "agentId", a.agent, "content", []any{object{"type", "text", "text", report}}, "totalDurationMs", 9000, "totalTokens", 4100, "totalToolUseCount", 1}, false)
	s.say("Both the page and the JSON handler go through `checkout.Place`, so reserving there covers everything.")
}

const stockGo = `// Package stock knows how many pieces of an article can be sold.
package stock

import (
	"errors"
	"log/slog"
	"sync"
	"time"
)

// Hold is how long a reservation lasts.
const Hold = 15 * time.Minute

// ErrSoldOut says that fewer pieces are left than were asked for.
var ErrSoldOut = errors.New("sold out")

type reservation struct {
	count int
	until time.Time
}

// A Stock is safe for use by several requests at once.
type Stock struct {
	mu   sync.Mutex
	have map[string]int
	held map[string][]reservation
}

// Available returns how many pieces can be reserved.
func (s *Stock) Available(sku string, now time.Time) int {
	n := s.have[sku]
	for _, r := range s.held[sku] {
		if r.until.Before(now) {
			continue
		}
		n -= r.count
	}
	return n
}

// Reserve holds count pieces, or fails with ErrSoldOut.
func (s *Stock) Reserve(sku string, count int, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Available(sku, now) < count {
		return ErrSoldOut
	}
	s.held[sku] = append(s.held[sku], reservation{count, now.Add(Hold)})
	return nil
}
`
