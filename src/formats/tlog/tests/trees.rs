//! Trees and proofs: the reference vectors of Certificate Transparency, and every small tree.

use std::fmt::Write as _;
use std::ops::Range;

use crate::tlog::*;

/// The leaves of the reference tree of Certificate Transparency.
const LEAVES: [&[u8]; 8] = [
    b"",
    b"\x00",
    b"\x10",
    b"\x20\x21",
    b"\x30\x31",
    b"\x40\x41\x42\x43",
    b"\x50\x51\x52\x53\x54\x55\x56\x57",
    b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
];

/// The roots of its first 1 to 8 leaves.
const ROOTS: [&str; 8] = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

/// A tree with all its tiles.
#[derive(Default)]
struct Whole {
    tree: Tree,
    levels: Vec<Vec<Hash>>,
}

impl Whole {
    fn append(&mut self, leaf: Hash) {
        if self.levels.is_empty() {
            self.levels.push(Vec::new());
        }
        self.levels[0].push(leaf);
        let levels = &mut self.levels;
        self.tree.append(leaf, |node| {
            let level = usize::from(node.level);
            levels.resize(levels.len().max(level + 1), Vec::new());
            assert_eq!(levels[level].len() as u64, node.index);
            levels[level].push(node.hash);
        });
    }

    fn of(size: u64) -> Self {
        let mut whole = Self::default();
        for leaf in 0..size {
            whole.append(Hash::of_leaf(&leaf.to_be_bytes()));
        }
        whole
    }

    /// The set of the tiles that the subtrees need in the tree of `size` leaves.
    fn tiles(&self, subtrees: &[Range<u64>], size: u64) -> TileSet {
        let mut set = TileSet::default();
        for tile in TileSet::needed(subtrees, size) {
            let TileContent::Hashes(level) = tile.content else {
                panic!("a tile of hashes");
            };
            let [start, width] = [tile.start(), tile.width].map(|it| usize::try_from(it).unwrap());
            let hashes = &self.levels[usize::from(level)][start..start + width];
            set.insert(level, tile.index, hashes.to_vec());
        }
        set
    }

    fn root(&self, size: u64) -> Hash {
        self.tiles(std::slice::from_ref(&(0..size)), size).root(size).unwrap()
    }

    fn prove(&self, subtrees: &[Range<u64>], size: u64) -> Vec<Hash> {
        self.tiles(subtrees, size).hashes(subtrees).unwrap()
    }
}

