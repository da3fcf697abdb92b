package main

import (
	"fmt"
	"log"
	"log/slog"
	"slices"

	"github.com/pkg/errors"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/cli/values"
	"helm.sh/helm/v3/pkg/getter"
	"helm.sh/helm/v3/pkg/release"
)

// plain is Go's own logger, which Helm 3 leaves as it is.
var plain = slog.Default()

var (
	settings3  = cli.New()
	providers3 = getter.All(settings3)
)

// template3 does what `cmd/helm/template.go` and `install.go` of Helm 3 do for a local chart.
func template3(asked request) ([]byte, error) {
	slog.SetDefault(plain)
	log.SetOutput(stderr)
	log.SetFlags(log.Lshortfile)
	client := action.NewInstall(new(action.Configuration))
	if asked.KubeVersion != "" {
		parsed, err := chartutil.ParseKubeVersion(asked.KubeVersion)
		if err != nil {
			return nil, fmt.Errorf("invalid kube version '%s': %s", asked.KubeVersion, err)
		}
		client.KubeVersion = parsed
	}
	client.DryRun, client.DryRunOption, client.Replace, client.ClientOnly = true, "true", true, true
	client.ReleaseName = or(asked.Release, "release-name")
	client.Namespace = or(asked.Namespace, "default")
	client.APIVersions = chartutil.VersionSet(asked.APIVersions)
	client.IncludeCRDs, client.DisableHooks, client.IsUpgrade = asked.IncludeCRDs, asked.NoHooks, asked.IsUpgrade
	released, err := install3(client, asked)
	if err != nil {
		if released != nil {
			return nil, fmt.Errorf("%w\n\nUse --debug flag to render out invalid YAML", err)
		}
		return nil, err
	}
	return show(shown3(released), asked), nil
}

func install3(client *action.Install, asked request) (*release.Release, error) {
	options := values.Options{
		ValueFiles: valuesNames(asked), JSONValues: asked.JSON, Values: asked.Set, StringValues: asked.String,
		LiteralValues: asked.Literal,
	}
	merged, err := options.MergeValues(providers3)
	if err != nil {
		return nil, err
	}
	loaded, err := loader.Load("chart")
	if err != nil {
		return nil, err
	}
	if err := usable3(loaded); err != nil {
		return nil, err
	}
	return client.Run(loaded, merged)
}

func usable3(loaded *chart.Chart) error {
	if kind := loaded.Metadata.Type; kind != "" && kind != "application" {
		return errors.Errorf("%s charts are not installable", kind)
	}
	if loaded.Metadata.Deprecated {
		fmt.Fprintln(stderr, "WARNING: This chart is deprecated")
	}
	if wanted := loaded.Metadata.Dependencies; wanted != nil {
		if err := action.CheckDependencies(loaded, wanted); err != nil {
			return errors.Wrap(err, "An error occurred while checking for chart dependencies. You may need to run `helm dependency build` to fetch missing dependencies")
		}
	}
	return nil
}

func shown3(released *release.Release) rendered {
	shown := rendered{manifest: released.Manifest}
	for _, one := range released.Hooks {
		shown.hooks = append(shown.hooks, hook{one.Path, one.Manifest, slices.Contains(one.Events, release.HookTest)})
	}
	return shown
}
