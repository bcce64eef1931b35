package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/trust"
)

// A tab is a page of a real browser that is signed in. It notes what goes wrong: errors on the console, and requests to other hosts.
type tab struct {
	*rig
	ctx context.Context

	mu      sync.Mutex
	wrong   []string
	streams int // of changes that have begun
}

// chrome finds a browser, or skips the test loudly.
func chrome(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("MEM_CHROME"), "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("MEM_REQUIRE_CHROME") != "" {
		t.Fatal("there is no Chromium, and MEM_REQUIRE_CHROME is set")
	}
	t.Skip("SKIPPED: there is no Chromium: the pages are not tried in a browser (apt-get install chromium-headless-shell, or MEM_CHROME=PATH)")
	return ""
}

func newTab(t *testing.T, r *rig) *tab {
	t.Helper()
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.ExecPath(chrome(t)))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &tab{rig: r, ctx: ctx}
	b.do(chromedp.EmulateViewport(1280, 900))
	must(t, chromedp.Listen(ctx, b.note))
	protocol(b, cdplog.Enable, cdp.Empty{})
	protocol(b, network.Enable, network.EnableParams{})
	b.do(chromedp.Navigate(r.server.SignInURL()))
	return b
}

// note remembers what must not happen.
func (b *tab) note(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, b.http.URL) && !strings.HasPrefix(e.Request.URL, "data:") && !strings.HasPrefix(e.Request.URL, "about:") {
			b.wrong = append(b.wrong, "request to "+e.Request.URL)
		}
	case *network.EventResponseReceived:
		if strings.HasSuffix(e.Response.URL, "/events") {
			b.streams++
		}
	case *runtime.EventExceptionThrown:
		b.wrong = append(b.wrong, fmt.Sprintf("exception %v", e.ExceptionDetails))
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == "error" {
			b.wrong = append(b.wrong, "console: "+e.Entry.Text)
		}
	}
}

// do runs steps, none of which may take long.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for i, s := range steps {
		if err := b.try(s); err != nil {
			at, _ := chromedp.Run(b.ctx, chromedp.Location()) //nolint:errcheck // for the message
			b.t.Fatalf("step %d on %s: %v", i+1, at, err)
		}
	}
}

func (b *tab) try(s chromedp.Action[chromedp.Void]) error {
	done := make(chan error, 1)
	go func() { done <- chromedp.Do(b.ctx, s) }()
	select {
	case err := <-done:
		return err
	case <-time.After(longest):
		return context.DeadlineExceeded
	}
}

// open shows a page of the server. A navigation that meets one of the page itself, such as the start of a download, is aborted and
// tried again.
func (b *tab) open(path string) {
	b.t.Helper()
	var err error
	b.wait(func() bool {
		err = b.try(chromedp.Navigate(b.http.URL + path))
		return err == nil || !strings.Contains(err.Error(), "net::ERR_ABORTED")
	}, func() string { return fmt.Sprintf("%s: %v", path, err) })
	must(b.t, err)
	b.do(chromedp.WaitReady(chromedp.CSS("main")))
}

// protocol runs a command of the protocol.
func protocol[P, R any](b *tab, cmd cdp.Command[P, R], params P) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, cmd, params)
	must(b.t, err)
}

// eval runs a script in the page.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%.200s: %v", script, err)
	}
	return v
}

// longest is more than anything takes on a machine that does much else.
const longest = 2 * time.Minute

// until waits for a condition of the page. While a page goes and another comes there may be nothing to ask.
func (b *tab) until(condition string) {
	b.t.Helper()
	var err error
	b.wait(func() (ok bool) {
		ok, err = chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+condition+")"))
		return ok && err == nil
	}, func() string {
		return fmt.Sprintf("%s: %v\n%.800s", condition, err, eval[string](b, "document.querySelector('main').innerText"))
	})
}

// wait waits until something is so.
func (b *tab) wait(is func() bool, what func() string) {
	b.t.Helper()
	for end := time.Now().Add(longest); !is(); time.Sleep(25 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("never: %s", what())
		}
	}
}

// hears returns how many streams of changes have begun: each page with a menu begins one.
func (b *tab) hears() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.streams
}

func (b *tab) clean(what string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong {
		b.t.Errorf("%s: %s", what, w)
	}
	b.wrong = nil
}

