package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taskbridge/taskbridge/adapter/config"
)

const keySet = "auth: {jwks_url: https://id.example/keys, issuer: https://id.example, audience: bridge"

func TestAuthProblems(t *testing.T) {
	t.Parallel()
	const world = "listen: 0.0.0.0:80\nallowed_hosts: [bridge.example]\n"
	for _, tt := range []struct {
		name, file string
		want       []string
	}{
		{"the least", one + keySet + "}\n", nil},
		{"all of it", one + keySet + ", public_url: https://bridge.example, authorization_servers: [https://login.example]}\n", nil},
		{"metadata alone", one + "auth: {public_url: https://bridge.example, authorization_servers: [https://login.example]}\n", nil},
		{"no audience but the routes", one + "auth: {jwks_url: https://id.example/keys, issuer: https://id.example, public_url: https://bridge.example}\n", nil},
		{"nothing", one + "auth: {}\n", nil},
		{"not a mapping", one + "auth: https://id.example/keys\n", []string{
			"bridge.yaml:2: auth: want a mapping of jwks_url, issuer, audience, public_url or authorization_servers, got a single value",
		}},
		{"a key set alone", one + "auth:\n  jwks_url: https://id.example/keys\n", []string{
			"bridge.yaml:3: auth: issuer is missing: whoever has a key in the set could issue tokens",
			"bridge.yaml:3: auth: audience is missing: a token for any other service would be good for the bridge",
		}},
		{"no key set", one + "auth:\n  issuer: https://id.example\n  audience: bridge\n", []string{
			"bridge.yaml:3: auth.issuer: means nothing without auth.jwks_url",
			"bridge.yaml:4: auth.audience: means nothing without auth.jwks_url",
		}},
		{"an issuer that is no URL", one + "auth: {jwks_url: https://id.example/keys, audience: a,\n  issuer: accounts.example}\n", []string{
			"bridge.yaml:3: auth.issuer: is no URL, so authorization_servers must say where clients get tokens",
		}},
		{"one that is no URL, and a server", one + "auth: {jwks_url: https://id.example/keys, audience: a, issuer: accounts.example, authorization_servers: [https://id.example]}\n", nil},
		{"the world without an address", one + world + keySet + "}\n", []string{
			"bridge.yaml:4: auth: public_url is missing: 0.0.0.0:80 is not loopback (listen), and clients must be told where to log in",
		}},
		{"servers for the world without an address", one + world + "auth: {authorization_servers: [https://id.example]}\n", []string{
			"bridge.yaml:4: auth: public_url is missing: 0.0.0.0:80 is not loopback (listen), and clients must be told where to log in",
		}},
		{"the world with its address", one + world + keySet + ", public_url: https://bridge.example}\n", nil},
		{"wrong values", one + "auth:\n  jwks_url: id.example/keys\n  issuer: ''\n  audience: [a]\n  public_url: https://bridge.example/?a\n  authorization_servers: []\n", []string{
			`bridge.yaml:3: auth.jwks_url: want an http or https URL with a host and without user or fragment, got "id.example/keys"`,
			"bridge.yaml:4: auth.issuer: want text",
			"bridge.yaml:5: auth.audience: want text, got a list",
			`bridge.yaml:6: auth.public_url: want an http or https URL such as https://bridge.example, without user, query or fragment, and with a plain path if any, got "https://bridge.example/?a"`,
			"bridge.yaml:7: auth.authorization_servers: the list is empty",
		}},
		{"a public path that a router would read", one + "auth: {public_url: \"https://bridge.example/:a\"}\n", []string{
			`bridge.yaml:2: auth.public_url: want an http or https URL such as https://bridge.example, without user, query or fragment, and with a plain path if any, got "https://bridge.example/:a"`,
		}},
		{"a server with a query", one + "auth: {authorization_servers: [\"https://id.example?a\"]}\n", []string{
			`bridge.yaml:2: auth.authorization_servers[0]: want an http or https URL with a host and without user, query or fragment, got "https://id.example?a"`,
		}},
		{"an unknown key", one + "auth: {jwks_uri: x}\n", []string{"bridge.yaml:2: auth.jwks_uri: unknown key, did you mean jwks_url"}},
		{
			"forward of another's tokens", keySet + "}\nbackends:\n  a: {url: http://a.example,\n      credentials: forward}\n  b: {url: http://b.example, credentials: forward, same_resource: true}\n  c: {url: http://c.example}\n",
			[]string{"bridge.yaml:4: backends.a.credentials: forward with auth.jwks_url needs same_resource: true, since callers' tokens are for the bridge; or use static or none"},
		},
	} {
		t.Run("DESIGN auth: "+tt.name, func(t *testing.T) {
			t.Parallel()
			file := write(t, tt.file)
			if diff := cmp.Diff(tt.want, messages(t, config.Check(file, environment()), file)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCredentialsDefault: a caller's token goes to a backend by itself only where
// both are one resource.
func TestCredentialsDefault(t *testing.T) {
	t.Parallel()
	const backends = "\nbackends: {a: {url: http://a.example}, b: {url: http://b.example, same_resource: true}, c: {url: http://c.example, credentials: none, same_resource: true}}\n"
	for _, tt := range []struct {
		name, auth string
		want       []config.Credentials
	}{
		{"without a key set", "auth: {public_url: https://bridge.example}", []config.Credentials{config.CredentialsForward, config.CredentialsForward, config.CredentialsNone}},
		{"with a key set", keySet + "}", []config.Credentials{config.CredentialsNone, config.CredentialsForward, config.CredentialsNone}},
	} {
		t.Run("DESIGN Credentials: "+tt.name, func(t *testing.T) {
			t.Parallel()
			file := write(t, tt.auth+backends)
			cfg, err := config.Load(config.Inputs{Flags: config.Flags{Config: &file}, LookupEnv: environment()})
			if err != nil {
				t.Fatal(err)
			}
			var got []config.Credentials
			for _, b := range cfg.Backends {
				got = append(got, b.Credentials)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("credentials (-want +got):\n%s", diff)
			}
			if cfg.Auth.Verifies() && !cmp.Equal(cfg.Auth.AuthorizationServers, []string{"https://id.example"}) {
				t.Errorf("authorization servers %q, want the issuer", cfg.Auth.AuthorizationServers)
			}
		})
	}
}
