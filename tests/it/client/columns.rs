//! Columns of a database that contain envelopes.

use sealward_client::{Column, Envelope, ErrorKind};

use super::Served;

const IBAN: Column = Column::new("customers", "iban");
const NAME: Column = Column::new("customers", "name");

#[tokio::test]
async fn values_are_stored_and_opened_in_batches() {
    let served = Served::new().await;
    let (_, client) = served.bound().await;
    let pool = &served.world.pool;
    sqlx::query("CREATE TABLE customers (id int, iban text)").execute(pool).await.unwrap();
    for id in 0..3 {
        let envelope = IBAN.seal(&client, &format!("DE {id}")).await.unwrap();
        let insert = sqlx::query("INSERT INTO customers VALUES ($1, $2)").bind(id).bind(envelope);
        insert.execute(pool).await.unwrap();
    }
    let select = sqlx::query_scalar("SELECT iban FROM customers ORDER BY id");
    let stored: Vec<Envelope> = select.fetch_all(pool).await.unwrap();
    let opened: Vec<String> = IBAN.open_all(&client, &stored).await.unwrap();
    assert_eq!(opened, ["DE 0", "DE 1", "DE 2"]);

    let error = NAME.open::<String>(&client, &stored[0]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DecryptionFailed, "an envelope of another column");
}
