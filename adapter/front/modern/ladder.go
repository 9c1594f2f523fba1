package modern

import (
	"net/http"

	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// request is a request that may be served.
type request struct {
	msg    jsonrpc.Message
	meta   ext2026.RequestMeta
	method method
	// unnamed is set for one that should have named its task in a header.
	unnamed bool
}

// judge checks a request against its headers and itself, rung by rung in the order
// of §1.8. The first failure is the answer.
func judge(header http.Header, msg jsonrpc.Message, route Route) (*request, error) {
	r := &request{msg: msg}
	params, err := r.envelope(route)
	if err != nil {
		return nil, err
	}
	if err := r.version(header); err != nil {
		return nil, err
	}
	if err := r.names(header, route); err != nil {
		return nil, err
	}
	var isKnown bool
	if r.method, isKnown = known(msg.Method); !isKnown {
		return nil, unknown(msg.Method, route)
	}
	if err := ext2026.CheckParams(msg.Method, params); err != nil {
		return nil, err
	}
	if r.method.params != nil {
		if err := r.method.params(msg.Params); err != nil {
			return nil, err
		}
	}
	if r.method.tasks != nil && r.method.tasks(msg.Params) && !r.meta.Capabilities.Tasks() {
		return nil, errNeedsTasks
	}
	return r, nil
}

// envelope reads what every request says about its client. A client of an older
// protocol that begins a session is told where it belongs, whatever else it lacks.
func (r *request) envelope(route Route) (params wire.Object, err error) {
	if r.msg.Method == wire.MethodInitialize && !r.msg.Params.Get("_meta").Get(wire.MetaProtocolVersion).Present() {
		return params, unknown(r.msg.Method, route)
	}
	if params, err = wire.OptionalObject(r.msg.Params, "params"); err == nil {
		r.meta, err = ext2026.ParseRequestMeta(r.msg.Params)
	}
	if err != nil {
		return params, &port.StatusError{Status: http.StatusBadRequest, Err: jsonrpc.FromDecode(err)}
	}
	return params, nil
}

// version checks that headers and body agree on version and method, as far as there
// are headers, and then that the version is spoken here.
func (r *request) version(header http.Header) error {
	if err := match(header, ext2026.HeaderProtocolVersion, r.meta.ProtocolVersion); err != nil {
		return err
	}
	if len(header.Values(ext2026.HeaderMethod)) > 0 {
		if err := match(header, ext2026.HeaderMethod, r.msg.Method); err != nil {
			return err
		}
	}
	if r.meta.ProtocolVersion == ext2026.Version {
		return nil
	}
	w := wire.Begin(nil)
	w.Value("supported", wire.Value(`["`+ext2026.Version+`"]`))
	w.Value("requested", r.meta.Get(wire.MetaProtocolVersion))
	return &port.StatusError{Status: http.StatusBadRequest, Err: &jsonrpc.Error{
		Code: ext2026.CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: wire.Value(w.End()),
	}}
}

// names checks the headers that say what a request is and what it is about.
func (r *request) names(header http.Header, route Route) error {
	if err := match(header, ext2026.HeaderMethod, r.msg.Method); err != nil {
		return err
	}
	member := ext2026.NameParam(r.msg.Method)
	if member == "" {
		return nil
	}
	values, value := header.Values(ext2026.HeaderName), r.msg.Params.Get(member)
	if len(values) == 0 {
		switch {
		case value.Kind() != wire.KindString: // the params are at fault, not the header
		case route.StrictTaskNames || !methods[r.msg.Method].aboutTask():
			return mismatch(ext2026.HeaderName, "missing")
		default:
			r.unnamed = true
		}
		return nil
	}
	return matchName(values, value, wire.Join("params", member))
}

// unknown refuses a method. One that begins a session is a sign of a client of an
// older protocol, whose user sees this text.
func unknown(name string, route Route) error {
	e := jsonrpc.NewError(jsonrpc.CodeMethodNotFound, "Method not found")
	if name == wire.MethodInitialize {
		e.Message += ": this route speaks " + ext2026.Version + "; protocols that begin with initialize are served at /legacy/" + route.Backend
	}
	return &port.StatusError{Status: http.StatusNotFound, Err: e}
}

// errNeedsTasks is for a request about tasks that does not declare the extension.
var errNeedsTasks = &port.StatusError{Status: http.StatusBadRequest, Err: &jsonrpc.Error{
	Code: ext2026.CodeMissingCapability, Message: "Missing required client capability: " + wire.TasksExtension,
	Data: `{"requiredCapabilities":{"extensions":{"` + wire.TasksExtension + `":{}}}}`,
}}

// errNeedsEvents is for a subscription of a client that takes no event stream.
var errNeedsEvents = &port.StatusError{Status: http.StatusNotAcceptable, Err: invalid("Accept: want %s", edge.EventStream)}

// invalid says that a request is none.
func invalid(format string, args ...any) *jsonrpc.Error {
	return jsonrpc.NewError(jsonrpc.CodeInvalidRequest, "Invalid request: "+format, args...)
}
