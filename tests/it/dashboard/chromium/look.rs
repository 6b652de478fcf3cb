//! How a page is looked at: on a screen of some width, by day or by night, by axe.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::Chromium;
use crate::dashboard::markup::packages;

/// One way of looking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) width: u32,
    pub(super) scheme: &'static str,
}

/// On a desk and on a phone, by day and by night.
pub(super) const LOOKS: [Look; 4] = [
    Look {
        width: 1280,
        scheme: "light",
    },
    Look {
        width: 1280,
        scheme: "dark",
    },
    Look {
        width: 390,
        scheme: "light",
    },
    Look {
        width: 390,
        scheme: "dark",
    },
];

impl Chromium {
    pub(super) async fn look(&self, look: Look) {
        self.screen(look, 900).await;
        // Without motion, so that nothing is caught half way between two colours.
        let scheme = json!([
            { "name": "prefers-color-scheme", "value": look.scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.command("Emulation.setEmulatedMedia", json!({ "features": scheme }))
            .await;
    }

    /// Whether nothing of the page lies beyond the screen's side.
    pub(super) async fn fits(&self) -> bool {
        let fits = "return document.documentElement.scrollWidth <= innerWidth";
        self.run(fits, &[]).await == json!(true)
    }

    /// Gives the page axe to be asked with; until the next page.
    pub(super) async fn hand_axe(&self) {
        let axe = fs::read_to_string(packages().join("node_modules/axe-core/axe.min.js"));
        self.run(&axe.expect("axe-core"), &[]).await;
    }

    /// What axe holds against the page, as it is looked at.
    pub(super) async fn violations(&self, look: Look) -> Vec<String> {
        // The night changes colours and nothing else.
        let rules: &[&str] = match look.scheme {
            "dark" => &["color-contrast", "link-in-text-block"],
            _ => &[],
        };
        let found = self.run_later(AXE, &[json!(rules)]).await;
        let found = found.as_array().expect("violations").iter();
        found
            .map(|one| one.as_str().expect("one in words").to_owned())
            .collect()
    }

    /// A picture of the page, on a screen that is high enough for most of it.
    pub(super) async fn picture(&self, look: Look, file: &Path) {
        let height = "return document.documentElement.scrollHeight";
        let height = self.run(height, &[]).await.as_u64().expect("a height");
        self.screen(look, height.min(1_400)).await;
        let shot = self.command("Page.captureScreenshot", json!({ "format": "png" }));
        let shot = shot.await;
        let data = shot["data"].as_str().expect("a picture");
        fs::write(file, BASE64_STANDARD.decode(data).expect("base64")).expect("keep the picture");
    }

    async fn screen(&self, look: Look, height: u64) {
        let screen = json!({
            "width": look.width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.command("Emulation.setDeviceMetricsOverride", screen)
            .await;
    }

    /// Runs a script that calls the last of its arguments when it is done.
    async fn run_later(&self, script: &str, arguments: &[Value]) -> Value {
        let order = json!({ "script": script, "args": arguments });
        let answer = self.post("/execute/async", order).await;
        answer.unwrap_or_else(|refused| panic!("{refused:?}"))
    }
}

const AXE: &str = "
    const [rules, done] = arguments;
    const only = rules.length === 0 ? {} : { runOnly: rules };
    const tell = ({ violations }) => violations.flatMap(({ id, help, nodes }) => nodes.map(node =>
        `${id}: ${help}: ${node.html}: ${node.failureSummary}`));
    axe.run({ resultTypes: ['violations'], preload: false, selectors: false, ...only })
        .then(tell, error => [`${error}`]).then(done);";
