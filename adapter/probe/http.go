package probe

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/taskbridge/taskbridge/adapter/back/modern"
	"github.com/taskbridge/taskbridge/adapter/port"
	"github.com/taskbridge/taskbridge/ext2026"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
	"github.com/taskbridge/taskbridge/internal/wire"
)

// Options say whom to probe and how.
type Options struct {
	// URL is the server's endpoint. It is required.
	URL *url.URL
	// HTTP sends the requests; nil stands for [modern.NewHTTPClient]. Redirects
	// are never followed.
	HTTP *http.Client
	// Env is the clock and the randomness. It is required.
	Env env.Env
	// Timeout ends the probe as a whole; 0 stands for five seconds.
	Timeout time.Duration
	// Authorization is sent as the Authorization header unless empty.
	Authorization string
	// Headers are sent with every request.
	Headers []port.Header
}

const defaultTimeout = 5 * time.Second

// maxVerdict is the largest answer to a probe, in bytes. Who says more of itself may be
// anything.
const maxVerdict = 4 << 20

// ErrTimeout is the cause when a server did not answer a probe in time.
var ErrTimeout error = &port.CauseError{Text: "no answer to the probe in time", Public: port.TimedOut}

// envelope makes the probe a complete request of a client that knows tasks.
const envelope = `{"_meta":{"` + wire.MetaProtocolVersion + `":"` + ext2026.Version + `",` +
	`"` + wire.MetaClientInfo + `":` + clientInfo + `,` +
	`"` + wire.MetaClientCapabilities + `":{"extensions":{"` + wire.TasksExtension + `":{}}}}}`

const clientInfo = `{"name":"taskbridge-probe","version":"1"}`

// codeDraftMismatch was the code of a header mismatch before it became -32020
// (Q24); it is a hint and no more.
const codeDraftMismatch = -32001

// HTTP asks the server which era it speaks (§1.10). The error means that there
// is no verdict: the server could not be reached, did not answer in time, is not
// well or refuses the credential; the *[port.UpstreamError] in it has the
// status. It is never a reason to try another era.
func HTTP(ctx context.Context, o Options) (Verdict, error) {
	if o.HTTP == nil {
		o.HTTP = modern.NewHTTPClient(nil)
		defer o.HTTP.CloseIdleConnections()
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	ctx, cancel := env.WithTimeout(ctx, o.Env, o.Timeout, ErrTimeout)
	defer cancel()
	back := modern.New(modern.Options{
		URL: o.URL, HTTP: o.HTTP, Env: o.Env,
		// The context is the one deadline.
		Times:  modern.Times{Idle: 2 * o.Timeout, Total: 2 * o.Timeout},
		Limits: modern.Limits{Result: maxVerdict},
	})
	call := port.Call{
		Method: ext2026.MethodServerDiscover, Params: envelope, Headers: o.Headers, Authorization: o.Authorization,
	}
	result, err := back.Do(ctx, call)
	if worthRetry(err) {
		// It may have come from something on the way. There is nothing to
		// correct but the id; a server that means it says it again.
		result, err = back.Do(ctx, call)
	}
	verdict, evidence, err := read(result, err)
	if err != nil || evidence == conclusive {
		return verdict, err
	}
	return o.confirmLegacy(ctx)
}

// evidence is how much an answer proves.
type evidence uint8

const (
	conclusive evidence = iota
	// weak evidence for a legacy server: anything may answer like this.
	weak
)

func worthRetry(err error) bool {
	return port.IsCode(err, ext2026.CodeHeaderMismatch) || port.IsCode(err, codeDraftMismatch)
}

// read is the table of §1.10 for the answer to server/discover.
func read(result wire.Value, err error) (Verdict, evidence, error) {
	var (
		upstream *port.UpstreamError
		rpc      *jsonrpc.Error
	)
	switch {
	case err == nil:
		if verdict, ok := discovered(result); ok {
			return verdict, conclusive, nil
		}
		return Verdict{}, weak, nil
	case errors.As(err, &upstream):
		// 401, 403 and what says that the server is not well come here with a
		// JSON-RPC error and without.
		if suggestsLegacy(upstream.Status) {
			return Verdict{}, weak, nil
		}
		return Verdict{}, conclusive, err
	case errors.As(err, &rpc):
		return readError(rpc)
	default:
		return Verdict{}, conclusive, err
	}
}

// suggestsLegacy reports whether a server that does not know the request may
// have answered with this status and no JSON-RPC.
func suggestsLegacy(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return true
	default:
		return status >= 200 && status <= 299
	}
}

func readError(rpc *jsonrpc.Error) (Verdict, evidence, error) {
	switch rpc.Code {
	case ext2026.CodeUnsupportedVersion:
		v := Verdict{Versions: ext2026.SupportedVersions(rpc.Data)}
		v.Era, v.Reason = judge(v.Versions), "-32022 lists what the server speaks"
		return v, conclusive, nil
	case ext2026.CodeMissingCapability:
		return Verdict{Era: Modern, Reason: "-32021 is an error of " + ext2026.Version}, conclusive, nil
	case ext2026.CodeHeaderMismatch:
		return Verdict{Era: Modern, Reason: "-32020, twice, is an error of " + ext2026.Version}, conclusive, nil
	case -32000, codeDraftMismatch, jsonrpc.CodeInvalidRequest, jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidParams:
		return Verdict{Era: Legacy, Reason: "the server speaks JSON-RPC and does not know server/discover"}, conclusive, nil
	case jsonrpc.CodeInternal:
		// It may be a modern server with a bad day.
		return Verdict{}, conclusive, rpc
	default:
		return Verdict{}, weak, nil
	}
}