// screens are the addresses of all screens.
func (r *rig) screens() []string {
	s, p := "/s/"+sampleSession, "/p/"+string(r.project.ID)
	return []string{
		"/", p, p + "?s=" + sampleSession, s, s + "?view=messages", s + "?view=details", s + "/m/31", s + "/compress", s + "/compress?mode=tiered&preset=custom", s + "/v/v001", s + "/v/v001?view=blame",
		s + "/v/v001?view=source", "/compare?v=" + sampleSession + ":v001&v=" + sampleSession + ":v002", s + "/keepits/k1", p + "/markers", p + "/compositions", p + "/c/ctx",
		p + "/compose?part-1=" + sampleSession, "/search?q=price", p + "/next", p + "/facts", p + "/facts?show=concepts", p + "/facts?show=rules", p + "/history", p + "/stats", "/settings", "/sync", "/doctor", "/doctor?check=1", p + "?view=list", "/keys", "/nothing",
	}
}

// TestBrowserAccessible has axe-core look at every screen in light and dark, and looks for what must not happen.
func TestBrowserAccessible(t *testing.T) {
	t.Parallel()
	chrome(t)
	r := newRig(t, nil, nil)
	r.fill()
	r.group()
	b := newTab(t, r)
	axe, err := os.ReadFile("testdata/axe.min.js")
	must(t, err)
	for _, scheme := range []string{"light", "dark"} {
		protocol(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		for _, at := range r.screens() {
			b.open(at)
			eval[int](b, string(axe)+"; 1")
			found := eval[string](b, `axe.run({resultTypes: ["violations"]}).then(r => JSON.stringify(r.violations.map(v => [v.id, v.help, v.nodes.slice(0, 2).map(n => n.html + " " + (n.any[0]?.message ?? ""))])))`)
			var list [][]any
			must(t, json.Unmarshal([]byte(found), &list))
			for _, v := range list {
				t.Errorf("%s %s: %v", scheme, at, v)
			}
		}
	}
	if at := slices.IndexFunc(b.wrong, func(w string) bool { return strings.Contains(w, "404") }); at >= 0 {
		b.wrong = slices.Delete(b.wrong, at, at+1) // "/nothing", in light
	}
	if at := slices.IndexFunc(b.wrong, func(w string) bool { return strings.Contains(w, "404") }); at >= 0 {
		b.wrong = slices.Delete(b.wrong, at, at+1) // and in dark
	}
	b.clean("all screens")
}

// TestBrowserFits looks whether a page is ever wider than its window: a phone's of 320 pixels, a usual one at 200 % zoom, which lays
// pages out at half its width in twice the pixels, and a screen of 4k.
func TestBrowserFits(t *testing.T) {
	t.Parallel()
	chrome(t)
	r := newRig(t, nil, nil)
	r.fill()
	r.group()
	b := newTab(t, r)
	for _, window := range []struct {
		name  string
		width int64
		zoom  float64
	}{{"320", 320, 1}, {"1280 at 200 %", 640, 2}, {"1280", 1280, 1}, {"3840", 3840, 1}} {
		b.do(chromedp.EmulateViewport(window.width, 800, chromedp.EmulateScale(window.zoom)))
		for _, at := range r.screens() {
			b.open(at)
			if got := eval[float64](b, "devicePixelRatio"); got != window.zoom {
				t.Fatalf("the zoom is %v, want %v", got, window.zoom)
			}
			eval[int](b, `document.querySelectorAll("select").forEach(s => { if (s.options[0]) s.options[0].text = "a-project-or-a-branch-with-a-name-of-sixty-characters-in-all" }), 0`)
			if over := eval[int](b, "document.documentElement.scrollWidth - window.innerWidth"); over > 0 {
				wide := eval[string](b, `[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, pre")).slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join("\n")`)
				t.Errorf("%s in %s: %d pixels too wide\n%s", at, window.name, over, wide)
			}
			if small := eval[string](b, smallTargets); small != "" && window.width == 320 {
				t.Errorf("%s in %s: too small to touch: %s", at, window.name, small)
			}
		}
	}
}

// smallTargets lists buttons and fields lower than the 24 pixels that WCAG 2.2 asks for.
const smallTargets = `[...document.querySelectorAll("main button, main .button, main select, main input:not([type=hidden], [type=checkbox], [type=radio])")].filter(e => e.offsetParent && e.getBoundingClientRect().height < 23.5).slice(0, 3).map(e => e.outerHTML.slice(0, 100)).join(" ")`

// TestBrowserJourney does with scripts what people come for.
func TestBrowserJourney(t *testing.T) {
	t.Parallel()
	chrome(t)
	parent, extra := agentTranscripts("a thought")
	r := newRig(t, nil, extra)
	b := newTab(t, r)
	s, p := "/s/"+sampleSession, "/p/"+string(r.project.ID)

	b.open(p)
	b.do(chromedp.Click(chromedp.CSS(`a[data-row][href*="` + sampleSession + `"]`)))
	b.until(`document.querySelector("#details h2") && location.search.includes("` + sampleSession + `")`)

	b.open(s + "/compress")
	b.do(chromedp.SetValue(chromedp.CSS("#c-distance"), "5"))
	eval[int](b, `document.querySelector("#c-distance").dispatchEvent(new Event("change", {bubbles: true})); 1`)
	b.until(`document.querySelector("#estimate").innerText.includes("0.65")`)
	b.until(`document.querySelectorAll("#fates .lost").length === 2`)
	b.do(chromedp.Click(chromedp.CSS("button.primary")))
	b.until(`location.pathname.endsWith("/v/v001")`)

	b.open(s + "?view=details")
	b.do(chromedp.Click(chromedp.CSS(`input[name=v]`)))
	b.until(`/^1 selected, [0-9,]+ tokens$/.test(document.querySelector("#selected").innerText)`)

	b.open(s + "/keepits/k2")
	eval[int](b, `const w = document.querySelector("#weight"); w.value = "0.65"; w.dispatchEvent(new Event("input", {bubbles: true})); 1`)
	b.until(`document.querySelector("#decay h2").innerText.includes("0.65")`)
	b.do(chromedp.Click(chromedp.CSS(`fieldset button.primary`)))
	b.until(`document.readyState === "complete" && document.querySelector("main").innerText.includes("was changed after it was typed")`)

	b.open("/s/" + parent + "?view=messages")
	eval[int](b, `document.querySelector("details.agent > summary").click(); 1`)
	b.until(`document.querySelectorAll("details.agent .inline article").length > 1`)

	b.open(p + "/compose?name=ctx&budget=4000&part-1=" + sampleSession + "&version-1=v001")
	b.until(`document.querySelector("#built").innerText.includes("of 4,000 tokens")`)
	downloads := t.TempDir()
	protocol(b, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: downloads})
	b.do(chromedp.Click(chromedp.CSS(`.actions button[name=export][value=md]`)))
	b.until(`location.pathname.endsWith("/c/ctx")`)
	saved := filepath.Join(downloads, "ctx.md")
	b.wait(func() bool {
		fi, err := os.Stat(saved)
		return err == nil && fi.Size() > 100
	}, func() string { return "a download of ctx.md" })

	b.open("/compare?v=" + sampleSession + ":v001")
	b.until(`document.querySelector("#matrix")`)

	b.open("/")
	b.do(chromedp.KeyEvent("/"))
	b.until(`document.activeElement.id === "find"`)
	b.do(chromedp.KeyEvent("price\r"))
	b.until(`location.pathname === "/search" && document.querySelectorAll("#hits li").length > 0`)

	b.open(p + "/history")
	b.until(`document.querySelector("button[value=undo]").innerText.includes("compose ctx")`)
	b.do(chromedp.Click(chromedp.CSS("button[value=undo]")))
	b.until(`document.readyState === "complete" && document.querySelector("button[value=redo]")`)
	b.do(chromedp.KeyEvent("?"))
	b.until(`document.querySelector("dialog[open]")`)
	b.do(chromedp.KeyEvent("\x1b"))
	b.until(`!document.querySelector("dialog[open]")`)
	b.clean("the journey")
}

