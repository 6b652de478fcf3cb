//! Every page in every viewport and color scheme.

use std::env;
use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::Chromium;
use super::viewport::{VIEWPORTS, Viewport};
use crate::dashboard::sample::{Names, Sample};
use crate::dashboard::scenes::{self, Scene};

#[tokio::test]
async fn every_page_is_accessible() {
    let sample = Sample::new(Names::Typical).await;
    let chromium = Chromium::signed_in(&sample.world).await;
    let pictures = pictures();
    let mut faults = Vec::new();
    for scene in scenes::of(&sample).await {
        chromium.see(&scene).await;
        chromium.load_axe().await;
        for viewport in VIEWPORTS {
            chromium.set_viewport(viewport).await;
            let Viewport { width, scheme } = viewport;
            let name = format!("{}-{width}-{scheme}", scene.name);
            let violations = chromium.violations(viewport).await.into_iter();
            faults.extend(violations.map(|fault| format!("{name}: {fault}")));
            if !chromium.fits().await {
                faults.push(format!("{name}: is wider than the viewport"));
            }
            if let Some(pictures) = &pictures {
                chromium.picture(viewport, &pictures.join(format!("{name}.png"))).await;
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
async fn long_names_fit_the_screen() {
    let sample = Sample::new(Names::Hostile).await;
    let chromium = Chromium::signed_in(&sample.world).await;
    for scene in scenes::with_names(&sample).await {
        chromium.see(&scene).await;
        for width in WIDTHS {
            let scheme = "light";
            chromium.set_viewport(Viewport { width, scheme }).await;
            assert!(chromium.fits().await, "{} at {width}", scene.name);
        }
    }
}

/// Phones, tablets in both orientations, a desktop, and both sides of each layout breakpoint.
const WIDTHS: [u32; 7] = [320, 390, 834, 961, 1024, 1241, 1280];

impl Chromium {
    /// Opens a page or sends its form.
    async fn see(&self, scene: &Scene) {
        let Some(form) = &scene.form else {
            return self.open(&scene.path).await;
        };
        self.open("/dashboard/services/new").await;
        self.run("window.left = true", &[]).await;
        self.run(SEND, &[json!(scene.path), json!(form)]).await;
        self.arrive().await;
    }
}

const SEND: &str = "
    const [path, fields] = arguments;
    const form = document.createElement('form');
    form.method = 'post';
    form.action = path;
    const token = document.querySelector('[name=form-token]').value;
    for (const [name, value] of [...fields, ['form-token', token]]) {
        const field = document.createElement('textarea');
        [field.name, field.value] = [name, value];
        form.append(field);
    }
    document.body.append(form);
    form.submit();";

/// The folder for screenshots, if requested.
#[allow(clippy::disallowed_methods, reason = "tests/outside/screenshots/run sets this variable")]
fn pictures() -> Option<PathBuf> {
    let folder: PathBuf = env::var_os("SEALWARD_TEST_PICTURES")?.into();
    fs::create_dir_all(&folder).expect("a folder for the pictures");
    Some(folder)
}
