package leak

import (
	"slices"

	"github.com/taskbridge/taskbridge/internal/wire"
)

// node is a place in the protocol. A node with a rule is a member that must not
// be there.
type node struct {
	rule    string
	members map[string]*node
	any     *node // every other member of an open map
	each    *node // every element of an array
	prune   bool  // the member goes when nothing is left in it

	beside, holding string // see row
}

// forbids reports whether the node's rule applies to a member of parent.
func (n *node) forbids(parent, v wire.Value) bool {
	return n.rule != "" &&
		(n.beside == "" || parent.Get(n.beside).Present()) &&
		(n.holding == "" || v.Get(n.holding).Present())
}

func (n *node) below(name string) *node {
	if next := n.members[name]; next != nil {
		return next
	}
	return n.any
}

// row is one line of §6: a member that must not appear at these places.
type row struct {
	rule string
	// at are paths from the message's root. "*" stands for every member of an
	// open map, "[]" for every element of an array.
	at [][]string
	// methods restricts the row to these methods and their results; nil is all.
	methods []string
	// beside restricts the row to objects that also have this member, holding to
	// values that have it: it tells a task from a vendor's object of that name.
	beside, holding string
	// reserved is set for keys of _meta that belong to one era, whoever the sender
	// is: what does not cross must not carry them either (S-3).
	reserved bool
}

// The rows that are not about members.
const (
	ruleMethod = "method"
	ruleCode   = "error code"
)

// table is the table of one leg, compiled.
type table struct {
	rows        []row
	banned      map[string]bool
	foreignCode func(int64) bool
	schemas     bool // tools/list must not carry x-mcp-header

	common   *node
	byMethod map[string]*node
}

// own returns the table for a leg on which nothing was translated: methods, error
// codes and the reserved keys of _meta alone (S-3).
func (t *table) own() *table {
	own := &table{banned: t.banned, foreignCode: t.foreignCode}
	for _, r := range t.rows {
		if r.reserved {
			own.rows = append(own.rows, r)
		}
	}
	return own.compile()
}

func (t *table) names() []string {
	names := []string{ruleMethod, ruleCode, ruleHeader}
	for _, r := range t.rows {
		names = append(names, r.rule)
	}
	return names
}

// compile turns the rows into one tree per method that a row names, and one for
// all other methods.
func (t *table) compile() *table {
	t.common = t.tree("")
	t.byMethod = make(map[string]*node)
	for _, r := range t.rows {
		for _, method := range r.methods {
			if t.byMethod[method] == nil {
				t.byMethod[method] = t.tree(method)
			}
		}
	}
	return t
}

func (t *table) root(method string) *node {
	if n := t.byMethod[method]; n != nil {
		return n
	}
	return t.common
}

func (t *table) tree(method string) *node {
	root := new(node)
	for _, r := range t.rows {
		if r.methods != nil && !slices.Contains(r.methods, method) {
			continue
		}
		for _, path := range r.at {
			root.add(path, &r)
		}
	}
	if t.schemas && method == methodToolsList {
		tool := root.down("result").down("tools").down("[]")
		tool.members["inputSchema"] = schemaNode()
	}
	return root
}

func (n *node) add(path []string, r *row) {
	for _, name := range path {
		n = n.down(name)
	}
	n.rule, n.beside, n.holding = r.rule, r.beside, r.holding
}

func (n *node) down(name string) *node {
	switch name {
	case "*":
		if n.any == nil {
			n.any = new(node)
		}
		return n.any
	case "[]":
		if n.each == nil {
			n.each = &node{members: make(map[string]*node)}
		}
		return n.each
	}
	if n.members == nil {
		n.members = make(map[string]*node)
	}
	if n.members[name] == nil {
		n.members[name] = &node{prune: name == "_meta" || name == "extensions"}
	}
	return n.members[name]
}

// ruleHeader is the row for x-mcp-header, which a schema carries at any depth,
// but below properties only: elsewhere it is data (§3.8).
const ruleHeader = "x-mcp-header"

func schemaNode() *node {
	schema := &node{members: map[string]*node{ruleHeader: {rule: ruleHeader}}}
	schema.members["properties"] = &node{any: schema}
	return schema
}
