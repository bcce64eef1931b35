package term

// RoomyStack makes the stack grow once, while there is nothing on it. Later, in the middle of a command, the runtime would
// have to look up every function on it, in tables that have to come from the disk's cache first: a twentieth of a short run.
//
//go:noinline
func RoomyStack(use bool) (b byte) {
	if use { // it never is: what counts is the room that the function asks for
		var room [24 << 10]byte
		for i := range room {
			room[i] = byte(i)
		}
		b = room[len(room)/2]
	}
	return b
}
