package names

// A candidate is one word that could stand next, with a few words about it.
type Candidate struct{ Value, About string }
