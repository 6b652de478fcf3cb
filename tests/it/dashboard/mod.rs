//! The dashboard: whatever a browser would send through the router, and a browser itself.

mod access;
mod browser;
mod chromium;
mod journey;
mod lists;
mod markup;
mod pages;
mod sample;
mod scenes;

use self::browser::Browser;
