// Package exportcmd has mem export, which writes memory for readers outside it: archives, pages and JSON.
package exportcmd
