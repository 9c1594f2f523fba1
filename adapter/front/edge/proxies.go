package edge

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of reverse proxies in front of the bridge (configuration
// key trusted_proxies). Only they are believed when they say who a client is.
type Proxies []netip.Prefix

// forwarded is where a proxy says whom a request came from, the nearest last.
const forwarded = "X-Forwarded-For"

// Client names the address that a request came from, as limits count it: the peer's
// own or, behind trusted proxies, the one nearest to them. A client's own header
// counts for nothing: anybody can write one. An IPv6 client is its /64 network, whose
// addresses one machine has all of.
func (p Proxies) Client(r *http.Request) string {
	addr := hostAddr(r.RemoteAddr)
	if !p.Trusts(addr) {
		return origin(addr)
	}
	hops := strings.Split(strings.Join(r.Header.Values(forwarded), ","), ",")
	for _, hop := range slices.Backward(hops) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break // what stands before something unreadable is nobody's word
		}
		addr = next.Unmap()
		if !p.Trusts(addr) {
			break
		}
	}
	return origin(addr)
}

// Trusts reports whether an address is that of a trusted proxy.
func (p Proxies) Trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(net netip.Prefix) bool { return net.Contains(addr) })
}

// Peer is like Client for a connection, of which nothing but the peer is known: a
// trusted proxy is nobody in particular.
func (p Proxies) Peer(remote string) string {
	addr := hostAddr(remote)
	if p.Trusts(addr) {
		return ""
	}
	return origin(addr)
}

// hostAddr is the address in one with a port, or the invalid one.
func hostAddr(hostport string) netip.Addr {
	ap, _ := netip.ParseAddrPort(hostport)
	return ap.Addr().Unmap()
}

// clientBits is the length of the part of an IPv6 address that names a customer.
const clientBits = 64

func origin(addr netip.Addr) string {
	if addr.Is6() {
		if net, err := addr.WithZone("").Prefix(clientBits); err == nil {
			return net.String()
		}
	}
	return addr.String()
}
