package modern_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/taskbridge/taskbridge/adapter/back/modern"
	"github.com/taskbridge/taskbridge/internal/env"
	"github.com/taskbridge/taskbridge/internal/jsonrpc"
)

// BenchmarkDo measures a call over loopback, answered with 1 KiB or 1 MiB in
// either form, beside what net/http takes for the same exchange.
func BenchmarkDo(b *testing.B) {
	for name, size := range map[string]int{"1KiB": 1 << 10, "1MiB": 1 << 20} {
		text := strings.Repeat("x", size)
		for form, wrap := range map[string]func(string) (string, string){
			"document": func(s string) (string, string) { return "application/json", s },
			"stream":   func(s string) (string, string) { return "text/event-stream", "data: " + s + "\n\n" },
		} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				msg, _ := jsonrpc.Read(body)
				contentType, out := wrap(result(string(msg.ID), `{"text":"`+text+`"}`))
				w.Header().Set("Content-Type", contentType)
				_, _ = io.WriteString(w, out)
			}))
			b.Cleanup(server.Close)
			target, err := url.Parse(server.URL)
			if err != nil {
				b.Fatal(err)
			}
			client := modern.New(modern.Options{URL: target, Env: env.System()})
			b.Cleanup(client.CloseIdle)
			b.Run(name+"/"+form, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := client.Do(b.Context(), tool()); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(name+"/"+form+"/bare", func(b *testing.B) {
				plain := modern.NewHTTPClient(nil)
				defer plain.CloseIdleConnections()
				b.ReportAllocs()
				for b.Loop() {
					req, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"x"}`))
					resp, err := plain.Do(req)
					if err != nil {
						b.Fatal(err)
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			})
		}
	}
}