// TestBrowserLive changes the memory beside an open page, which shows it by itself.
func TestBrowserLive(t *testing.T) {
	t.Parallel()
	chrome(t)
	r := newRig(t, nil, nil)
	b := newTab(t, r)
	before := b.hears()
	b.open("/s/" + sampleSession + "?view=details")
	b.wait(func() bool { return b.hears() > before }, func() string { return "a stream of changes" })
	r.api(http.MethodPost, "/sessions/"+sampleSession+"/versions", api.CompressionSettings{Ratio: 10}, nil, 201)
	b.until(`document.querySelector("main").innerText.includes("v001")`)
	b.clean("live")
}

// hostileTexts are texts that try to run a script, or to reach another host, wherever a page shows them.
func hostileTexts() []string {
	return []string{
		`<script>window.owned = 1</script>`, `<img src=x onerror="window.owned=1">`, `"><svg onload="window.owned=1">`, `</textarea></title></pre><script>window.owned=1</script>`,
		"[click](javascript:window.owned=1)", "![x](https://evil.example/x.png)", `<iframe src="https://evil.example/"></iframe>`, "<style>@import url(https://evil.example/x.css)</style>",
		`<a href="jav&#x09;ascript:window.owned=1">x</a>`, "```html\n<script>window.owned=1</script>\n```", `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
		`<form action="https://evil.example/"><button id="theme">x</button></form>`, `<base href="https://evil.example/">`, `{{.}} {{template "main"}} <!-- --><script>window.owned=1</script>`,
		`<svg><script>window.owned=1</script></svg>`, `<math><mtext><img src=x onerror=window.owned=1></mtext></math>`, `<details open ontoggle="window.owned=1">`, `<div hx-get="https://evil.example/" hx-trigger="load">x</div>`,
		`<div hx-on:load="window.owned=1" hx-trigger="load" hx-get="/">x</div>`, "| <img src=x onerror=window.owned=1> | b |\n|---|---|\n| <script>window.owned=1</script> | c |",
	}
}

// hostileSession is a transcript in which the title, messages, tool calls, file names, diffs and outputs are all a hostile text.
func hostileSession(id, text string) string {
	q := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			return "null"
		}
		return string(b)
	}
	head := func(n int, kind string) string {
		return fmt.Sprintf(`{"uuid":"%s-%d","sessionId":%s,"cwd":"/home/user/extra","gitBranch":%s,"timestamp":"2026-01-20T10:00:%02dZ","type":"%s",`, id, n, q(id), q(text), n, kind)
	}
	return strings.Join([]string{
		fmt.Sprintf(`{"type":"summary","summary":%s,"leafUuid":"%s-2"}`, q(text), id),
		head(1, "user") + `"message":{"role":"user","content":` + q(text+" ##keepit0.80## "+text) + `}}`,
		head(2, "assistant") + `"message":{"id":"m2","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":` + q(text) + `}]}}`,
		head(3, "assistant") + `"message":{"id":"m3","role":"assistant","model":"claude-opus-4-5","content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":` + q("/home/user/extra/"+text) + `,"old_string":` + q(text) + `,"new_string":` + q(text+text) + `}}]}}`,
		head(4, "user") + `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":` + q("Error: "+text) + `}]}}`,
		head(5, "assistant") + `"message":{"id":"m5","role":"assistant","model":"claude-opus-4-5","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":` + q(text) + `}}]}}`,
		head(6, "user") + `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":` + q(text) + `}]}}`,
	}, "\n") + "\n"
}

