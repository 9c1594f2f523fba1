package config

// auth completes and checks how callers are verified.
func (c checker) auth() {
	a := &c.cfg.Auth
	node := c.root.get("auth")
	if node != nil && node.form != formMapping {
		return
	}
	// said reports whether a key is there, rightly or not.
	said := func(key string) bool { return node.get(key) != nil }
	if said("jwks_url") {
		if !said("issuer") {
			c.at([]string{"auth"}, "issuer is missing: whoever has a key in the set could issue tokens")
		}
		if !said("audience") && !said("public_url") {
			c.at([]string{"auth"}, "audience is missing: a token for any other service would be good for the bridge")
		}
	} else {
		for _, key := range []string{"issuer", "audience"} {
			if said(key) {
				c.at([]string{"auth." + key}, "means nothing without auth.jwks_url")
			}
		}
	}
	if (said("jwks_url") || said("authorization_servers")) && !said("public_url") {
		for _, l := range c.listeners() {
			if !loopback(l.addr) {
				c.at([]string{"auth"}, "public_url is missing: %s is not loopback (%s), and clients must be told where to log in", l.addr, l.path)
				break
			}
		}
	}
	if a.Verifies() && a.Issuer != "" && !said("authorization_servers") {
		server, err := serverURL.parse(a.Issuer, "")
		if err != nil {
			c.at([]string{"auth.issuer"}, "is no URL, so authorization_servers must say where clients get tokens")
			return
		}
		a.AuthorizationServers = []string{server}
	}
}

// credentials completes and checks what a backend is shown of its callers. A token
// that the bridge has verified is for the bridge: a backend that is another resource
// must not get it.
func (c checker) credentials(path string, b *Backend) {
	verifies := c.root.find("auth.jwks_url") != nil
	switch {
	case b.Credentials == "" && verifies && !b.SameResource:
		b.Credentials = CredentialsNone
	case b.Credentials == "":
		b.Credentials = CredentialsForward
	case b.Credentials == CredentialsForward && verifies && !b.SameResource:
		c.at([]string{path + ".credentials"},
			"forward with auth.jwks_url needs same_resource: true, since callers' tokens are for the bridge; or use static or none")
	}
	header := c.root.find(path + ".header")
	switch {
	case b.Credentials != CredentialsStatic && header != nil:
		c.at([]string{path + ".header"}, "is only sent with credentials: static")
	case b.Credentials != CredentialsStatic:
		b.Header = Header{}
	case header.get("value") == nil:
		c.at([]string{path + ".credentials"}, "static needs header: {value: ...}")
	}
}
