package main

import (
	"github.com/spf13/cobra"

	"github.com/taskbridge/taskbridge/adapter/config"
)

func (a *app) config() *cobra.Command {
	cmd := group("config", "Check or describe the configuration file")
	cmd.AddCommand(
		&cobra.Command{
			Use:     "check FILE",
			Short:   "List every problem of a configuration file",
			Long:    "List every problem of a configuration file, with its line. Other flags and\nvariables than those that the file names play no part.",
			Example: "  taskbridge config check bridge.yaml",
			Args:    cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error {
				if err := config.Check(args[0], a.lookupEnv); err != nil {
					return err
				}
				a.say("%s: ok\n", args[0])
				return nil
			},
		},
		&cobra.Command{
			Use:     "schema",
			Short:   "Print the JSON Schema of the configuration file",
			Example: "  taskbridge config schema > taskbridge.schema.json",
			Args:    cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error {
				text, err := config.Schema()
				if err != nil {
					return asFailure(err)
				}
				a.say("%s", text)
				return nil
			},
		},
	)
	return cmd
}
