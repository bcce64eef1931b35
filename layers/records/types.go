package records

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// deviceDigits is the number of digits of a device in the ID of a session that went on differently on several devices.
const deviceDigits = 8

// SessionOn returns the ID of a session that went on differently on several devices, as it went on on one of them: "~" and the
// first digits of the device follow its ID.
func SessionOn(id, device string) string { return id + "~" + device[:min(deviceDigits, len(device))] }

// CutDevice splits the result of [SessionOn]. The device is empty for every other ID.
func CutDevice(id string) (session, device string) {
	i := len(id) - deviceDigits - 1
	if i > 0 && id[i] == '~' && strings.Trim(id[i+1:], "0123456789abcdef") == "" {
		return id[:i], id[i+1:]
	}
	return id, ""
}

// ShortID returns a session ID for display: the first eight digits of a random ID, and any other ID whole, because such
// IDs often start alike.
func ShortID(id string) string {
	if session, device := CutDevice(id); device != "" {
		return SessionOn(ShortID(session), device)
	}
	rest := strings.TrimPrefix(id, "agent-")
	const most = 8
	if len(rest) <= most || strings.Trim(rest[:most], "0123456789abcdef") != "" {
		return id
	}
	return id[:len(id)-len(rest)+most]
}

// PeerBody contains the user's settings for another device: the body of a "peer" record. The last one for a device
// wins.
type PeerBody struct {
	Device  string `json:"device"`
	Key     string `json:"key"` // its key at that time
	Name    string `json:"name,omitempty"`
	Trusted bool   `json:"trusted,omitempty"`
	Revoked bool   `json:"revoked,omitempty"` // it loses access to encrypted remotes
	Dropped bool   `json:"dropped,omitempty"` // its lanes are removed here, and not fetched
}

// The kinds of records, see docs/formats.md. The meaning of a kind never changes.
const (
	KindProject     = "project"
	KindPath        = "path" // in the home lane only
	KindSession     = "session"
	KindVersion     = "version"
	KindComposition = "composition"
	KindSet         = "set"
	KindName        = "name"
	KindKeepit      = "keepit"
	KindUse         = "use"
	KindCost        = "cost"  // in the home lane only
	KindPeer        = "peer"  // in the home lane only
	KindShare       = "share" // in the home lane only
)

// ProjectBody describes a project. It is written with the first session.
type ProjectBody struct {
	Identity string `json:"identity"`
	Name     string `json:"name"`
}

// PathBody assigns a directory on this device to a project.
type PathBody struct {
	Path     string       `json:"path"`
	Project  refs.Project `json:"project"`
	Identity string       `json:"identity"`
	Name     string       `json:"name"`
	Linked   bool         `json:"linked,omitempty"` // by the user, not detected
}

// A Snapshot is a session at one point of its growth: the body of a "session" record. Markers and Typed only list
// what is new since the previous snapshot of the same generation.
type Snapshot struct {
	Session    string       `json:"session"`
	Generation int          `json:"generation"`
	Original   objects.Hash `json:"original"` // name of the clean stream up to here
	Size       int64        `json:"size"`     // bytes of it
	Segments   int          `json:"segments"`
	Rules      string       `json:"rules,omitempty"`    // the rule set of the redaction
	Withheld   bool         `json:"withheld,omitempty"` // the exact bytes need a patch of originals.git

	Scan transcript.Carry `json:"scan"` // result of the scan; the next scan continues from it

	Source  string     `json:"source,omitempty"` // path of the file, if it has changed
	Parent  string     `json:"parent,omitempty"` // the session whose subagent this is
	ForkOf  string     `json:"forkOf,omitempty"` // in the first snapshot: the session that a fork was made from
	Files   []FileRef  `json:"files,omitempty"`  // overflow files of tool results
	Markers []Mark     `json:"markers,omitempty"`
	Typed   []TypedKey `json:"typed,omitempty"`
	Echo    []int      `json:"echo,omitempty"` // typed messages that another session or mem wrote first
	// of the whole generation up to here: the messages that the user withdrew, and the markers in prompts that wait in
	// the client's queue or left it without a record
	Rewound transcript.Spans `json:"rewound,omitempty"`
	Waiting []Mark           `json:"waiting,omitempty"`
}

