package refs

import "github.com/memvcs/mem/refs/lane"

// What a store is made of, as package lane defines it.
type (
	// A Project is the id of a project: 16 lower-case hexadecimal digits.
	Project = lane.Project
	// A Lane is a branch of memory.git: where a device is in a project.
	Lane = lane.Lane
	// A Tip is the newest commit of a lane.
	Tip = lane.Tip
	// A Record is one immutable statement of a device.
	Record = lane.Record
	// An Entry is one operation: a commit of a lane.
	Entry = lane.Entry
)

// Home is the project whose lanes only hold the devices' own records, so that a new store already has
// a commit and plain git can log and clone it.
const Home = lane.Home
