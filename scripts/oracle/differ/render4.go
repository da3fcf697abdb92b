package main

import (
	"fmt"
	"log/slog"
	"slices"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/cli/values"
	"helm.sh/helm/v4/pkg/cmd"
	"helm.sh/helm/v4/pkg/getter"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
)

var (
	settings4  = cli.New()
	providers4 = getter.All(settings4)
	logger4    = newLogger4()
)

func newLogger4() *slog.Logger {
	_ = stderr
	before := plain
	cmd.SetupLogging(false)
	made := slog.Default()
	slog.SetDefault(before)
	return made
}

// template4 does what `pkg/cmd/template.go` and `install.go` of Helm 4 do for a local chart.
func template4(asked request) ([]byte, error) {
	slog.SetDefault(logger4)
	config := action.NewConfiguration()
	config.SetLogger(logger4.Handler())
	client := action.NewInstall(config)
	if asked.KubeVersion != "" {
		parsed, err := common.ParseKubeVersion(asked.KubeVersion)
		if err != nil {
			return nil, fmt.Errorf("invalid kube version '%s': %w", asked.KubeVersion, err)
		}
		client.KubeVersion = parsed
	}
	client.DryRunStrategy, client.WaitStrategy, client.Replace = action.DryRunClient, kube.HookOnlyStrategy, true
	client.ReleaseName = or(asked.Release, "release-name")
	client.Namespace = or(asked.Namespace, "default")
	client.APIVersions = common.VersionSet(asked.APIVersions)
	client.IncludeCRDs, client.DisableHooks, client.IsUpgrade = asked.IncludeCRDs, asked.NoHooks, asked.IsUpgrade
	released, err := install4(client, asked)
	if err != nil {
		if released != nil {
			return nil, fmt.Errorf("%w\n\nUse --debug flag to render out invalid YAML", err)
		}
		return nil, err
	}
	return show(shown4(released), asked), nil
}

func install4(client *action.Install, asked request) (*release.Release, error) {
	options := values.Options{
		ValueFiles: valuesNames(asked), JSONValues: asked.JSON, Values: asked.Set, StringValues: asked.String,
		LiteralValues: asked.Literal,
	}
	merged, err := options.MergeValues(providers4)
	if err != nil {
		return nil, err
	}
	loaded, err := loader.Load("chart")
	if err != nil {
		return nil, err
	}
	if err := usable4(loaded); err != nil {
		return nil, err
	}
	made, err := client.Run(loaded, merged)
	released, _ := made.(*release.Release)
	return released, err
}

func usable4(loaded chart.Charter) error {
	access, err := chart.NewAccessor(loaded)
	if err != nil {
		return err
	}
	if kind := access.MetadataAsMap()["Type"]; kind != "" && kind != "application" {
		return fmt.Errorf("%s charts are not installable", kind)
	}
	if access.Deprecated() {
		slog.Warn("this chart is deprecated")
	}
	if wanted := access.MetaDependencies(); len(wanted) > 0 {
		if err := action.CheckDependencies(loaded, wanted); err != nil {
			return fmt.Errorf("an error occurred while checking for chart dependencies. You may need to run 'helm dependency build' to fetch missing dependencies: %w", err)
		}
	}
	return nil
}

func shown4(released *release.Release) rendered {
	shown := rendered{manifest: released.Manifest}
	for _, one := range released.Hooks {
		shown.hooks = append(shown.hooks, hook{one.Path, one.Manifest, slices.Contains(one.Events, release.HookTest)})
	}
	return shown
}