// A FileRef is a file that belongs to a session, stored as an object.
type FileRef struct {
	Name     string       `json:"name"`
	Hash     objects.Hash `json:"hash"` // of the clean bytes
	Size     int64        `json:"size"` // of the clean bytes
	Withheld bool         `json:"withheld,omitempty"`
}

// A Mark is a keepit marker of a session: bytes Start to End of what the user typed in message N.
type Mark struct {
	N       int           `json:"n"`
	Weight  keepit.Weight `json:"weight"`
	Start   int           `json:"start"`
	End     int           `json:"end"`
	Clamped bool          `json:"clamped,omitempty"`
}

// A TypedKey identifies a message that the user typed: the first 16 hexadecimal digits of the BLAKE3 of role, timestamp
// and text. A copy of the message, in a fork or a resumed composition, has the same key.
type TypedKey struct {
	N        int            `json:"n"`
	Key      transcript.Key `json:"key"`
	Messages int            `json:"messages,omitempty"` // of the session before it
}

// A Version is one compression of a session: the body of a "version" record.
type Version struct {
	Session string       `json:"session"`
	Label   string       `json:"label"`            // v001; unique per session and device
	Source  string       `json:"source,omitempty"` // label of the version that was compressed
	Since   string       `json:"since,omitempty"`  // label of the version that it continues
	Base    objects.Hash `json:"base,omitzero"`    // record of the version in Source or Since
	// messages up to this one are left out, because another part of the composition that it was made for has them
	After int `json:"after,omitempty"`
	// ForTier or ForComposition if mem made it on its own, "" if a user asked for it
	For        string             `json:"for,omitempty"`
	Original   objects.Hash       `json:"original,omitzero"`
	Derivation lineage.Derivation `json:"derivation"`
	Engine     string             `json:"engine"`
	Settings   VersionSettings    `json:"settings"`

	TokensIn    int     `json:"tokens_in"`
	TokensL1    int     `json:"tokens_l1"` // of TokensIn, what a version can keep
	TokensOut   int     `json:"tokens_out"`
	Counter     string  `json:"counter"` // how tokens were counted
	MessagesIn  int     `json:"messages_in"`
	MessagesOut int     `json:"messages_out"`
	Ratio       float64 `json:"ratio"` // tokens in / tokens out, two decimals
	Preserved   int     `json:"keepit_preserved"`
	Summarised  int     `json:"keepit_summarised"`

	Receipt engines.Receipt `json:"receipt,omitzero"` // of a model

	ID     objects.Hash `json:"-"` // of the record
	Device string       `json:"-"`
	Time   time.Time    `json:"-"`
	// Deleted hides the version. Its bytes stay.
	Deleted bool      `json:"-"`
	Revoked string    `json:"-"` // why it is hidden, "" if it is not
	Used    Rehearsal `json:"-"`

	Shown string      `json:"-"`           // label and device, if another device has the same label
	Key   lineage.Key `json:"-" cache:"+"` // of Derivation, once the version is part of a State
}

// Purposes of versions that mem makes on its own.
const (
	ForTier        = "tier"
	ForComposition = "composition"
)

// Asked reports whether a user asked for the version. Such a version is only hidden by name, or with its session.
func (v *Version) Asked() bool { return v.For == "" }

// Origin returns the clean stream whose messages the version refers to: the input of its derivation, unless it was made
// from another version.
func (v *Version) Origin() objects.Hash {
	if v.Original.IsZero() && len(v.Derivation.Inputs) > 0 {
		return v.Derivation.Inputs[0]
	}
	return v.Original
}

// Whole reports whether the version is of all of its session, as it was then.
func (v *Version) Whole() bool { return v.Since == "" && v.After == 0 }

// Name returns the name of the version on this device: its label or, if another device made it and the label is not
// unique, the label with its device, v002~3b0e55d1.
func (v *Version) Name() string { return cmp.Or(v.Shown, v.Label) }

