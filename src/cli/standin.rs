//! The stand-in charts that the program carries inside.

/// One file of a carried chart: its path in the chart and its contents.
type File = (&'static str, &'static str);

macro_rules! carried {
    ($side:literal, $($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../../examples/standin/", $side, "/", $path)))),+]
    };
}

/// The chart before the upgrade.
pub(crate) const BEFORE: &[File] = carried![
    "before",
    "Chart.yaml",
    "crds/clustertrainingruntimes.yaml",
    "crds/jobsets.yaml",
    "crds/trainingruntimes.yaml",
    "crds/trainjobs.yaml",
    "templates/_labels.tpl",
    "templates/manager.yaml",
    "templates/runtimes.yaml",
    "templates/webhook.yaml",
    "values.yaml",
];

/// The chart after the upgrade.
pub(crate) const AFTER: &[File] = carried![
    "after",
    "Chart.yaml",
    "crds/jobsets.yaml",
    "templates/_labels.tpl",
    "templates/_runtimes.tpl",
    "templates/crd/clustertrainingruntimes.yaml",
    "templates/crd/trainingruntimes.yaml",
    "templates/crd/trainjobs.yaml",
    "templates/installer.yaml",
    "templates/manager.yaml",
    "templates/webhook.yaml",
    "values.yaml",
];

/// A carried chart as a directory would be read.
pub(crate) fn files(chart: &[File]) -> Vec<(String, Vec<u8>)> {
    chart.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::source::directory;

    #[test]
    fn every_file_of_the_stand_ins_is_carried() {
        for (side, chart) in [("before", BEFORE), ("after", AFTER)] {
            let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/standin").join(side);
            assert_eq!(files(chart), directory::read(&root, &Limits::default()).unwrap(), "{side}");
        }
    }
}
