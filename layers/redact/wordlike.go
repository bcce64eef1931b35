package redact

import (
	"bytes"
	"strings"
)

// bigrams is the cost in bits, at most 9, of each small letter after another in the words of English and of programs:
// the digit at 27*(a-'a') + b-'a' is that of b after a.
const bigrams = `95449759596353959342668869
36673989369288479446388959
39583983594488289563589979
48742779289577489547477969
47436668799553857334867589
49663487299487379455499969
49692754399564379347489989
29872799399757389564599979
56455559998442369543959795
39952799598967369836299999
47761659397575668736697969
38752779298398379855579939
25772899396758439957499989
47443628496676579833668989
66448669696442549345455899
39773886498399349254599979
99778999699798889766099997
38652769396656379544578959
59492774396678548842496959
39672784299679469345598859
44464569499442749333999898
37781899399869579859989999
28873884399674379347999999
49473986399879829882849669
66574797399533529634996976
39771999399797589979899964
`

// Unwordly reports whether value, of at least eight letters, can hardly consist of words: its letters follow one another
// as they do not in words, or capitals and marks divide it into pieces that are too short. Words cost 3.3 bits a letter
// on average and 5 in a hundred of them more than 4.3, random letters more than 4.3 in 99 of a hundred.
// An identifier of several words has abbreviations, so that its letters cost up to 5.2.
func Unwordly(value []byte) bool {
	if identifier(value) {
		return unwordly(value, 52, 3)
	}
	return unwordly(value, 43, 3)
}

// identifier reports whether value is a name of several words of two letters or more, as in dbConn or DB_CONN.
func identifier(value []byte) bool {
	pieces, size := 0, 0
	for i, c := range value {
		if !Letters.Has(c) && c != '_' {
			return false
		}
		if c == '_' || i > 0 && c <= 'Z' && value[i-1] > 'Z' && value[i-1] != '_' {
			if size == 1 || c == '_' && size == 0 {
				return false
			}
			pieces, size = pieces+1, 0
		}
		if c != '_' {
			size++
		}
	}
	return pieces > 0 && size > 1
}

// unwordly is [Unwordly] with the tenths of a bit that a letter of words costs at most, and the number of letters that
// the pieces of several words have at least.
func unwordly(value []byte, most int, size float64) bool {
	letters, pairs, cost, pieces := 0, 0, 0, 0
	small := traitsOf(value).Lower > 0
	var last byte // the letter before, 0 for none
	capitals := 0 // before here, in a row
	for _, c := range value {
		if !Letters.Has(c) {
			last = 0
			continue
		}
		letters++
		if capitals++; c > 'Z' {
			capitals = 0
		}
		switch {
		case last == 0 || c <= 'Z' && last > 'Z':
			pieces, capitals = pieces+1, boolInt(c <= 'Z')
		case !small || c > 'Z' || capitals > 4: // not in an abbreviation
			pairs++
			cost += int(bigrams[27*int(lower[last]-'a')+int(lower[c]-'a')] - '0')
		}
		last = c
	}
	if letters < 8 {
		return false
	}
	return pairs > 3 && cost*10 >= most*pairs || pieces > 3 && float64(letters) < size*float64(pieces) ||
		letters >= 12 && CaseChanges(value) > 1
}

// Groups returns the length of an application password at the start of text, four groups of four small letters with
// blanks between them, 0 if there is none.
func Groups(text []byte) int {
	const length = 4*4 + 3
	if len(text) < length || len(text) > length && Alnum.Has(text[length]) {
		return 0
	}
	for i, c := range text[:length] {
		if blank := i%5 == 4; blank && c != ' ' || !blank && (c < 'a' || c > 'z') {
			return 0
		}
	}
	if !Unwordly(text[:length]) {
		return 0
	}
	return length
}

// passphrase reports whether value is at least n words, joined by one kind of mark. None of them speaks about passwords
// or examples, and one at most is a small word, as in a sentence.
func passphrase(value []byte, n int) bool {
	at := bytes.IndexAny(value, "-_. ")
	if at < 0 {
		return false
	}
	count, small := 0, 0
	for part := range bytes.SplitSeq(value, value[at:at+1]) {
		count++
		if len(part) < 2 || Letters.Run(part, len(part)) < len(part) || len(part) > 12 || aboutPasswords(part) {
			return false
		}
		if len(part) == 2 || smallWord(part) {
			small++
		}
	}
	return count >= n && small < 2
}

// aboutPasswords reports whether word belongs to a text about a password, a message or an example.
func aboutPasswords(word []byte) bool {
	s := strings.ToLower(string(word))
	for _, w := range [...]string{"pass", "secret", "credential", "example", "change", "fake", "dummy", "placeholder", "invalid",
		"require", "incorrect", "forgot", "reset", "confirm", "encrypt", "login", "auth", "character", "sample"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// smallWord reports whether word is one of those that make a sentence of others.
func smallWord(word []byte) bool {
	switch strings.ToLower(string(word)) {
	case "your", "the", "here", "please", "enter", "must", "should", "and", "not", "for", "with", "from", "this", "that", "are",
		"was", "has", "can", "new", "old", "current", "testing", "wrong", "too", "you", "use", "set",
		"all", "any", "does", "did", "have", "when", "will", "least", "super", "very", "some", "only", "same", "other", "into", "user":
		return true
	}
	return false
}

// unguessable reports whether value can be neither a word nor a phrase nor an address, so that the same text elsewhere is
// the same secret: it has no blanks, and mixes letters and digits as no handwritten word does, or all kinds of
// characters, or its letters as no words do.
func unguessable(value []byte) bool {
	if bytes.ContainsAny(value, " \t\r\n") {
		return false
	}
	t := traitsOf(value)
	mixed := t.Digits > 0 && t.Upper > 0 && t.Lower > 0 && !dashedWords(value) &&
		(t.Strange > 1 && len(value) >= 10 || bytes.ContainsAny(value, "-_.:/") && len(value) >= 12)
	most := 50
	if identifier(value) {
		most = 60
	}
	return mixed || t.Digits > 0 && Random(value) || len(value) >= 12 && unwordly(value, most, 3)
}
