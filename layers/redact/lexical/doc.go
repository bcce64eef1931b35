// Package lexical tells what a run of characters looks like: a name, a placeholder, a reference to a variable,
// a quoted or random value, and where it ends. It knows no rule.
package lexical
