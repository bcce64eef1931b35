// Package provenance compares versions, traces lines to their messages, and explains what things are based on.
package provenance
