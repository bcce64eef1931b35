package tokens

import _ "embed"

// o200k is the vocabulary of o200k_base, as OpenAI publishes it (o200k.LICENSE), as a hash table that is read in
// place. All numbers are little-endian:
//
//	buckets × uint32  ends of the entries of each bucket
//	n × uint64        entries by bucket and rank: rank (18 bits), length (8), offset in the texts (22), check (16)
//	bytes             the texts of all tokens, by rank
//
// The bucket and the check of a token are derived from its hash. TestVocabulary compares the file with the library
// and writes it with -update.
//
//go:embed o200k.bin
var o200k string

const (
	bucketBits = 16
	buckets    = 1 << bucketBits
	noRank     = 1<<32 - 1
)

// An entry describes a token.
type entry uint64

func (e entry) rank() uint32  { return uint32(e & (1<<18 - 1)) }
func (e entry) length() int   { return int(e >> 18 & (1<<8 - 1)) }
func (e entry) place() int    { return int(e >> 26 & (1<<22 - 1)) }
func (e entry) check() uint16 { return uint16(e >> 48) }

// rankOf returns the rank of the token s, noRank if s is not a token.
func rankOf(s string) uint32 {
	bucket, check := hashOf(s)
	from, to := 0, endOf(bucket)
	if bucket > 0 {
		from = endOf(bucket - 1)
	}
	for i := from; i < to; i++ {
		e := entryAt(i)
		if e.check() == check && e.length() == len(s) && o200k[textsAt()+e.place():][:len(s)] == s {
			return e.rank()
		}
	}
	return noRank
}

// hashOf returns the bucket and the check of the token s.
func hashOf(s string) (bucket int, check uint16) {
	h := uint64(len(s)) // FNV-1a, with a last step that spreads short strings
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	h ^= h >> 29
	h *= 0x9e3779b97f4a7c15
	return int(h >> (64 - bucketBits)), uint16(h >> (64 - bucketBits - 16))
}

func endOf(bucket int) int { return int(uint32At(4 * bucket)) }

func entryAt(i int) entry {
	at := 4*buckets + 8*i
	return entry(uint32At(at)) | entry(uint32At(at+4))<<32
}

// textsAt is the offset of the texts, after the last entry.
func textsAt() int { return 4*buckets + 8*endOf(buckets-1) }

func uint32At(at int) uint32 {
	b := o200k[at : at+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}
