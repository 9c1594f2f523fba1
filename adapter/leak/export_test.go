package leak

// Place is one path of a row, for tests.
type Place struct {
	Leg, Rule, Method string
	Path              []string
	// Beside must be in the object that holds the member, Holding in its value.
	Beside, Holding string
}

var tables = map[string]*table{
	"legacy": legacyTable, "modern": modernTable, "legacy own": legacyOwnTable, "modern own": modernOwnTable,
}

// Places lists every path of every row of a leg; a row for all methods has the
// method of a vendor.
func Places(leg string) (places []Place) {
	t := tables[leg]
	for _, r := range t.rows {
		methods := r.methods
		if methods == nil {
			methods = []string{"com.acme/dig"}
		}
		for _, method := range methods {
			for _, path := range r.at {
				places = append(places, Place{leg, r.rule, method, path, r.beside, r.holding})
			}
		}
	}
	return places
}

// Rules names the rules of a leg.
func Rules(leg string) []string {
	return tables[leg].names()
}
