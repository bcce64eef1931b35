// Package searchcmd has the commands that find sessions and messages: search and suggest.
package searchcmd
