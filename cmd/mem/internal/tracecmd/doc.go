// Package tracecmd has the commands that trace a text to its sources: blame, lineage and why.
package tracecmd
