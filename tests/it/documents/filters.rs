//! `docs/api.md` lists exactly the filters of each list.

use std::collections::{BTreeMap, BTreeSet};

use super::markdown::Document;
use testkit::conformance::document;

/// The parameters that select a page, and no items.
const OF_PAGES: [&str; 3] = ["limit", "cursor", "order"];

#[test]
fn the_table_lists_the_filters_of_each_list() {
    let api = Document::read("docs/api.md");
    let rows = api.rows_under("Lists");
    let listed = rows.iter().map(|row| {
        let [path, filters] = row.as_slice() else {
            panic!("a row must have two cells: {row:?}");
        };
        (
            path.trim_matches('`'),
            filters.split(", ").map(|filter| filter.trim_matches('`')).collect(),
        )
    });
    let listed: BTreeMap<&str, BTreeSet<&str>> = listed.collect();
    let paths = document()["paths"].as_object().expect("paths");
    let known = paths.iter().filter_map(|(path, item)| {
        let parameters = item["get"]["parameters"].as_array()?;
        let queries = parameters.iter().filter(|it| it["in"] == "query");
        let names: BTreeSet<&str> = queries.filter_map(|it| it["name"].as_str()).collect();
        let filters: BTreeSet<&str> =
            names.iter().copied().filter(|name| !OF_PAGES.contains(name)).collect();
        (names.contains("limit") && !filters.is_empty()).then_some((path.as_str(), filters))
    });
    assert_eq!(listed, known.collect());
}
