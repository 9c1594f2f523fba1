package ext2026

// ParamHeader is one argument of a tool that calls mirror into a header.
type ParamHeader struct {
	// Name is the annotation: the header is "Mcp-Param-" and this.
	Name string
	// Path leads from the arguments to the value, through properties only.
	Path []string
}
