//! The tiles of a tree and their paths (C2SP `tlog-tiles`).

use std::fmt;
use std::str::FromStr;

/// The hashes or entries of a full tile.
pub const TILE_WIDTH: u64 = 256;

/// The levels of the tree in one level of tiles.
pub(super) const LEVEL_BITS: u32 = TILE_WIDTH.ilog2();

/// The highest level of tiles that a path can name.
const MAX_LEVEL: u8 = 63;

/// A tile: up to 256 consecutive hashes of a level, or entries.
///
/// Its text is the path below the prefix of the log, such as `tile/0/x001/x234/067.p/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    /// What the tile contains.
    pub content: TileContent,
    /// Its position among the tiles of its level.
    pub index: u64,
    /// The number of hashes or entries, 1 to 256.
    pub width: u64,
}

/// The content of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TileContent {
    /// The hashes of a level. Level 0 has the leaf hashes.
    Hashes(u8),
    /// The entries.
    Entries,
}

/// The text is not the path of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a path of C2SP tlog-tiles, such as tile/0/x001/234.p/8")]
pub struct InvalidPath;

/// The number of hashes on a level of tiles of a tree of `size` leaves.
pub(super) fn count_at(level: u8, size: u64) -> u64 {
    size.checked_shr(LEVEL_BITS * u32::from(level)).unwrap_or(0)
}

impl Tile {
    /// The tile with this index in the tree of `size` leaves. None if the tree has no such tile.
    pub fn in_tree(content: TileContent, index: u64, size: u64) -> Option<Self> {
        let count = count_at(content.level(), size);
        let start = index.checked_mul(TILE_WIDTH)?;
        let width = count.checked_sub(start)?.min(TILE_WIDTH);
        (width > 0).then_some(Self { content, index, width })
    }

    /// The position of its first hash or entry on its level.
    pub fn start(&self) -> u64 {
        self.index.saturating_mul(TILE_WIDTH)
    }

    /// Whether a tree of `size` leaves has this tile, whole or as the beginning of a wider one.
    pub fn is_in(&self, size: u64) -> bool {
        Self::in_tree(self.content, self.index, size).is_some_and(|tile| tile.width >= self.width)
    }
}

impl TileContent {
    /// The level whose positions the tile has. Entries have those of the leaf hashes.
    const fn level(self) -> u8 {
        match self {
            Self::Hashes(level) => level,
            Self::Entries => 0,
        }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.content {
            TileContent::Hashes(level) => write!(f, "tile/{level}/")?,
            TileContent::Entries => f.write_str("tile/entries/")?,
        }
        let mut groups = vec![self.index % 1_000];
        let mut rest = self.index / 1_000;
        while rest > 0 {
            groups.push(rest % 1_000);
            rest /= 1_000;
        }
        while let Some(group) = groups.pop() {
            let (prefix, suffix) = if groups.is_empty() { ("", "") } else { ("x", "/") };
            write!(f, "{prefix}{group:03}{suffix}")?;
        }
        if self.width < TILE_WIDTH {
            write!(f, ".p/{}", self.width)?;
        }
        Ok(())
    }
}

impl FromStr for Tile {
    type Err = InvalidPath;

    fn from_str(path: &str) -> Result<Self, InvalidPath> {
        let parsed = parse(path).ok_or(InvalidPath)?;
        // One path for each tile: no other zeros, groups or signs.
        if parsed.to_string() == path { Ok(parsed) } else { Err(InvalidPath) }
    }
}

fn parse(path: &str) -> Option<Tile> {
    let (content, rest) = path.strip_prefix("tile/")?.split_once('/')?;
    let content = match content {
        "entries" => TileContent::Entries,
        level => TileContent::Hashes(level.parse().ok().filter(|level| *level <= MAX_LEVEL)?),
    };
    let (position, width) = match rest.split_once(".p/") {
        Some((position, width)) => (position, width.parse().ok()?),
        None => (rest, TILE_WIDTH),
    };
    let mut index: u64 = 0;
    for group in position.split('/') {
        let digits: u64 = group.strip_prefix('x').unwrap_or(group).parse().ok()?;
        index = index.checked_mul(1_000)?.checked_add(digits)?;
    }
    (1..=TILE_WIDTH).contains(&width).then_some(Tile { content, index, width })
}
