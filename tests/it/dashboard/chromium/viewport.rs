//! Renders pages with a viewport and a color scheme, and checks them with axe.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::Chromium;
use crate::dashboard::markup::packages;

/// A viewport and a color scheme.
#[derive(Clone, Copy, Debug)]
pub(super) struct Viewport {
    pub(super) width: u32,
    pub(super) scheme: &'static str,
}

/// Desktop and phone, light and dark.
pub(super) const VIEWPORTS: [Viewport; 4] = [
    Viewport { width: 1280, scheme: "light" },
    Viewport { width: 1280, scheme: "dark" },
    Viewport { width: 390, scheme: "light" },
    Viewport { width: 390, scheme: "dark" },
];

impl Chromium {
    pub(super) async fn set_viewport(&self, viewport: Viewport) {
        self.screen(viewport, 900).await;
        // Without animations, so that no screenshot shows an intermediate color.
        let scheme = json!([
            { "name": "prefers-color-scheme", "value": viewport.scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.command("Emulation.setEmulatedMedia", json!({ "features": scheme })).await;
    }

    /// Whether the page fits the width of the viewport.
    pub(super) async fn fits(&self) -> bool {
        let fits = "return document.documentElement.scrollWidth <= innerWidth";
        self.run(fits, &[]).await == json!(true)
    }

    /// Loads axe into the current page.
    pub(super) async fn load_axe(&self) {
        let axe = fs::read_to_string(packages().join("node_modules/axe-core/axe.min.js"));
        self.run(&axe.expect("axe-core"), &[]).await;
    }

    /// The violations that axe reports for the current page.
    pub(super) async fn violations(&self, viewport: Viewport) -> Vec<String> {
        // The dark scheme changes only colors.
        let rules: &[&str] = match viewport.scheme {
            "dark" => &["color-contrast", "link-in-text-block"],
            _ => &[],
        };
        let found = self.run_later(AXE, &[json!(rules)]).await;
        let found = found.as_array().expect("violations").iter();
        found.map(|one| one.as_str().expect("a text").to_owned()).collect()
    }

    /// Writes a screenshot of the page with a viewport that is high enough for most pages.
    pub(super) async fn picture(&self, viewport: Viewport, file: &Path) {
        let height = "return document.documentElement.scrollHeight";
        let height = self.run(height, &[]).await.as_u64().expect("a height");
        self.screen(viewport, height.min(1_400)).await;
        let shot = self.command("Page.captureScreenshot", json!({ "format": "png" }));
        let shot = shot.await;
        let data = shot["data"].as_str().expect("a screenshot");
        fs::write(file, BASE64_STANDARD.decode(data).expect("base64"))
            .expect("write the screenshot");
    }

    async fn screen(&self, viewport: Viewport, height: u64) {
        let screen = json!({
            "width": viewport.width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.command("Emulation.setDeviceMetricsOverride", screen).await;
    }

    /// Runs a script that calls its last argument at the end.
    async fn run_later(&self, script: &str, arguments: &[Value]) -> Value {
        let body = json!({ "script": script, "args": arguments });
        let answer = self.post("/execute/async", body).await;
        answer.unwrap_or_else(|refused| panic!("{refused:?}"))
    }
}

const AXE: &str = "
    const [rules, done] = arguments;
    const only = rules.length === 0 ? {} : { runOnly: rules };
    const describe = ({ violations }) => violations.flatMap(({ id, help, nodes }) => nodes.map(node =>
        `${id}: ${help}: ${node.html}: ${node.failureSummary}`));
    axe.run({ resultTypes: ['violations'], preload: false, selectors: false, ...only })
        .then(describe, error => [`${error}`]).then(done);";
