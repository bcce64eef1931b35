package records

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// ShortID returns the start of a session's id, for people: eight letters of one that is random, all of one that
// says something, because the starts of those are often the same.
func ShortID(id string) string {
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
	Key     string `json:"key"` // that it was known by then
	Name    string `json:"name,omitempty"`
	Trusted bool   `json:"trusted,omitempty"`
	Revoked bool   `json:"revoked,omitempty"` // it loses access to encrypted remotes
	Dropped bool   `json:"dropped,omitempty"` // its lanes are removed here, and not fetched
}

// The kinds of records. docs/formats.md tells what they mean; a kind never changes its meaning.
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

// ProjectBody describes a project; it is written with the first session.
type ProjectBody struct {
	Identity string `json:"identity"`
	Name     string `json:"name"`
}

// PathBody says that a directory on this device belongs to a project.
type PathBody struct {
	Path     string       `json:"path"`
	Project  refs.Project `json:"project"`
	Identity string       `json:"identity"`
	Name     string       `json:"name"`
	Linked   bool         `json:"linked,omitempty"` // by the user, not found out
}

// A Snapshot is a session as it was at one point of its growth: the body of a "session" record.
// Markers and Typed tell only of what came after the snapshot before it in the same generation.
type Snapshot struct {
	Session    string       `json:"session"`
	Generation int          `json:"generation"`
	Original   objects.Hash `json:"original"` // name of the clean stream up to here
	Size       int64        `json:"size"`     // bytes of it
	Segments   int          `json:"segments"`
	Rules      string       `json:"rules,omitempty"`    // the rule set that made it clean
	Withheld   bool         `json:"withheld,omitempty"` // the exact bytes need a patch of originals.git

	Scan transcript.Carry `json:"scan"` // what a pass over the bytes found; the next scan goes on from it

	Source  string     `json:"source,omitempty"` // where the file was, if not where it was before
	Parent  string     `json:"parent,omitempty"` // the session whose subagent this is
	Files   []FileRef  `json:"files,omitempty"`  // overflow files of tool results
	Markers []Mark     `json:"markers,omitempty"`
	Typed   []TypedKey `json:"typed,omitempty"`
	Echo    []int      `json:"echo,omitempty"` // typed messages that another session or mem wrote first
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

// A TypedKey recognises a message that the user typed: the first 16 hexadecimal digits of the BLAKE3
// of role, timestamp and text. A copy of the message, in a fork or a resumed composition, has the same.
type TypedKey struct {
	N   int            `json:"n"`
	Key transcript.Key `json:"key"`
}

// A Version is one compression of a session: the body of a "version" record.
type Version struct {
	Session string       `json:"session"`
	Label   string       `json:"label"`            // v001; unique per session and device
	Source  string       `json:"source,omitempty"` // label of the version whose text it was made from
	Since   string       `json:"since,omitempty"`  // label of the version whose messages it goes on from
	Base    objects.Hash `json:"base,omitzero"`    // record of that version, of either
	// ForTier or ForComposition: mem made it for that; "" if a person asked for it
	For        string             `json:"for,omitempty"`
	Original   objects.Hash       `json:"original,omitzero"`
	Derivation lineage.Derivation `json:"derivation"`
	Engine     string             `json:"engine"`
	Settings   VersionSettings    `json:"settings"`

	TokensIn    int     `json:"tokens_in"`
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
	// Deleted says that the version was taken out of the lists; its bytes stay.
	Deleted bool      `json:"-"`
	Revoked string    `json:"-"` // why it is hidden, "" if it is not
	Used    Rehearsal `json:"-"`

	ByStranger bool        `json:"-"` // a device that is not trusted made it
	Shown      string      `json:"-"` // the label with the device behind it, if another device made one of the same label
	Key        lineage.Key `json:"-"` // of Derivation, once the version is part of a State
}

// What mem makes versions for without being asked for them.
const (
	ForTier        = "tier"
	ForComposition = "composition"
)

// Asked reports whether a person asked for the version. Such a version leaves the lists only when it, or its
// session, is named.
func (v *Version) Asked() bool { return v.For == "" }

// Origin is the content whose messages the version names: the input of its derivation, unless it was made from another
// version.
func (v *Version) Origin() objects.Hash {
	if v.Original.IsZero() && len(v.Derivation.Inputs) > 0 {
		return v.Derivation.Inputs[0]
	}
	return v.Original
}

// Name returns what the version is called on this device: its label or, if other devices made one of the same
// label of the session and this device did not make this one, the label with its device, v002~3b0e55d1.
func (v *Version) Name() string { return cmp.Or(v.Shown, v.Label) }

// VersionSettings are what a user asked for, in the words of the seeds' CompressionSettings.
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

	Decay keepit.Decay `json:"keepitDecay,omitzero"` // other constants than the usual ones
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
	Typed      []transcript.Key   `json:"typed,omitempty"` // keys of the messages it puts into a session
	Tier       string             `json:"tier,omitempty"`  // weekly or monthly: it is a summary that mem made

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

// SetBody assigns a value to a field of a thing; the last one in the order of records wins.
type SetBody struct {
	Target string `json:"target"` // session/<id>, version/<record>, composition/<name>
	Field  string `json:"field"`  // deleted
	Value  bool   `json:"value"`
}

// A NameBody gives a session a title, or a session or a version a tag: the body of a "name" record. The last
// one about the title of a session wins, and the last one about a tag of a project: a tag names one thing.
type NameBody struct {
	Target  string `json:"target"` // session/<id>; of a tag also version/<record>
	Field   string `json:"field"`  // [FieldTitle] or [FieldTag]
	Name    string `json:"name"`
	Removed bool   `json:"removed,omitempty"` // the title is that of the transcript again; nothing has the tag
}

// The fields of a [NameBody].
const (
	FieldTitle = "title"
	FieldTag   = "tag"
)

// Slot is what a record speaks of: the title of a session, or a tag.
func (b NameBody) Slot() string {
	if b.Field == FieldTag {
		return FieldTag + "/" + b.Name
	}
	return b.Field + "/" + b.Target
}

// An Override is a user's later word on a marker: the body of a "keepit" record. It speaks of the text from
// Start to End, in bytes, of what the user typed in a message: of a marker that stands there, or of one that
// was Added. The last of those that speak of the same text wins.
type Override struct {
	Session    string        `json:"session"`
	Generation int           `json:"generation"`
	Message    int           `json:"message"`
	Start      int           `json:"start"`
	End        int           `json:"end"`
	Weight     keepit.Weight `json:"weight"`
	Added      bool          `json:"added,omitempty"`   // no tag marks the text
	Removed    bool          `json:"removed,omitempty"` // the text counts as any other
}

// Plan returns the plan that the version was made by.
func (v *Version) Plan() (compress.Plan, error) {
	var p compress.Plan
	if err := json.Unmarshal(v.Derivation.Recipe.Params, &p); err != nil {
		return p, fmt.Errorf("plan of %s: %w", v.Label, err)
	}
	return p, nil
}

// ShareBody says that text of one project may stand in compositions of another one that travels: the body of a
// "share" record. The last one of a pair wins.
type ShareBody struct {
	From    refs.Project `json:"from"`
	With    refs.Project `json:"with"`
	Allowed bool         `json:"allowed"`
}
