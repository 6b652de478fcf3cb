//! Every page without data, with data and with hostile names.

use std::collections::BTreeSet;

use axum::http::StatusCode;

use super::Browser;
use super::markup::faults_of;
use super::sample::{HOSTILE_TEXT, Names, Sample, empty};
use super::scenes::{self, Scene};
use testkit::{Answer, PATIENCE, World, within};

#[tokio::test]
async fn every_page_renders_without_data() {
    let world = empty().await;
    open_all(&world, scenes::without_anything()).await;
}

#[tokio::test]
async fn every_page_renders_with_data() {
    let sample = Sample::new(Names::Typical).await;
    let scenes = scenes::of(&sample).await;
    for route in scenes::routes() {
        let is_covered = scenes.iter().any(|scene| fits(route, &scene.path));
        assert!(is_covered, "{route} has no scene");
    }
    open_all(&sample.world, scenes).await;
}

#[tokio::test]
async fn hostile_names_are_escaped() {
    let sample = Sample::new(Names::Hostile).await;
    let scenes = scenes::with_names(&sample).await;
    let pages = open_all(&sample.world, scenes).await;
    for (name, page) in &pages {
        for text in ["<script", "<b>R"] {
            assert!(!page.body.contains(text), "{name}");
        }
    }
    let (_, list) = pages.iter().find(|(name, _)| name == "services").expect("the list");
    let isolated = "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;";
    assert!(HOSTILE_TEXT.starts_with("<script>") && list.body.contains(isolated));
}

#[tokio::test]
async fn a_statement_that_the_database_refuses_is_a_defect() {
    let world = empty().await;
    let mut browser = Browser::signed_in(&world).await;
    let moved = sqlx::query("ALTER TABLE keys RENAME TO moved").execute(&world.pool).await;
    moved.expect("move the table");
    let page = browser.get("/dashboard/keys").await;
    assert_eq!(page.status, StatusCode::INTERNAL_SERVER_ERROR, "{}", page.body);
    assert!(page.body.contains("Internal error"), "{}", page.body);
}

/// The content security policy: only own styles, images and form targets.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// Opens all pages and checks the requirements that apply to every page.
async fn open_all(world: &World, scenes: Vec<Scene>) -> Vec<(String, Answer)> {
    let mut browser = Browser::signed_in(world).await;
    let mut pages = Vec::new();
    for scene in scenes {
        let page = see(&mut browser, &scene).await;
        let Scene { name, status, .. } = scene;
        assert_eq!(page.status.as_u16(), status, "{name}: {}", page.body);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8", "{name}");
        assert_eq!(page.header("cache-control"), "no-store", "{name}");
        assert_eq!(page.header("content-security-policy"), POLICY, "{name}");
        assert!(page.body.starts_with("<!DOCTYPE html>"), "{name}");
        for absent in ["<script", " style=", "onclick"] {
            assert!(!page.body.contains(absent), "{name}: {absent}");
        }
        pages.push((name, page));
    }
    let faults = faults_of(pages.iter().map(|(name, page)| (name.as_str(), page.body.as_str())));
    assert!(faults.is_empty(), "{faults}");
    pages
}

/// Opens a page or sends its form.
async fn see(browser: &mut Browser<'_>, scene: &Scene) -> Answer {
    match &scene.form {
        None => browser.get(&scene.path).await,
        Some(form) => {
            let fields = form.iter().map(|(name, value)| (*name, value.as_str()));
            let fields: Vec<_> = fields.collect();
            browser.send(&scene.path, &fields).await
        }
    }
}

/// The HTML of the pages with these names, with the data of the screenshots.
pub(crate) async fn sample_pages(names: &BTreeSet<String>) -> Vec<(String, String)> {
    let sample = Sample::new(Names::Typical).await;
    let mut browser = Browser::signed_in(&sample.world).await;
    // The sample advances the clock, so the state of the sealer is unknown until it looks again.
    within(PATIENCE, async || {
        let overview = browser.get("/dashboard").await.ok().body;
        !overview.contains("It is unknown whether audit")
    })
    .await;
    let mut pages = Vec::new();
    for scene in scenes::of(&sample).await {
        if names.contains(&scene.name) {
            let body = see(&mut browser, &scene).await.body;
            pages.push((scene.name, body));
        }
    }
    pages
}

/// Whether a path matches a route.
fn fits(route: &str, path: &str) -> bool {
    let path = path.split('?').next().expect("a path");
    let (route, path) = (route.split('/'), path.split('/'));
    route.clone().count() == path.clone().count()
        && route.zip(path).all(|(route, path)| route == path || route.starts_with('{'))
}

#[tokio::test]
async fn unknown_pages_are_not_found() {
    let world = empty().await;
    let mut browser = Browser::signed_in(&world).await;
    for place in [
        "keys/key_00000000000000000000000000",
        "policies/NONE",
        "audit/x",
        "keys/%ff",
        "keys/%ff/disable",
        "keys/key_00000000000000000000000000/%ff",
    ] {
        let missing = browser.get(&format!("/dashboard/{place}")).await;
        assert_eq!(missing.status, StatusCode::NOT_FOUND, "{place}");
    }
}
