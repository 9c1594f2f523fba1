package wire

import "strings"

// Member is one member of an object. Its value points into the received text.
type Member struct {
	// Name is the decoded name.
	Name string
	// Value is the member's value as received.
	Value Value

	rawName Value // as received, quotes and escapes included
}

// Object is a view of an object whose member names are known to be unique.
// The zero Object has no members.
type Object struct {
	raw     Value
	members []Member
}

// mapThreshold is the member count from which duplicates are looked for with a
// set instead of by comparison, so that a hostile object costs linear time.
const mapThreshold = 24

// ParseObject returns a view of the object v. The error is a *[DecodeError]
// that names path when v is not an object, and the member when a name occurs
// twice.
func ParseObject(v Value, path string) (Object, error) {
	if !v.IsObject() {
		return Object{}, Wrong(path, "an object")
	}
	members := make([]Member, 0, min(mapThreshold, 1+strings.Count(string(v[:min(len(v), 2048)]), ",")))
	var seen map[string]struct{}
	for m := range v.Members() {
		if seen == nil && len(members) == mapThreshold {
			seen = make(map[string]struct{}, 2*mapThreshold)
			for _, old := range members {
				seen[old.Name] = struct{}{}
			}
		}
		if repeated(members, seen, m.Name) {
			return Object{}, Wrong(Join(path, m.Name), "each name only once")
		}
		if seen != nil {
			seen[m.Name] = struct{}{}
		}
		members = append(members, m)
	}
	return Object{raw: v, members: members}, nil
}

func repeated(members []Member, seen map[string]struct{}, name string) bool {
	if seen != nil {
		_, found := seen[name]
		return found
	}
	for i := range members {
		if members[i].Name == name {
			return true
		}
	}
	return false
}

// OptionalObject is [ParseObject] for a member that may be absent, in which
// case the view is empty.
func OptionalObject(v Value, path string) (Object, error) {
	if !v.Present() {
		return Object{}, nil
	}
	return ParseObject(v, path)
}

// Raw returns the whole object as received; absent for the zero Object.
func (o *Object) Raw() Value { return o.raw }

// Members returns the members in the order received. The slice is shared.
func (o *Object) Members() []Member { return o.members }

// Len returns the number of members.
func (o *Object) Len() int { return len(o.members) }

// Get returns the member's value, or an absent Value.
func (o *Object) Get(name string) Value {
	for i := range o.members {
		if o.members[i].Name == name {
			return o.members[i].Value
		}
	}
	return ""
}

// Has reports whether there is a member called name.
func (o *Object) Has(name string) bool { return o.Get(name).Present() }
