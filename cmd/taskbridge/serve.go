package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/taskbridge/taskbridge/adapter/config"
)

// An opener builds a bridge that calls ready once its listeners are open.
type opener func(ctx context.Context, cfg *config.Config, logger *slog.Logger, ready func(lines []string)) (runner, error)

// A runner serves until ctx is done, and returns nil after a clean stop.
type runner interface {
	Run(ctx context.Context) error
}

// serveFlags are the flags of serve as cobra fills them in.
type serveFlags struct {
	config, listen, admin, store string
	backends, set                []string
	demo                         bool
}

func (a *app) serve(ctx context.Context) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the bridge",
		Long: `Run the bridge. It prints one line for each route when it is ready, and ends
gracefully on an interrupt; a second one ends it at once.`,
		Example: `  taskbridge serve --demo
  taskbridge serve --backend https://new.example/mcp
  taskbridge serve --backend reports=https://new.example/mcp --set backends.reports.era=modern
  taskbridge serve --config bridge.yaml --set page_size=5 --set times.call_idle=1m`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runServe(ctx, cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "read the configuration `FILE`")
	flags.StringArrayVar(&f.backends, "backend", nil, "put a server behind the bridge, as `[NAME=]URL`; can be repeated")
	flags.BoolVar(&f.demo, "demo", false, "add the built-in demo servers as backends")
	flags.StringVar(&f.listen, "listen", "", "`ADDRESS` for clients (default 127.0.0.1:8720)")
	flags.StringVar(&f.admin, "admin", "", "`ADDRESS` for health, or off (default 127.0.0.1:8721)")
	flags.StringVar(&f.store, "store", "", "keep state in `URL`: embedded:, embedded:PATH, redis://... or memory: (default embedded:)")
	flags.StringArrayVar(&f.set, "set", nil, "set a configuration `KEY=VALUE`; can be repeated")
	flags.String("log-level", "info", "log from this `LEVEL`: debug, info, warn or error")
	return cmd
}

// runServe runs the bridge until ctx is done.
func (a *app) runServe(ctx context.Context, cmd *cobra.Command, f serveFlags) error {
	cfg, logger, err := a.configure(cmd, f)
	if err != nil {
		return err
	}
	b, err := a.open(ctx, cfg, logger, func(lines []string) {
		for _, line := range lines {
			a.say("%s\n", line)
		}
	})
	if err != nil {
		return asFailure(err)
	}
	if err := b.Run(ctx); err != nil {
		return asFailure(err)
	}
	return nil
}

// configure reads everything that serve is told, and reports all that is wrong
// with it in one error.
func (a *app) configure(cmd *cobra.Command, f serveFlags) (*config.Config, *slog.Logger, error) {
	text := func(flag string, val string) *string {
		if cmd.Flags().Changed(flag) {
			return &val
		}
		return nil
	}
	in := config.Inputs{LookupEnv: a.lookupEnv, Flags: config.Flags{
		Config: text("config", f.config), Backends: f.backends, Set: f.set,
		Listen: text("listen", f.listen), Admin: text("admin", f.admin), Store: text("store", f.store),
	}}
	if cmd.Flags().Changed("demo") {
		in.Flags.Demo = &f.demo
	}
	cfg, err := config.Load(in)
	logger, problem := a.logger(a.option(cmd, "log-level"))
	if problem != nil {
		list := new(config.Error)
		errors.As(err, &list)
		list.Problems = append(list.Problems, *problem)
		return nil, nil, list
	}
	return cfg, logger, err
}

// asFailure gives err the exit code 1 unless it has one.
func asFailure(err error) error {
	var fail *failure
	if errors.As(err, &fail) {
		return err
	}
	return &failure{code: exitNotFine, err: err}
}
