// Package lexical classifies runs of characters: names, placeholders, references to variables, quoted values and
// random values, and finds where they end. It contains no rules.
package lexical
