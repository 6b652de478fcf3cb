//! The rows of every resource that the API creates and changes, each made from the example of the OpenAPI document.

use sqlx::AssertSqlSafe;
use uuid::Uuid;

use super::Intruder;
use crate::openapi::{new_resource, operations};
use testkit::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_whose_row_was_changed_is_not_found() {
    let world = World::new().await;
    let intruder = Intruder::of(&world);
    let (destination, _) = world.bound_application().await;
    let mut seen = 0;
    for (_, path, _) in operations().filter(|(method, ..)| method == "PATCH") {
        let list = path.strip_suffix("/{id}").expect("the path of a resource");
        let new =
            new_resource(list, &destination.service, &destination.policy).expect("an example");
        let id = world.admin().post(list, new).await.created().text("id");
        let resource = format!("{list}/{id}");
        let (table, row) = newest(&world).await;
        intruder.keep(&world, &table).await;
        for change in ["updated_at = updated_at + interval '1 hour'", "seal = NULL"] {
            let sql = format!("UPDATE {table} SET {change} WHERE id = '{row}'");
            sqlx::query(AssertSqlSafe(sql)).execute(&world.pool).await.expect("a change");
            let answer = world.admin().get(&resource).await;
            assert_eq!(answer.status, 404, "{resource}: {change}");
            intruder.put_back(&table).await;
            world.admin().get(&resource).await.ok();
        }
        seen += 1;
    }
    assert!(seen >= 5, "{seen} resources");
}

/// The table and the identifier of the row that was made last.
async fn newest(world: &World) -> (String, Uuid) {
    let made = "SELECT table_name, id FROM revisions
                 WHERE what = 'made' AND table_name IN (SELECT tablename FROM pg_tables)
                 ORDER BY id DESC LIMIT 1";
    sqlx::query_as(made).fetch_one(&world.pool).await.expect("a row")
}
