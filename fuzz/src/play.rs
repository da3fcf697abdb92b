//! A chart is rendered, printed and looked at, twice and with the same outcome.

use seatrial::chart::{Chart, Helm, Values};
use seatrial::render::{self, Options, PrintOptions, Render, render};

use crate::limits;

/// Renders a chart as one Helm does; what is printed, or the refusal.
pub(crate) fn play(chart: &Chart, values: &Values, helm: Helm) -> Result<String, String> {
    let options = Options { helm, limits: limits(), ..Options::default() };
    let once = || printed(render(chart, values, &options), helm);
    let (first, second) = (once(), once());
    assert_eq!(first, second, "rendered twice");
    first
}

fn printed(rendered: Result<Render, render::Error>, helm: Helm) -> Result<String, String> {
    let render = rendered.map_err(|error| error.stderr())?;
    for manifest in render.manifests.iter().chain(render.hooks.iter().map(|hook| &hook.manifest)) {
        let _ = manifest.objects();
    }
    for file in &render.crds {
        let _ = file.objects.len();
    }
    let print = PrintOptions { include_crds: true, ..PrintOptions::default() };
    render::template_output(&render, helm, &print).map_err(|error| error.message)
}
