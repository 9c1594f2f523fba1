package adapter

import (
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/taskbridge/taskbridge/adapter/config"
	"github.com/taskbridge/taskbridge/adapter/front/edge"
	"github.com/taskbridge/taskbridge/adapter/front/modern"
)

// face is one of the two faces, if it is on.
type face struct {
	name   string
	cfg    config.Face
	routes func(gin.IRoutes)
}

// path is where a backend is found on a face.
func (f *face) path(backend string) string { return "/" + f.name + "/" + backend }

// faces returns the faces that are on.
func (b *Bridge) faces() []*face {
	old := &face{name: "legacy", cfg: b.cfg.Faces.Legacy}
	old.routes = func(routes gin.IRoutes) {
		for i := range b.cfg.Backends {
			name := b.cfg.Backends[i].Name
			b.legacy.Register(routes, old.path(name), name)
		}
	}
	recent := &face{name: "modern", cfg: b.cfg.Faces.Modern}
	recent.routes = func(routes gin.IRoutes) {
		for i := range b.cfg.Backends {
			c := &b.cfg.Backends[i]
			b.modern.Register(routes, recent.path(c.Name), modern.Route{Backend: c.Name, StrictTaskNames: c.StrictTaskNames})
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
