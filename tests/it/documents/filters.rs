//! `docs/api.md` lists exactly the filters of each list.

use std::collections::BTreeSet;

use super::markdown::Document;
use testkit::conformance::document;

/// The lists, as the table calls them, and their paths.
const LISTS: [(&str, &str); 9] = [
    ("Services", "/admin/services"),
    ("Policies", "/admin/policies"),
    ("Keys", "/admin/keys"),
    ("API keys", "/admin/api-keys"),
    ("Workload identities", "/admin/identities"),
    ("People", "/admin/people"),
    ("Changes", "/admin/changes"),
    ("Audit log", "/admin/audit"),
    ("Management log", "/admin/audit/management"),
];

/// The parameters that select a page, and no items.
const OF_PAGES: [&str; 3] = ["limit", "cursor", "order"];

#[test]
fn the_table_lists_the_filters_of_each_list() {
    let api = Document::read("docs/api.md");
    let listed: Vec<(String, BTreeSet<String>)> = api
        .rows_under("Lists")
        .iter()
        .map(|row| {
            let [list, filters] = row.as_slice() else {
                panic!("a row must have two cells: {row:?}");
            };
            let filters = filters.split(", ").map(|filter| filter.trim_matches('`').to_owned());
            ((*list).to_owned(), filters.collect())
        })
        .collect();
    let of_path = |path: &str| -> BTreeSet<String> {
        let parameters = document()["paths"][path]["get"]["parameters"].as_array();
        let queries = parameters.into_iter().flatten().filter(|it| it["in"] == "query");
        let names = queries.map(|it| it["name"].as_str().expect("a name").to_owned());
        names.filter(|name| !OF_PAGES.contains(&name.as_str())).collect()
    };
    let known = LISTS.map(|(list, path)| (list.to_owned(), of_path(path)));
    assert_eq!(listed, known);
}
