package adapter

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/front/modern"
)

// face is one of the two faces, if it is on.
type face struct {
	name string
	cfg  config.Face
	// serves reports whether the face has any use for a method of HTTP.
	serves func(method string) bool
	routes func(gin.IRouter)
	// public is the address of the face as clients know it, or nil.
	public *url.URL
}

// path is where a backend is found on a face.
func (f *face) path(backend string) string { return "/" + f.name + "/" + backend }

// faces returns the faces that are on.
func (b *Bridge) faces() []*face {
	old := &face{name: "legacy", cfg: b.cfg.Faces.Legacy, serves: func(string) bool { return true }}
	old.routes = func(routes gin.IRouter) {
		for i := range b.cfg.Backends {
			c := &b.cfg.Backends[i]
			b.legacy.Register(routes.Group("", b.gate(old, c)), old.path(c.Name), c.Name)
			b.describe(routes, old, c)
		}
	}
	recent := &face{name: "modern", cfg: b.cfg.Faces.Modern, serves: func(method string) bool { return method == http.MethodPost }}
	recent.routes = func(routes gin.IRouter) {
		for i := range b.cfg.Backends {
			c := &b.cfg.Backends[i]
			b.modern.Register(routes.Group("", b.gate(recent, c)), recent.path(c.Name), modern.Route{Backend: c.Name, StrictTaskNames: c.StrictTaskNames})
			b.describe(routes, recent, c)
		}
	}
	return slices.DeleteFunc([]*face{old, recent}, func(f *face) bool { return f.cfg.Off })
}

// guard checks the Host and Origin of a face's clients.
func (b *Bridge) guard(faces ...*face) *edge.Guard {
	g := &edge.Guard{Hosts: b.cfg.AllowedHosts}
	for _, f := range faces {
		g.Origins = append(g.Origins, f.cfg.AllowedOrigins...)
	}
	return g
}
