package ext2026

import "github.com/taskbridge/taskbridge/internal/wire"

// The error codes that this revision defines.
const (
	// CodeHeaderMismatch: a header does not say what the body says.
	CodeHeaderMismatch = -32020
	// CodeMissingCapability: the client did not declare a capability that the
	// request needs; see [MissingCapabilities].
	CodeMissingCapability = -32021
	// CodeUnsupportedVersion: the server does not speak the requested revision;
	// see [SupportedVersions].
	CodeUnsupportedVersion = -32022
)

// maxMissing bounds the paths that are read from the data of an error.
const maxMissing = 16

// Missing lists the capabilities that a [CodeMissingCapability] error asks for.
type Missing struct {
	// Paths are the leaves of requiredCapabilities, such as "elicitation.url" or
	// "extensions.io.modelcontextprotocol/tasks", at most sixteen of them.
	Paths []string
	// OnlyTasks is true when the tasks extension is the one thing asked for, so
	// that a client which can drive tasks may try again with it.
	OnlyTasks bool
}

// MissingCapabilities reads the data of a [CodeMissingCapability] error. Data of
// any other shape names nothing.
func MissingCapabilities(data wire.Value) Missing {
	var missing Missing
	required := data.Get("requiredCapabilities")
	others, tasks := false, false
	for capability := range required.Members() {
		if capability.Name != "extensions" {
			others = true
			missing.add(capability.Name, capability.Value)
			continue
		}
		for extension := range capability.Value.Members() {
			if extension.Name == wire.TasksExtension {
				tasks = true
			} else {
				others = true
			}
			missing.path(wire.Join(capability.Name, extension.Name))
		}
	}
	missing.OnlyTasks = tasks && !others
	return missing
}

// add records the leaves of one capability, one level down.
func (m *Missing) add(name string, v wire.Value) {
	leaf := true
	for sub := range v.Members() {
		leaf = false
		m.path(wire.Join(name, sub.Name))
	}
	if leaf {
		m.path(name)
	}
}

func (m *Missing) path(path string) {
	if len(m.Paths) < maxMissing {
		m.Paths = append(m.Paths, path)
	}
}

// SupportedVersions returns the strings of data.supported of a
// [CodeUnsupportedVersion] error.
func SupportedVersions(data wire.Value) []string {
	var versions []string
	for _, v := range data.Get("supported").Elements() {
		if version, ok := v.Text(); ok && len(versions) < maxMissing {
			versions = append(versions, version)
		}
	}
	return versions
}
