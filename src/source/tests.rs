use super::*;

#[test]
fn references_are_told_apart() {
    let named = Reference::parse("kubeflow-trainer@2.3.0").unwrap();
    assert_eq!(named, Reference::Named { name: "kubeflow-trainer".into(), version: "2.3.0".into() });
    let Reference::Oci(oci) = Reference::parse("oci://ghcr.io/a/b:1.0_x").unwrap() else { panic!() };
    assert_eq!((oci.host.as_str(), oci.path.as_str(), oci.tag.as_deref()), ("ghcr.io", "a/b", Some("1.0+x")));
    for text in
        ["oci://host", "oci://h/p@sha256:xyz", "oci://h/../p:1", "no/such/dir", "name", "oci://h/p:a b"]
    {
        let error = Reference::parse(text).unwrap_err();
        assert!(!error.hint.is_empty(), "{text}: {error}");
    }
}

#[test]
fn cache_is_searched_and_its_lock_enforced() {
    let dir = tempfile::tempdir().unwrap();
    let oci = reference::Oci::parse("oci://example.test/charts/demo:1.0.0").unwrap();
    let caches = vec![dir.path().to_owned()];
    cache::store(&caches, &oci, b"bytes").unwrap();
    let sources = Sources { caches, offline: true, ..Sources::default() };
    for reference in ["demo@1.0.0", "oci://example.test/charts/demo:1.0.0"] {
        assert_eq!(sources.fetch(reference).unwrap().digest().unwrap(), lock::digest(b"bytes"));
    }
    std::fs::write(dir.path().join("demo-1.0.0.tgz"), b"other").unwrap();
    let error = sources.fetch("demo@1.0.0").unwrap_err();
    assert!(error.message.contains("wrong digest"), "{error}");
}

#[test]
fn offline_never_asks_the_network() {
    let sources = Sources { offline: true, ..Sources::default() };
    let error = sources.fetch("kubeflow-trainer@9.9.9").unwrap_err();
    assert!(error.message.contains("--offline"), "{error}");
    let error = sources.fetch("unknown@1.0.0").unwrap_err();
    assert!(error.hint.contains("oci://"), "{error}");
}

#[test]
fn what_a_cache_has_of_a_chart_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["web-1.2.0.tgz", "web-v1.10.0.tgz", "web-extra-2.0.0.tgz", "web.tgz"] {
        std::fs::write(dir.path().join(file), "").unwrap();
    }
    assert_eq!(cache::others(&[dir.path().to_owned()], "web"), ["web@1.10.0", "web@1.2.0"]);
    let tag = Reference::parse("web@latest").unwrap_err();
    assert!(tag.message.contains("`latest` is no version"), "{}", tag.message);
}

#[test]
fn unreachable_registry_is_a_clear_error() {
    let sources = Sources { plain_http: true, ..Sources::default() };
    let error = sources.fetch("oci://127.0.0.1:1/charts/demo:1.0.0").unwrap_err();
    assert!(error.message.contains("127.0.0.1:1"), "{error}");
}

#[test]
fn directories_are_read_in_order_under_limits() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("templates")).unwrap();
    std::fs::write(dir.path().join("values.yaml"), "a: 1").unwrap();
    std::fs::write(dir.path().join("templates/a.yaml"), "x").unwrap();
    let files = directory::read(dir.path(), &Limits::default()).unwrap();
    assert_eq!(
        files.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(),
        ["templates/a.yaml", "values.yaml"]
    );
    let small = Limits { file_bytes: 2, ..Limits::default() };
    assert!(directory::read(dir.path(), &small).unwrap_err().message.contains("larger than 2 bytes"));
}

#[cfg(unix)]
#[test]
fn link_loops_end() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(dir.path(), dir.path().join("loop")).unwrap();
    assert!(directory::read(dir.path(), &Limits::default()).is_err());
}
