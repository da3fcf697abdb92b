//! What Helm looks at before it loads a chart: whether it is one, and of which format.
//!
//! Source: Helm v4.3.1 `pkg/chart/loader/load.go`, Helm v3.22.0 `pkg/chart/loader/archive.go`.

use super::{Error, File, Helm, archive};
use crate::limits::Limits;
use crate::yaml;

/// Looks at the Chart.yaml of a directory.
///
/// # Errors
/// In Helm's words.
pub fn directory(root: &str, metadata: Option<&[u8]>, helm: Helm, limits: &Limits) -> Result<(), Error> {
    if helm.major < 4 {
        return Ok(());
    }
    let path = format!("{root}/Chart.yaml");
    let metadata = metadata.ok_or_else(|| {
        Error::new(format!("unable to detect chart at {path}: open {path}: no such file or directory"))
    })?;
    format(&api_version(metadata, limits), helm)
}

/// Looks at an archive that lies under a path; its files where that took it apart.
///
/// # Errors
/// In Helm's words.
pub fn archive(path: &str, data: &[u8], helm: Helm, limits: &Limits) -> Result<Option<Vec<File>>, Error> {
    archive::ensure_archive(path, data)?;
    if helm.major < 4 {
        return Ok(None);
    }
    let files = archive::unpack(data, helm, limits).map_err(|error| match error.message.as_str() {
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
    format(&api_version(&metadata.data, limits), helm)?;
    Ok(Some(files))
}

/// Whether a Helm version loads charts of this `apiVersion`.
///
/// # Errors
/// In Helm's words.
pub fn format(api_version: &str, helm: Helm) -> Result<(), Error> {
    match api_version {
        _ if helm.major < 4 => Ok(()),
        "" | "v1" | "v2" => Ok(()),
        // The format is known, but no command takes it yet.
        "v3" => Err(Error::new("invalid chart apiVersion")),
        _ => Err(Error::new("unsupported chart version")),
    }
}

/// The `apiVersion`; empty where Chart.yaml can't be read, which loading it tells better.
fn api_version(metadata: &[u8], limits: &Limits) -> String {
    let json = yaml::to_json(metadata, limits).unwrap_or_default();
    json.get("apiVersion").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
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
    fn a_directory_without_chart_yaml_is_named() {
        let limits = Limits::default();
        let error = directory("/c", None, Helm::V4, &limits).unwrap_err();
        assert!(error.message.starts_with("unable to detect chart at /c/Chart.yaml: open "), "{error}");
        assert!(directory("/c", None, Helm::V3, &limits).is_ok());
    }
}
