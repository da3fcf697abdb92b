//! What is done to a cluster by hand before something is tried on it.

use seatrial::cluster::simulated::Simulated;
use seatrial::upgrade::course::{Course, PREPARATION};
use seatrial::upgrade::kubectl::Kubectl;
use seatrial::upgrade::link::Link;

/// Lets kubectl do something that has to succeed.
pub(crate) fn by_hand(
    course: &mut Course<Simulated>,
    namespace: &str,
    act: impl FnOnce(&mut Kubectl<'_, '_>),
) {
    let step = course.step("kubectl", PREPARATION, "", namespace, |world| {
        let mut link = Link::new(world, "kubectl", "kubectl");
        let mut kubectl = Kubectl::new(&mut link);
        act(&mut kubectl);
        Ok((kubectl.finish(), Vec::new()))
    });
    let step = step.unwrap();
    assert_eq!(step.exit_code, 0, "{}", step.stderr);
}
