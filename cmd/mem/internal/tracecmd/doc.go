// Package tracecmd has the commands that trace a text to its sources: blame and why.
package tracecmd
