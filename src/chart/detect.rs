//! What Helm looks at before it loads a chart: whether it is one, and of which format.
//!
//! Source: Helm v4.3.1 `pkg/chart/loader/load.go`, Helm v3.22.0 `pkg/chart/loader/archive.go`.

use serde_json::Value;

use super::go_json::{self, Place};
use super::{Error, File, Helm, archive};
use crate::limits::Limits;
use crate::yaml;

/// Looks at the Chart.yaml of a directory.
///
/// # Errors
/// In Helm's words.
pub fn directory(root: &str, metadata: Option<&[u8]>, helm: Helm, limits: &Limits) -> Result<(), Error> {
    if !helm.detects_formats() {
        return Ok(());
    }
    let path = format!("{root}/Chart.yaml");
    let metadata = metadata.ok_or_else(|| {
        Error::new(format!("unable to detect chart at {path}: open {path}: no such file or directory"))
    })?;
    format(&api_version(metadata, limits)?, helm)
}

/// Looks at an archive that lies under a path; its files where that had it taken apart.
///
/// # Errors
/// In Helm's words.
pub fn archive(
    path: &str,
    data: &[u8],
    unpack: impl FnOnce() -> Result<Vec<File>, Error>,
    (helm, limits): (Helm, &Limits),
) -> Result<Option<Vec<File>>, Error> {
    archive::ensure_archive(path, data)?;
    if !helm.detects_formats() {
        return Ok(None);
    }
    let files = unpack().map_err(|error| match error.message.as_str() {
        "gzip: invalid header" => {
            Error::new(format!("file '{path}' does not appear to be a valid chart file (details: {error})"))
        }
        // A limit of ours names its flag.
        text if text.contains("--limit-") => error,
        _ => Error::new("unable to load chart archive"),
    })?;
    let metadata = files.iter().find(|file| file.path == "Chart.yaml");
    let metadata =
        metadata.ok_or_else(|| Error::new("unable to detect chart version, no Chart.yaml found"))?;
    format(&api_version(&metadata.data, limits)?, helm)?;
    Ok(Some(files))
}

/// Whether a Helm version loads charts of this `apiVersion`.
///
/// # Errors
/// In Helm's words.
pub fn format(api_version: &str, helm: Helm) -> Result<(), Error> {
    match api_version {
        _ if !helm.detects_formats() => Ok(()),
        "" | "v1" | "v2" => Ok(()),
        // The format is known, but no command takes it yet.
        "v3" => Err(Error::new("invalid chart apiVersion")),
        _ => Err(Error::new("unsupported chart version")),
    }
}

/// The `apiVersion`, read into a struct of its own (`chartBase`).
fn api_version(metadata: &[u8], limits: &Limits) -> Result<String, Error> {
    let failed = |message: &str| Error::new(format!("cannot load Chart.yaml: {message}"));
    let mut version = String::new();
    match yaml::to_json(metadata, limits).map_err(|error| failed(&error.message))? {
        Value::Null => {}
        Value::Object(map) => {
            for (_, value) in map.iter().filter(|(key, _)| go_json::field(&["apiVersion"], key).is_some()) {
                let text = go_json::string(value, Place::new("chartBase", "apiVersion"))
                    .map_err(|error| failed(&error.message))?;
                version = text.unwrap_or(version);
            }
        }
        other => {
            let found = go_json::kind(&other);
            let message = format!("cannot unmarshal {found} into Go value of type loader.chartBase");
            return Err(failed(&go_json::unmarshal(&message).message));
        }
    }
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helm_4_knows_formats_and_helm_3_takes_all() {
        let text = |version, helm| format(version, helm).map_err(|error| error.message);
        assert_eq!(text("v9", Helm::V3), Ok(()));
        assert_eq!(text("v2", Helm::V4), Ok(()));
        assert_eq!(text("v9", Helm::V4), Err("unsupported chart version".to_owned()));
        assert_eq!(text("v3", Helm::V4), Err("invalid chart apiVersion".to_owned()));
    }

    #[test]
    fn helm_4_reads_the_format_before_the_rest() {
        let read = |text: &str| {
            directory("/c", Some(text.as_bytes()), Helm::V4, &Limits::default()).map_err(|e| e.message)
        };
        let failed = |text: &str| Err(format!("cannot load Chart.yaml: error {text}"));
        let json = "unmarshaling JSON: while decoding JSON: json: cannot unmarshal";
        assert_eq!(read("- a\n"), failed(&format!("{json} array into Go value of type loader.chartBase")));
        assert_eq!(read("5\n"), failed(&format!("{json} number into Go value of type loader.chartBase")));
        assert_eq!(
            read("apiVersion: [v2]\n"),
            failed(&format!("{json} array into Go struct field chartBase.apiVersion of type string"))
        );
        assert_eq!(read("apiVersion: 2\n"), Err("unsupported chart version".to_owned()));
        assert_eq!(
            read("a: [\n"),
            failed("converting YAML to JSON: yaml: line 1: did not find expected node content")
        );
        assert_eq!(read(""), Ok(()));
        assert_eq!(read("apiVersion: null\n"), Ok(()));
    }

    #[test]
    fn a_directory_without_chart_yaml_is_named() {
        let limits = Limits::default();
        let error = directory("/c", None, Helm::V4, &limits).unwrap_err();
        assert!(error.message.starts_with("unable to detect chart at /c/Chart.yaml: open "), "{error}");
        assert!(directory("/c", None, Helm::V3, &limits).is_ok());
    }
}
