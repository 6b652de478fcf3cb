//! Verification of a folder of tiles.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::PathBuf;

use serde::Deserialize;

use super::checker::{Checker, LoggedRecord, Progress, VerifiedLog};
use super::finding::{Change, NotVerified};
use super::trust::Trust;
use crate::ledger::Log;
use formats::tlog::{Hash, TILE_WIDTH, Tile, TileContent, entries_of_bundle};

/// A folder with the files of a log under their paths of C2SP `tlog-tiles`.
#[derive(Clone, Debug)]
pub struct TileFolder(PathBuf);

/// The leaf hashes in the tiles, read one tile at a time.
pub(super) struct LeafHashes<'a> {
    folder: &'a TileFolder,
    size: u64,
    tile: Option<(u64, Vec<Hash>)>,
}

#[derive(Deserialize)]
struct TileEntry {
    #[serde(default)]
    id: String,
}

impl TileFolder {
    /// The folder that contains `tile`.
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(super) fn hashes(&self, size: u64) -> LeafHashes<'_> {
        LeafHashes { folder: self, size, tile: None }
    }

    /// The content of a tile, and its width. A full tile also serves as a partial one. None if there is no
    /// file.
    fn read(
        &self,
        content: TileContent,
        index: u64,
        size: u64,
    ) -> Result<Option<(Vec<u8>, u64)>, NotVerified> {
        let Some(tile) = Tile::in_tree(content, index, size) else {
            return Ok(None);
        };
        let full = Tile { width: TILE_WIDTH, ..tile };
        for tile in [tile, full] {
            let path = self.0.join(tile.to_string());
            match fs::read(&path) {
                Ok(bytes) => return Ok(Some((bytes, tile.width))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(NotVerified::File { path, source }),
            }
        }
        Ok(None)
    }
}

impl LeafHashes<'_> {
    /// The hash of the leaf with this position. None if its tile is missing.
    pub(super) fn hash(&mut self, index: u64) -> Result<Option<Hash>, NotVerified> {
        let (number, within) = (index / TILE_WIDTH, index % TILE_WIDTH);
        if self.tile.as_ref().is_none_or(|(known, _)| *known != number) {
            let bytes = self.folder.read(TileContent::Hashes(0), number, self.size)?;
            let (bytes, _) = bytes.unwrap_or_default();
            let hashes = bytes.as_chunks().0.iter().map(|bytes| Hash::from_bytes(*bytes));
            self.tile = Some((number, hashes.collect()));
        }
        let hashes = self.tile.as_ref().map(|(_, hashes)| hashes.as_slice());
        let within = usize::try_from(within).unwrap_or(usize::MAX);
        Ok(hashes.and_then(|hashes| hashes.get(within)).copied())
    }
}

/// Verifies the entries and hashes of a folder of tiles. Entries before the first bundle are retired,
/// except management events, which are never retired.
pub fn tiles(
    trust: &Trust,
    folder: &TileFolder,
    progress: Progress<'_>,
) -> Result<VerifiedLog, NotVerified> {
    let mut checker = Checker::new(trust, progress)?;
    let size = trust.size();
    let mut hashes = folder.hashes(size);
    let mut has_entries = trust.log() == Log::Management;
    for number in 0..size.div_ceil(TILE_WIDTH) {
        let places = number * TILE_WIDTH..size.min((number + 1) * TILE_WIDTH);
        let bundle = folder.read(TileContent::Entries, number, size)?;
        if bundle.is_none() && has_entries {
            checker.find(Change::Missing(places.start));
        }
        has_entries |= bundle.is_some();
        let entries = match &bundle {
            Some((bundle, width)) => Some(entries_of(bundle, *width, number)?),
            None => None,
        };
        for (place, index) in places.enumerate() {
            let entry = entries.as_ref().map(|entries| entries.get(place));
            let entry = match entry {
                Some(None) => {
                    checker.find(Change::Missing(index));
                    None
                }
                Some(Some(entry)) => Some(*entry),
                None => None,
            };
            let named = entry.and_then(|entry| serde_json::from_slice::<TileEntry>(entry).ok());
            checker.push(LoggedRecord {
                index,
                record: &named.map_or_else(String::new, |entry| entry.id),
                own: entry.map(Hash::of_leaf),
                kept: hashes.hash(index)?,
            });
        }
    }
    checker.finish()
}

/// The entries of a tile with this width and number. No hash covers further ones.
fn entries_of(bundle: &[u8], width: u64, number: u64) -> Result<Vec<&[u8]>, NotVerified> {
    let invalid =
        |why: &dyn Display| NotVerified::NotChecked(format!("the entries of tile {number}: {why}"));
    let entries = entries_of_bundle(bundle).map_err(|error| invalid(&error))?;
    if entries.len() as u64 > width {
        return Err(invalid(&"there are more than the tile has"));
    }
    Ok(entries)
}
