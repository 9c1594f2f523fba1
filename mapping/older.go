package mapping

import "github.com/taskbridge/taskbridge/internal/wire"

// appendBlocks appends an array of content blocks as a client of version may
// see them (§3.9).
func appendBlocks(dst []byte, blocks wire.Value, version string) ([]byte, Notes) {
	return append(dst, blocks...), 0
}

// writeItems writes the items of a list as a client of version may see them.
func writeItems(w *wire.Writer, items wire.Member, version string) Notes {
	w.Copy(items)
	return 0
}
