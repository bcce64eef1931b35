package stats

// Stats are the figures of one project, or of several together.
type Stats struct {
	Project   string     `json:"projectId,omitempty"` // empty for several
	Name      string     `json:"project,omitempty"`
	Sessions  int        `json:"sessions"`
	Subagents int        `json:"subagents"` // their sessions, which no other figure counts
	Messages  int        `json:"messages"`
	Tokens    int        `json:"tokens"` // of sessions with a token count
	Counted   int        `json:"sessionsCounted"`
	Bytes     int64      `json:"bytes"` // of the transcripts
	Versions  int        `json:"versions"`
	Markers   int        `json:"keepitMarkers"`
	Kept      int        `json:"markersPreserved"` // by all versions together
	Lost      int        `json:"markersSummarized"`
	Weights   []Weight   `json:"markersByWeight"`
	Storage   Storage    `json:"storage"`
	Months    []Month    `json:"months"`
	Ratios    []Ratio    `json:"ratios"`
	Costs     []Cost     `json:"costs"`
	Hooks     []Hook     `json:"hooks"`     // of the whole store
	Handovers []Handover `json:"handovers"` // by event
	Largest   []Size     `json:"largestSessions"`
}

// A Weight counts the fates of the markers of one weight in all versions.
type Weight struct {
	Weight string `json:"weight"`
	Kept   int    `json:"preserved"`
	Lost   int    `json:"summarized"`
}

// A Month has what was captured and stored in one month.
type Month struct {
	Month    string `json:"month"`
	Sessions int    `json:"sessions"` // by last message
	Messages int    `json:"messages"`
	Tokens   int    `json:"tokens"`
	Stored   int64  `json:"storedBytes"` // added by the commits of the month
}

// A Ratio counts the versions of one band of ratios.
type Ratio struct {
	Ratio    string `json:"ratio"`
	Versions int    `json:"versions"`
	Tokens   int    `json:"tokens"`
}

// A Cost is the usage of one model.
type Cost struct {
	Model    string  `json:"model"`
	Requests int     `json:"requests"`
	Input    int     `json:"inputTokens"`
	Output   int     `json:"outputTokens"`
	Dollars  float64 `json:"dollars"`
}

// A Size is the size of one session's transcript.
type Size struct {
	Session string `json:"sessionId"`
	Title   string `json:"title"`
	Bytes   int64  `json:"bytes"`
	Stored  int64  `json:"storedBytes"` // in the packs
}

// A Storage is the disk space of a store. Stored bytes are those of entries in packs.
type Storage struct {
	Packs    int64            `json:"packBytes"` // of the whole store: all reachable entries
	Cache    int64            `json:"cacheBytes"`
	CacheMax int64            `json:"cacheMaxBytes"` // storage.maxCacheSize; 0 is no limit
	Kinds    []KindStorage    `json:"kinds"`
	Caches   []CacheStorage   `json:"cache"`
	Projects []ProjectStorage `json:"projects"` // of the whole store
	Sessions []SessionStorage `json:"sessions"`
	Versions []VersionStorage `json:"versions"`
}

// A KindStorage is the size of one kind of content in the packs.
type KindStorage struct {
	Kind    string `json:"kind"` // sessions, originals, versions, compositions, files, other, records, trees or commits
	Objects int    `json:"objects"`
	Stored  int64  `json:"storedBytes"`
}

// A CacheStorage is one directory of the cache; "" is its top.
type CacheStorage struct {
	Directory string `json:"directory"`
	Files     int    `json:"files"`
	Bytes     int64  `json:"bytes"`
}

// A ProjectStorage is the size of the lanes of one project in the packs.
type ProjectStorage struct {
	Project string `json:"projectId"` // "0000000000000000" for the records of devices
	Name    string `json:"project"`
	Stored  int64  `json:"storedBytes"`
}

// A SessionStorage is the size of one session in the packs: its stream, exact bytes and overflow files.
type SessionStorage struct {
	Session  string `json:"sessionId"`
	Project  string `json:"projectId"`
	Title    string `json:"title"`
	Bytes    int64  `json:"bytes"` // of the transcript
	Stored   int64  `json:"storedBytes"`
	Versions int64  `json:"versionBytes"` // stored for its versions
}

// A VersionStorage is the size of one version in the packs.
type VersionStorage struct {
	Session string  `json:"sessionId"`
	Version string  `json:"versionId"`
	Tokens  int     `json:"tokens"`
	Ratio   float64 `json:"ratio"`
	Stored  int64   `json:"storedBytes"` // 0 if another version has the same text
}

// A Hook summarises the logged runs of the hooks of one event.
type Hook struct {
	Event  string  `json:"event"`
	Runs   int     `json:"runs"`
	Failed int     `json:"failed"`
	P50    float64 `json:"p50Milliseconds"` // inside the program
	P95    float64 `json:"p95Milliseconds"`
	Last   string  `json:"last"` // RFC 3339, in UTC
}

// A Handover counts the contexts that the hooks of one event handed over.
type Handover struct {
	Event      string `json:"event"`
	Count      int    `json:"count"`
	Sessions   int    `json:"sessions"`
	Characters int    `json:"characters"`
}
