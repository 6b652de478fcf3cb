//! Settings of earlier versions. They are accepted, so that existing files still work, and each one
//! sets its replacement, unless the replacement is also set.

use std::fmt;

/// The settings that no longer exist, and the settings that replace them.
pub(super) const REMOVED: [Removed; 4] = [
    Removed::new(["database", "owner_url"], ["migrate", "url"]),
    Removed::new(["database", "owner_password"], ["migrate", "password"]),
    Removed::new(["audit", "retention_days"], ["retain", "days"]),
    Removed::new(["audit", "drop_retired"], ["retain", "drop"]),
];

/// A setting that no longer exists: section and name, before and now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Removed {
    old: [&'static str; 2],
    new: [&'static str; 2],
}

impl Removed {
    const fn new(old: [&'static str; 2], new: [&'static str; 2]) -> Self {
        Self { old, new }
    }

    /// The name of its variable without the prefix.
    pub(super) fn variable(self) -> String {
        self.old.join("_").to_ascii_uppercase()
    }

    /// The path of the setting that replaces it.
    pub(super) fn replacement(self) -> [&'static str; 2] {
        self.new
    }

    /// Removes it from `table`.
    pub(super) fn take(self, table: &mut toml::Table) -> Option<toml::Value> {
        let [section, name] = self.old;
        table.get_mut(section)?.as_table_mut()?.remove(name)
    }

    /// Sets the setting that replaces it, unless that is set.
    pub(super) fn replace(self, table: &mut toml::Table, value: toml::Value) {
        let [section, name] = self.new;
        let section = table
            .entry(section)
            .or_insert_with(|| toml::Value::Table(toml::Table::new()));
        if let toml::Value::Table(section) = section {
            section.entry(name).or_insert(value);
        }
    }
}

impl fmt::Display for Removed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([old_section, old], [section, new]) = (self.old, self.new);
        write!(
            formatter,
            "{old_section}.{old} is a removed setting: use {section}.{new}, which only \
             `sealward {section}` reads"
        )
    }
}