fn hex(hash: &Hash) -> String {
    hash.as_bytes().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn reference() -> Whole {
    let mut whole = Whole::default();
    for leaf in LEAVES {
        whole.append(Hash::of_leaf(leaf));
    }
    whole
}

#[test]
fn the_reference_tree_has_the_published_roots() {
    let mut tree = Tree::default();
    assert_eq!(
        hex(&tree.root()),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    for (leaf, root) in LEAVES.into_iter().zip(ROOTS) {
        tree.append(Hash::of_leaf(leaf), |_| panic!("no tile is full"));
        assert_eq!(hex(&tree.root()), root);
    }
}

#[test]
fn the_reference_tree_has_the_published_proofs() {
    let whole = reference();
    let proof = |subtrees: Option<Vec<Range<u64>>>, size| {
        let hashes = whole.prove(&subtrees.unwrap(), size);
        hashes.iter().map(hex).collect::<Vec<_>>()
    };
    assert_eq!(
        proof(inclusion(0, 8), 8),
        [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ]
    );
    assert_eq!(
        proof(consistency(6, 8), 8),
        [
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ]
    );
    assert_eq!(
        proof(consistency(2, 5), 5),
        [
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ]
    );
}

#[test]
fn every_leaf_of_a_small_tree_has_a_proof_that_proves_it_alone() {
    let whole = Whole::of(40);
    for size in 1..=40 {
        let root = whole.root(size);
        for index in 0..size {
            let leaf = Hash::of_leaf(&index.to_be_bytes());
            let proof = whole.prove(&inclusion(index, size).unwrap(), size);
            assert_eq!(verify_inclusion(leaf, index, size, &proof, root), Ok(()));
            for other in (0..=size).filter(|other| *other != index) {
                assert!(verify_inclusion(leaf, other, size, &proof, root).is_err());
            }
            let other = Hash::of_leaf(b"other");
            assert!(verify_inclusion(other, index, size, &proof, root).is_err());
            assert!(verify_inclusion(leaf, index, size, &proof, other).is_err());
            let longer = [proof.as_slice(), &[other]].concat();
            assert!(verify_inclusion(leaf, index, size, &longer, root).is_err());
            if let Some((_, shorter)) = proof.split_last() {
                assert!(verify_inclusion(leaf, index, size, shorter, root).is_err());
            }
        }
    }
    assert_eq!(inclusion(40, 40), None);
}

#[test]
fn every_small_tree_extends_the_smaller_ones_and_no_other() {
    let whole = Whole::of(40);
    for new in 0..=40 {
        for old in 0..=new {
            let (before, after) = ((old, whole.root(old)), (new, whole.root(new)));
            let proof = whole.prove(&consistency(old, new).unwrap(), new);
            assert_eq!(verify_consistency(before, after, &proof), Ok(()), "{old} {new}");
            let other = Hash::of_leaf(b"other");
            assert!(verify_consistency((old, other), after, &proof).is_err());
            if old > 0 {
                assert!(verify_consistency(before, (new, other), &proof).is_err());
            }
            let longer = [proof.as_slice(), &[other]].concat();
            assert!(verify_consistency(before, after, &longer).is_err());
            if let Some((_, shorter)) = proof.split_last() {
                assert!(verify_consistency(before, after, shorter).is_err());
            }
        }
    }
    assert_eq!(consistency(9, 8), None);
}

#[test]
fn large_trees_agree_with_their_tiles() {
    let whole = Whole::of(70_000);
    assert_eq!(whole.tree.root(), whole.root(70_000));
    for (index, size) in
        [(0, 70_000), (69_999, 70_000), (65_535, 65_536), (255, 257), (300, 66_000)]
    {
        let proof = whole.prove(&inclusion(index, size).unwrap(), size);
        let leaf = Hash::of_leaf(&index.to_be_bytes());
        assert_eq!(verify_inclusion(leaf, index, size, &proof, whole.root(size)), Ok(()));
        let proof = whole.prove(&consistency(index + 1, size).unwrap(), size);
        let (old, new) = (index + 1, size);
        assert_eq!(
            verify_consistency((old, whole.root(old)), (new, whole.root(new)), &proof),
            Ok(())
        );
    }
}

#[test]
fn a_tree_continues_from_its_right_edge() {
    let whole = Whole::of(70_000);
    let edge = |level: usize| {
        let hashes = &whole.levels[level];
        hashes[hashes.len() / 256 * 256..].to_vec()
    };
    let levels: Vec<_> = (0..3).map(edge).collect();
    let widths: Vec<_> = levels.iter().map(Vec::len).collect();
    assert_eq!(widths, [112, 17, 1]);
    let tree = Tree::from_edge(70_000, levels.clone()).unwrap();
    assert_eq!(tree, whole.tree);
    assert_eq!(Tree::from_edge(70_001, levels.clone()), None);
    assert_eq!(Tree::from_edge(70_000, levels[..2].to_vec()), None);
    assert_eq!(Tree::from_edge(0, Vec::new()), Some(Tree::default()));
}

#[test]
fn a_missing_tile_is_named() {
    let subtrees = inclusion(0, 600).unwrap();
    let whole = Whole::of(600);
    let mut set = TileSet::default();
    set.insert(0, 0, whole.levels[0][..256].to_vec());
    assert_eq!(set.hashes(&subtrees), Err(MissingTile { level: 1, index: 0 }));
}