// TestBrowserHostile shows 100 hostile transcripts on the screens of sessions: no script of theirs runs, and nothing of another host is asked for.
func TestBrowserHostile(t *testing.T) {
	t.Parallel()
	chrome(t)
	extra := map[string]string{}
	var ids []string
	for i := range 100 {
		texts := hostileTexts()
		text := texts[i%len(texts)]
		if i >= len(texts) {
			text += texts[(i*7+i/len(texts))%len(texts)]
		}
		id := fmt.Sprintf("%08x-0000-4000-8000-%012x", i+1, i+1)
		extra[id] = hostileSession(id, text)
		ids = append(ids, id)
	}
	r := newRig(t, func(w *api.World) {
		all, err := trust.Projects(t.Context(), w.Memory.DB)
		must(t, err)
		for _, p := range all {
			if p.Name == "extra" {
				w.Scope.Project = p
			}
		}
	}, extra)
	b := newTab(t, r)
	seen := 0
	for i, id := range ids {
		pages := []string{"/s/" + id + "?view=messages"}
		if i%20 == 0 {
			r.api(http.MethodPost, "/sessions/"+id+"/versions", api.CompressionSettings{Ratio: 2}, nil, 201)
			pages = append(pages, "/s/"+id, "/s/"+id+"?view=details", "/s/"+id+"/m/2", "/s/"+id+"/compress", "/s/"+id+"/v/v001", "/s/"+id+"/v/v001?view=blame", "/s/"+id+"/keepits/k1",
				"/compare?v="+id+":v001", "/search?q=owned", "/p/"+string(r.server.Scope.Project.ID)+"?s="+id, "/p/"+string(r.server.Scope.Project.ID)+"/markers", "/p/"+string(r.server.Scope.Project.ID)+"/next", "/")
		}
		for _, at := range pages {
			b.open(at)
			if eval[bool](b, "'owned' in window || document.querySelectorAll('main script, main iframe, main style, main img, main [onerror], main base').length > 0") {
				t.Errorf("%s: a text of transcript %d is part of the page", at, i)
			}
			if at == pages[0] && strings.Contains(eval[string](b, "document.querySelector('main').textContent"), "owned") {
				seen++
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d transcripts show their text", seen)
	}
	b.clean("hostile transcripts")
}

// TestBrowserWithoutScripts creates a compression in a browser that runs none.
func TestBrowserWithoutScripts(t *testing.T) {
	t.Parallel()
	chrome(t)
	r := newRig(t, nil, nil)
	b := newTab(t, r)
	protocol(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(chromedp.Navigate(r.http.URL+"/s/"+sampleSession+"/compress"), chromedp.Click(chromedp.CSS("button.primary")), chromedp.WaitReady(chromedp.CSS(".tabs")))
	at, err := chromedp.Run(b.ctx, chromedp.Location())
	must(t, err)
	if !strings.HasSuffix(at, "/v/v001") {
		t.Errorf("creating leads to %s", at)
	}
}
