//! Every page as people see it: on a desk and on a phone, by day and by night.

use std::env;
use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::Chromium;
use super::look::{LOOKS, Look};
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
        chromium.hand_axe().await;
        for look in LOOKS {
            chromium.look(look).await;
            let Look { width, scheme } = look;
            let name = format!("{}-{width}-{scheme}", scene.name);
            let violations = chromium.violations(look).await.into_iter();
            faults.extend(violations.map(|fault| format!("{name}: {fault}")));
            if !chromium.fits().await {
                faults.push(format!("{name}: is wider than the screen"));
            }
            if let Some(pictures) = &pictures {
                chromium
                    .picture(look, &pictures.join(format!("{name}.png")))
                    .await;
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
            chromium.look(Look { width, scheme }).await;
            assert!(chromium.fits().await, "{} at {width}", scene.name);
        }
    }
}

/// Phones, tablets either way round, a desk; and to either side of where the layout changes.
const WIDTHS: [u32; 7] = [320, 390, 834, 961, 1024, 1241, 1280];

impl Chromium {
    /// Opens a page, or sends the form that leads to it.
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

/// Where pictures of the pages are wanted, if they are.
#[allow(
    clippy::disallowed_methods,
    reason = "tests/screenshots/run asks for pictures by this"
)]
fn pictures() -> Option<PathBuf> {
    let folder: PathBuf = env::var_os("SEALWARD_TEST_PICTURES")?.into();
    fs::create_dir_all(&folder).expect("a folder for the pictures");
    Some(folder)
}
