package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				info = new(debug.BuildInfo)
			}
			a.say("%s\n", describe(info))
			return nil
		},
	}
}

// describe renders what the build says about itself.
func describe(info *debug.BuildInfo) string {
	version := info.Main.Version
	if version == "" {
		version = "(unknown version)"
	}
	out := "taskbridge " + version
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if rev := settings["vcs.revision"]; rev != "" {
		out += " commit " + rev
		if settings["vcs.modified"] == "true" {
			out += " (modified)"
		}
	}
	return out + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
