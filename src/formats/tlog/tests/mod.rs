//! Published vectors, and trees of all small sizes.

mod formats;
mod trees;
