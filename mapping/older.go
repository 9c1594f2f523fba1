package mapping

import (
	"github.com/taskbridge/taskbridge/internal/wire"
	"github.com/taskbridge/taskbridge/legacy2025"
)

// knowsItem reports whether an item of a list, or a content block, has the member
// in the revision (§3.9).
func knowsItem(member, version string) bool {
	switch member {
	case "icons":
		return legacy2025.HasIcons(version)
	case "title", "outputSchema", "_meta":
		return legacy2025.HasStructuredContent(version)
	default:
		return true
	}
}

// An edit appends a value as a client of version may see it.
type edit func(dst []byte, v wire.Value, version string) ([]byte, Notes)

// appendItem appends an object without the members that a client of version does
// not know.
func appendItem(dst []byte, item wire.Value, version string) ([]byte, Notes) {
	return appendNested(dst, item, version, "", nil)
}

// appendPrompt appends a prompt without the members that a client of version does
// not know; its arguments have titles, too.
func appendPrompt(dst []byte, prompt wire.Value, version string) ([]byte, Notes) {
	return appendNested(dst, prompt, version, "arguments", appendItems)
}

// appendNested appends an object without the members that a client of version does
// not know, and the named member through inner.
func appendNested(dst []byte, item wire.Value, version, nested string, inner edit) ([]byte, Notes) {
	var notes Notes
	if !item.IsObject() {
		return append(dst, item...), 0
	}
	w := wire.Begin(dst)
	for m := range item.Members() {
		switch {
		case !knowsItem(m.Name, version):
			notes = notes.With(NoteOlderRevision)
		case inner != nil && m.Name == nested:
			w.Spell(m)
			buf, lost := inner(w.Buf(), m.Value, version)
			w.SetBuf(buf)
			notes |= lost
		default:
			w.Copy(m)
		}
	}
	if notes == 0 {
		return append(dst, item...), 0
	}
	return w.End(), notes
}

// appendItems appends an array of objects, each through [appendItem].
func appendItems(dst []byte, items wire.Value, version string) ([]byte, Notes) {
	return appendEach(dst, items, version, appendItem)
}

// appendPrompts appends an array of prompts, each through [appendPrompt].
func appendPrompts(dst []byte, prompts wire.Value, version string) ([]byte, Notes) {
	return appendEach(dst, prompts, version, appendPrompt)
}

// appendBlocks appends an array of content blocks as a client of version may see
// them: a revision without resource links is told of one as text (§3.9).
func appendBlocks(dst []byte, blocks wire.Value, version string) ([]byte, Notes) {
	return appendEach(dst, blocks, version, appendBlock)
}

func appendBlock(dst []byte, block wire.Value, version string) ([]byte, Notes) {
	switch kind, _ := block.Get("type").Text(); kind {
	case "resource":
		return appendNested(dst, block, version, "resource", appendItem)
	case "resource_link":
		if !legacy2025.HasStructuredContent(version) {
			name, _ := block.Get("name").Text()
			uri, _ := block.Get("uri").Text()
			return appendTextBlock(dst, name+": "+uri), Notes(0).With(NoteLinkAsText)
		}
	}
	return appendItem(dst, block, version)
}

// knowsContext reports whether a peer of version knows the context of a
// completion; a version that is not said is the newest (§3.9).
func knowsContext(version string) bool {
	return version == "" || legacy2025.HasStructuredContent(version)
}

// appendMessages appends the messages of a prompt as a client of version may see
// them.
func appendMessages(dst []byte, messages wire.Value, version string) ([]byte, Notes) {
	return appendEach(dst, messages, version, appendMessage)
}

func appendMessage(dst []byte, message wire.Value, version string) ([]byte, Notes) {
	if !message.IsObject() {
		return append(dst, message...), 0
	}
	var notes Notes
	w := wire.Begin(dst)
	for m := range message.Members() {
		if m.Name != "content" {
			w.Copy(m)
			continue
		}
		w.Spell(m)
		buf, lost := appendBlock(w.Buf(), m.Value, version)
		w.SetBuf(buf)
		notes |= lost
	}
	return w.End(), notes
}

// appendEach appends an array, each element through edit. Clients of the newest
// revision get it as it came.
func appendEach(dst []byte, list wire.Value, version string, each edit) ([]byte, Notes) {
	if version == legacy2025.Latest || list.Kind() != wire.KindArray {
		return append(dst, list...), 0
	}
	var notes, lost Notes
	dst = append(dst, '[')
	for i, element := range list.Elements() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst, lost = each(dst, element, version)
		notes |= lost
	}
	return append(dst, ']'), notes
}

// writeOlder writes the member of a result of method that holds its items, as a
// client of version may see it, and reports whether m is that member.
func writeOlder(w *wire.Writer, method string, m wire.Member, version string) (bool, Notes) {
	var items edit = appendItems
	switch {
	case method == legacy2025.MethodPromptsGet && m.Name == "messages":
		items = appendMessages
	case method == legacy2025.MethodPromptsList && m.Name == "prompts":
		items = appendPrompts
	case method == legacy2025.MethodResourcesRead && m.Name == "contents":
	case m.Name != "" && m.Name == legacy2025.ItemsMember(method):
	default:
		return false, 0
	}
	w.Spell(m)
	buf, notes := items(w.Buf(), m.Value, version)
	w.SetBuf(buf)
	return true, notes
}
