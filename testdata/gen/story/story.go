// Package story makes the transcripts of testdata: three made-up projects of one developer, told by the clients of a
// year. They hold every kind of record and every trap that real transcripts were found to hold.
package story

// The sessions, newest last. Tests and documents name them.
const (
	Basket  = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed" // 1.0.98: sidechain inline, no final newline
	Mail    = "2c5ea4c0-4067-41e9-8bad-9b1deb4d3b7d" // 2.0.28: subagent beside the session, summaries, queue of old clients
	Blog    = "3f333df6-90a4-4fda-8dd3-9485d27cee36" // 2.1.12: Korean, a directory whose name is not ASCII
	Cents   = "6ecd8c99-4036-403d-bf84-cf8400f67836" // 2.1.40: the main story
	Torn    = "7d444840-9dc0-41d1-b245-5ffdce74fad2" // 2.1.51: what crashes and restores leave
	Rounded = "8f14e45f-ceea-467f-ab9b-1c5d2e0b7c33" // 2.1.88: Japanese and Chinese, the pricing library
	Stock   = "9b2cf535-f27b-4a3e-8d5b-64b0e3f0a1d2" // 2.1.222: the newest records, overflow file, subagent of its own
)

// Files returns the content of every file, by its path below testdata/transcripts.
func Files() map[string][]byte {
	files := map[string][]byte{}
	for _, tell := range []func(put func(name string, b []byte)){basket, mail, blog, cents, torn, rounded, stock} {
		tell(func(name string, b []byte) { files["projects/"+name] = b })
	}
	return files
}
