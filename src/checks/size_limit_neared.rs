//! Sizes near or above what the API server stores.

use super::{Context, Findings};
use crate::finding::{Evidence, ObjectName, Severity};
use crate::render::facts::{ETCD_REQUEST_BYTES, LAST_APPLIED_BYTES, SECRET_BYTES, sizes};
use crate::upgrade::release::Release;

declare_check! {
    /// The release record, an annotation or an object comes near a size limit.
    ///
    /// ## What breaks
    /// A release record above 1 MiB is refused and the upgrade with it. An object above 256 KiB of JSON can't be applied
    /// client-side with kubectl, because the last-applied annotation does not fit; etcd refuses requests above 1.5 MiB.
    ///
    /// ## What to do
    /// Release record: take CRDs out of the release, drop files from the chart. Annotation: apply server-side.
    ///
    /// ## Example
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/big.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: big
    /// data:
    ///   text: "{{ repeat 270000 "x" }}"
    /// ```
    /// ```text finding
    /// notes: ConfigMap big is too large for client-side kubectl apply
    /// ```
    ///
    /// ## Not reported
    /// ```yaml before
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    /// ```yaml after
    /// # Source: demo/templates/config.yaml
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata:
    ///   name: demo
    /// ```
    ///
    /// ## References
    /// - kubernetes v1.34 `apimachinery/pkg/api/validation/objectmeta.go`, `pkg/apis/core/validation/validation.go`
    severity: Breaks
}

pub(super) fn check(context: &Context<'_>, findings: &mut Findings) {
    record(context, findings);
    for size in sizes(context.scene.after) {
        let figure = |limit: usize| Evidence::Figure {
            what: format!("{} as JSON", size.object),
            value: size.json_bytes as u64,
            limit: limit as u64,
            unit: "bytes",
        };
        let name = format!("{} {}", size.object.kind, size.object.name);
        if size.exceeds_etcd() {
            findings
                .say(
                    Severity::Breaks,
                    format!("{name} is larger than etcd takes"),
                    figure(ETCD_REQUEST_BYTES),
                )
                .about(&size.object)
                .advise("split the object, or keep its data outside the cluster's API");
        } else if size.exceeds_last_applied() {
            findings
                .say(
                    Severity::Notes,
                    format!("{name} is too large for client-side kubectl apply"),
                    figure(LAST_APPLIED_BYTES),
                )
                .about(&size.object)
                .advise("kubectl apply --server-side");
        }
    }
}

fn record(context: &Context<'_>, findings: &mut Findings) {
    let scene = context.scene;
    let release = Release::upgraded(scene.release, scene.namespace, scene.after);
    let size = scene.sizes.of(&release);
    let limit = SECRET_BYTES;
    let severity = match size {
        size if size > limit => Severity::Breaks,
        size if size * 10 >= limit * 8 => Severity::Risks,
        _ => return,
    };
    let object = ObjectName {
        kind: "Secret".to_owned(),
        namespace: context.scene.namespace.to_owned(),
        name: release.secret(),
    };
    let message =
        format!("the release record takes about {} % of the 1 MiB that a Secret holds", size * 100 / limit);
    let figure = Evidence::Figure {
        what: "release record, compressed and encoded".to_owned(),
        value: size as u64,
        limit: limit as u64,
        unit: "bytes",
    };
    findings.say(severity, message, figure).about(&object).advise(
        "take the CRDs out of the release (the chart's value for them, CRDs applied with kubectl) or switch off what you do not use; a shorter --history-max does not help, each revision is a Secret of its own",
    );
}
