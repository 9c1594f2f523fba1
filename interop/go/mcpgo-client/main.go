package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	clientModule = "github.com/mark3labs/mcp-go"
	flowLimit    = 45 * time.Second
	atATime      = 6 // every flow has a session of its own, so they can share a server
)

// evidence is what a flow has seen.
type evidence map[string]any

// notApplicableError says that the profile has no tool for a flow.
type notApplicableError struct{ key string }

func (e notApplicableError) Error() string { return "the profile has no tool for " + e.key }

func main() {
	if len(os.Args) < 3 {
		usage("usage: mcpgo-client URL FLOW[,FLOW...]|all -profile NAME [-profiles FILE]")
	}
	flags := flag.NewFlagSet("mcpgo-client", flag.ContinueOnError)
	name := flags.String("profile", "", "entry of the profiles file")
	file := flags.String("profiles", "profiles.json", "profiles file")
	if err := flags.Parse(os.Args[3:]); err != nil {
		os.Exit(2)
	}
	prof, err := readProfile(*file, *name)
	if err != nil {
		usage(err.Error())
	}
	asked, err := readFlows(os.Args[2])
	if err != nil {
		usage(err.Error())
	}
	if !runAll(os.Stdout, os.Args[1], *name, prof, asked) {
		os.Exit(1)
	}
}

func usage(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}

// readFlows returns the flows asked for, "all" or a list of names.
func readFlows(asked string) ([]string, error) {
	known := slices.Sorted(maps.Keys(flows))
	if asked == "all" {
		return known, nil
	}
	names := strings.Split(asked, ",")
	for _, name := range names {
		if flows[name] == nil {
			return nil, fmt.Errorf("unknown flow %q; known: %s", name, strings.Join(known, ", "))
		}
	}
	return names, nil
}

// clientName is the client with the version that this program was built with.
func clientName() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == clientModule {
			return "mcp-go " + strings.TrimPrefix(module.Version, "v")
		}
	}
	return "mcp-go"
}

// runAll runs the flows, a few at a time, writes their verdicts and says
// whether all went through.
func runAll(out io.Writer, url, server string, prof profile, asked []string) bool {
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		good  = true
		turns = make(chan struct{}, atATime)
	)
	for _, flow := range asked {
		wait.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			verdict, ok := run(url, prof, flow)
			verdict["client"], verdict["server"], verdict["flow"] = clientName(), server, flow
			mu.Lock()
			defer mu.Unlock()
			if err := json.NewEncoder(out).Encode(verdict); err != nil {
				fmt.Fprintln(os.Stderr, flow, err)
				ok = false
			}
			good = good && ok
		})
	}
	wait.Wait()
	return good
}

// run runs one flow in a session of its own.
func run(url string, prof profile, flow string) (evidence, bool) {
	ctx, stop := context.WithTimeout(context.Background(), flowLimit)
	defer stop()
	verdict := evidence{"ok": false}
	s, err := connect(ctx, url, prof)
	if err == nil {
		defer s.close()
		var seen evidence
		seen, err = flows[flow](s)
		maps.Copy(verdict, seen)
	}
	var none notApplicableError
	switch {
	case errors.As(err, &none):
		verdict["notApplicable"] = err.Error()
		return verdict, true
	case err != nil:
		verdict["error"] = errorOf(err)
		return verdict, false
	}
	verdict["ok"] = true
	return verdict, true
}
