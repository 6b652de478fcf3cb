//! Bodies that are no bodies of this API.

use axum::http::Method;

use super::Site;

#[tokio::test]
async fn bodies_that_are_no_objects_are_refused() {
    let site = Site::new().await;
    site.key("orders", "data", "AES-256").await;
    let vault = site.vault();
    for body in [
        "[]",
        "null",
        "7",
        "\"x\"",
        "{\"plaintext\":\"\",\"plaintext\":\"\"}",
        "{\"plaintext\":7}",
        "{\"plaintext\":\"\\u0000\"}",
        "{\"plaintext\":\"\\ud800\"}",
        "{\"plaintext\":[]}",
        "\u{feff}{}",
    ] {
        let answer = vault.0.send_text(Method::POST, "/v1/transit/encrypt/orders", body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        let errors = answer.json();
        assert!(errors["errors"][0].is_string(), "{body}: {errors}");
        assert_eq!(errors.as_object().unwrap().len(), 1);
    }
    let deep = format!("{{\"plaintext\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let answer = vault.0.send_text(Method::POST, "/v1/transit/encrypt/orders", &deep).await;
    assert_eq!(answer.status, 400);
}