// VersionSettings are the settings that a user asked for.
type VersionSettings struct {
	Mode           string `json:"mode"` // uniform, tiered, delta
	Ratio          int    `json:"compactionRatio,omitempty"`
	Tokens         int    `json:"tokens,omitempty"`
	Aggressiveness string `json:"aggressiveness,omitempty"`
	Preset         string `json:"tierPreset,omitempty"`
	Tiers          string `json:"customTiers,omitempty"`
	Skip           int    `json:"skipFirstMessages,omitempty"`
	Keepit         string `json:"keepitMode"`
	Distance       int    `json:"sessionDistance"`
	Requested      string `json:"requestedModel,omitempty"` // of a version without a model: the one that was asked for

	Decay keepit.Decay `json:"keepitDecay,omitzero"` // if not the default
}

// A Composition is a named context made of several parts: the body of a "composition" record.
type Composition struct {
	Name       string             `json:"name"`
	Budget     int                `json:"budget"`
	Strategy   string             `json:"strategy"`
	Parts      []CompositionPart  `json:"parts"`
	Derivation lineage.Derivation `json:"derivation"`
	Tokens     int                `json:"tokens"`
	Counter    string             `json:"counter"`
	Messages   int                `json:"messages"`
	Typed      []transcript.Key   `json:"typed,omitempty"` // keys of its messages in a session
	Tier       string             `json:"tier,omitempty"`  // weekly or monthly, if it is a summary by mem

	ID      objects.Hash `json:"-"`
	Device  string       `json:"-"`
	Time    time.Time    `json:"-"`
	Deleted bool         `json:"-"`
	Revoked string       `json:"-"` // why it is hidden, "" if it is not
	Used    Rehearsal    `json:"-"`
}

// Frame returns the tokens of c that belong to no part: headings, sources and tags.
func (c *Composition) Frame() int {
	n := c.Tokens
	for _, p := range c.Parts {
		n -= p.Tokens
	}
	return n
}

// A CompositionPart is one component of a composition.
type CompositionPart struct {
	Project refs.Project `json:"project"`
	Session string       `json:"session"`
	Label   string       `json:"label"` // of the version, or "original"
	Output  objects.Hash `json:"output"`
	Tokens  int          `json:"tokens"`
	Reason  string       `json:"recompressed,omitempty"` // why a version was made for the composition
}

// SetBody assigns a value to a field of its target. The last record wins.
type SetBody struct {
	Target string `json:"target"` // session/<id>, version/<record>, composition/<name>
	Field  string `json:"field"`  // deleted
	Value  bool   `json:"value"`
}

// A NameBody gives a session a title, or a session or version a tag: the body of a "name" record. The last record for a
// title or a tag wins. A tag of a project has one target.
type NameBody struct {
	Target  string `json:"target"` // session/<id>; of a tag also version/<record>
	Field   string `json:"field"`  // [FieldTitle] or [FieldTag]
	Name    string `json:"name"`
	Removed bool   `json:"removed,omitempty"` // restores the title of the transcript, or deletes the tag
}

// The fields of a [NameBody].
const (
	FieldTitle = "title"
	FieldTag   = "tag"
)

// Slot identifies the title of a session or a tag. The last record for a slot wins.
func (b NameBody) Slot() string {
	if b.Field == FieldTag {
		return FieldTag + "/" + b.Name
	}
	return b.Field + "/" + b.Target
}

// An Override changes, adds or removes a marker: the body of a "keepit" record. It applies to bytes Start to End of
// what the user typed in a message. The last record for the same text wins.
type Override struct {
	Session    string        `json:"session"`
	Generation int           `json:"generation"`
	Message    int           `json:"message"`
	Start      int           `json:"start"`
	End        int           `json:"end"`
	Weight     keepit.Weight `json:"weight"`
	Added      bool          `json:"added,omitempty"`   // the text has no tag
	Removed    bool          `json:"removed,omitempty"` // the text has no weight
}

// Plan decodes the plan of the compression.
func (v *Version) Plan() (planning.Plan, error) {
	var p planning.Plan
	if err := json.Unmarshal(v.Derivation.Recipe.Params, &p); err != nil {
		return p, fmt.Errorf("plan of %s: %w", v.Label, err)
	}
	return p, nil
}

// ShareBody allows text of one project in compositions of another one that is pushed: the body of a "share" record. The
// last record for a pair wins.
type ShareBody struct {
	From    refs.Project `json:"from"`
	With    refs.Project `json:"with"`
	Allowed bool         `json:"allowed"`
}
