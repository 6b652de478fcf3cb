//! The dashboard, through the router: whatever a browser would send.

mod browser;
mod gate;
mod journey;
mod pages;

use self::browser::Browser;
