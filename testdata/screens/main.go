// Command screens takes pictures of the pages of "mem serve" on the sample sessions, for the README and to look at.
//
//	go run ./testdata/screens -out DIR [-theme dark] [-width 1280] [PAGE...]
//
// It needs a Chromium: MEM_CHROME, or one on PATH.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// A shot is a page and the name of its picture.
type shot struct{ name, path string }

// shots are the main screens. P stands for the project, S for the session that has markers and versions.
func shots() []shot {
	return []shot{
		{"home", "/"}, {"browser", "/p/P?s=S"}, {"session", "/s/S"}, {"transcript", "/s/S?view=messages"}, {"message", "/s/S/m/13"},
		{"compress", "/s/S/compress?ratio=30&distance=5"}, {"version", "/s/S/v/v001"}, {"blame", "/s/S/v/v001?view=blame"},
		{"compare", "/compare?v=S:v001&v=S:v002"}, {"details", "/s/S?view=details"}, {"compose", "/p/P/compose?part-1=S&budget=8000&name=feature-y"},
		{"compositions", "/p/P/compositions"}, {"composition", "/p/P/c/feature-x"}, {"editor", "/s/S/keepits/k1"}, {"markers", "/p/P/markers"},
		{"search", "/search?q=stock"}, {"next", "/p/P/next"}, {"facts", "/p/P/facts"}, {"history", "/p/P/history"}, {"stats", "/p/P/stats"},
		{"settings", "/settings"}, {"sync", "/sync"}, {"doctor", "/doctor?check=1"},
	}
}

func main() {
	out := flag.String("out", "", "where pictures go")
	theme := flag.String("theme", "light", "light or dark")
	width := flag.Int64("width", 1280, "of the window")
	height := flag.Int64("height", 800, "of the window; 0 is the whole page")
	flag.Parse()
	if err := run(context.Background(), *out, *theme, *width, *height, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out, theme string, width, height int64, only []string) error {
	dir, err := os.MkdirTemp("", "mem-screens-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	address, stop, err := serve(ctx, dir)
	if err != nil {
		return err
	}
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.ExecPath(chrome()))
	ctx, end := chromedp.NewExecAllocator(ctx, opts...)
	defer end()
	ctx, end = chromedp.NewContext(ctx)
	defer end()
	window := height
	if window == 0 {
		window = 800
	}
	base, _, _ := strings.Cut(address, "/?")
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, window), chromedp.Navigate(address), chromedp.Click(chromedp.CSS(`button[value="`+theme+`"]`)), chromedp.WaitVisible(chromedp.CSS(`html[data-theme]`))); err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	project, err := chromedp.Run(ctx, chromedp.Evaluate[string](`[...document.querySelectorAll("#projects a")].find(a => a.textContent === "shop").pathname.split("/")[2]`))
	if err != nil {
		return err
	}
	for _, s := range shots() {
		if len(only) > 0 && !slices.Contains(only, s.name) {
			continue
		}
		at := base + strings.NewReplacer("/P", "/"+project, "S:", session+":", "=S", "="+session, "/S", "/"+session).Replace(s.path)
		take := chromedp.CaptureScreenshot()
		if height == 0 {
			take = chromedp.FullScreenshot(100)
		}
		if err := chromedp.Do(ctx, chromedp.Navigate(at), chromedp.WaitReady(chromedp.CSS("main")), chromedp.Sleep(300*time.Millisecond)); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		b, err := chromedp.Run(ctx, take)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		name := filepath.Join(out, s.name+".png")
		if b, err = smaller(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			return err
		}
		fmt.Println(name, len(b))
	}
	return nil
}

// smaller writes a picture with its 256 most frequent colours.
func smaller(b []byte) ([]byte, error) {
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	counts := map[color.RGBA]int{}
	box := img.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			counts[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(counts[b]-counts[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B))
	})
	var p color.Palette
	for _, c := range colours[:min(256, len(colours))] {
		p = append(p, c)
	}
	out := image.NewPaletted(box, p)
	draw.Draw(out, box, img, box.Min, draw.Src)
	var small bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, out)
	return small.Bytes(), err
}

// session is the one of the sample that has markers.
const session = "6ecd8c99-4036-403d-bf84-cf8400f67836"

// chrome finds a browser.
func chrome() string {
	for _, name := range []string{os.Getenv("MEM_CHROME"), "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return "chromium"
}

// serve makes a memory of the sample below dir and serves it.
func serve(ctx context.Context, dir string) (address string, stop func(), err error) {
	mem := filepath.Join(dir, "mem")
	claude := filepath.Join(dir, "claude")
	env := append(os.Environ(), "MEM_DIR="+filepath.Join(dir, "memory"), "CLAUDE_CONFIG_DIR="+claude, "HOME="+dir, "MEM_NOW=2026-09-01T12:00:00Z", "TZ=UTC")
	if b, err := exec.CommandContext(ctx, "go", "build", "-o", mem, "./cmd/mem").CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("build: %w: %s", err, b)
	}
	if err := os.CopyFS(filepath.Join(claude, "projects"), os.DirFS("testdata/transcripts/projects")); err != nil {
		return "", nil, err
	}
	for _, line := range []string{
		"init -q", "import -q", "compress " + session + " -r 10 -q", "compress " + session + " -r 30 --distance 5 -q", "compress " + session + " --preset standard -q",
		"compose feature-x " + session + ":v001 9b2cf535 --budget 6000 -q -p shop", "rules add -q -p shop constraint|Prices are whole cents, never floats.",
		"facts add -q -p shop decision|Stock is reserved when an order is placed.",
	} {
		words, text, found := strings.Cut(line, "|")
		args := strings.Fields(words)
		if found {
			args = append(args[:len(args)-1], text)
		}
		cmd := exec.CommandContext(ctx, mem, args...)
		cmd.Env = env
		if b, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "mem %s: %v: %s", line, err, b)
		}
	}
	cmd := exec.CommandContext(ctx, mem, "serve", "-p", "shop")
	cmd.Env = env
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	address, err = bufio.NewReader(pipe).ReadString('\n')
	return strings.TrimSpace(address), func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }, err
}
