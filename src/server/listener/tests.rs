//! Tests of the age of connections.

use std::collections::BTreeSet;

use super::*;

#[test]
fn the_ports_of_clients_spread_the_age_over_a_tenth_of_the_maximum() {
    let maximum = Duration::from_secs(1_000);
    let age = |port| age_of(SocketAddr::from(([127, 0, 0, 1], port)), maximum);
    let ages: BTreeSet<_> = (40_000..40_100).map(age).collect();
    assert_eq!(ages.len(), 100);
    assert_eq!(ages.first(), Some(&Duration::from_secs(901)));
    assert_eq!(ages.last(), Some(&maximum));
}
