//! Logs to change, and what their verification finds.

use std::fs;

use engine::db::Pool;
use engine::ledger::verify::{self, Change, Finding, NotVerified, TileFolder, Trust, VerifiedLog};
use engine::ledger::{self, Log};
use formats::tlog::{TILE_WIDTH, Tile, TileContent};
use serde_json::Value;

use crate::ledger::fixture::Kept;

/// A log of six records with checkpoints of four and of six.
pub(super) struct Sealed {
    pub(super) kept: Kept,
    pub(super) key: String,
    pub(super) checkpoints: [String; 2],
    pub(super) lines: Vec<String>,
}

impl Sealed {
    pub(super) async fn new() -> Self {
        Self::of(Kept::new().await, [(4, 4), (2, 6)]).await
    }

    /// With as many more records, and with checkpoints of these sizes.
    pub(super) async fn of(kept: Kept, checkpointed: [(usize, u64); 2]) -> Self {
        let sealer = kept.sealer().await;
        let mut checkpoints = Vec::new();
        for (count, size) in checkpointed {
            kept.record(count).await;
            kept.covered(size).await;
            let note = ledger::checkpoint(&kept.pool, Log::Operations).await;
            checkpoints.push(note.unwrap().unwrap());
        }
        sealer.stop().await;
        let keys = ledger::keys(&kept.pool, Log::Operations).await.unwrap().unwrap();
        let lines = kept.export().await;
        Self { kept, key: keys[0].to_string(), checkpoints: checkpoints.try_into().unwrap(), lines }
    }

    /// The hash of a record in base64.
    pub(super) async fn hash(&self, index: i64) -> String {
        let sql = "SELECT encode(leaf_hash, 'base64') FROM audit_log_index
                    WHERE log = 1 AND log_index = $1";
        let hash = sqlx::query_scalar(sql).bind(index);
        hash.fetch_one(&self.kept.owner).await.unwrap()
    }

    pub(super) fn trust(&self) -> Trust {
        let mut trust = Trust::new(&self.key).unwrap();
        self.checkpoints.iter().for_each(|note| trust.add(note).unwrap());
        trust
    }

    pub(super) fn export(
        &self,
        lines: &[String],
        tiles: Option<&TileFolder>,
    ) -> Result<VerifiedLog, NotVerified> {
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        verify::export(&self.trust(), text.as_bytes(), tiles, &mut |_| ())
    }

    pub(super) async fn database(&self) -> Result<VerifiedLog, NotVerified> {
        verify::database(&self.trust(), &self.kept.pool, &mut |_| ()).await
    }

    pub(super) fn id(&self, index: usize) -> String {
        member(&self.lines[index], "id").as_str().unwrap().to_owned()
    }

    /// Writes the tiles of the log to a folder.
    pub(super) async fn mirror(&self) -> TileFolder {
        let folder = self.kept.folder.path().join("mirror");
        for content in [TileContent::Hashes(0), TileContent::Entries] {
            let tile = Tile::in_tree(content, 0, 6).unwrap();
            assert!(tile.width < TILE_WIDTH);
            let bytes = ledger::tile(&self.kept.pool, Log::Operations, &tile).await;
            let path = folder.join(tile.to_string());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes.unwrap().unwrap()).unwrap();
        }
        TileFolder::new(folder)
    }
}

pub(super) fn member(line: &str, name: &str) -> Value {
    serde_json::from_str::<Value>(line).unwrap()[name].clone()
}

/// The line with another value of a member.
pub(super) fn with(line: &str, name: &str, value: Value) -> String {
    let mut record: Value = serde_json::from_str(line).unwrap();
    record[name] = value;
    record.to_string()
}

#[track_caller]
pub(super) fn finds(
    result: Result<VerifiedLog, NotVerified>,
    change: &Change,
    checkpoint: Option<u64>,
) {
    let Err(NotVerified::Tampered(findings)) = result else {
        panic!("{result:?}");
    };
    let change = change.clone();
    assert_eq!(findings.first[0], Finding { change, checkpoint });
}

/// The key and the checkpoint of the management log.
pub(super) async fn management_log(pool: &Pool) -> Trust {
    let keys = ledger::keys(pool, Log::Management).await.unwrap().unwrap();
    let note = ledger::checkpoint(pool, Log::Management).await.unwrap();
    let mut trust = Trust::new(&keys[0].to_string()).unwrap();
    trust.add(&note.unwrap()).unwrap();
    trust
}
