//! The judgement of a change: whether it can need approval.

use sqlx::PgConnection;

use crate::change_kind::ChangeKind;
use crate::keys::DefaultKey;

/// The kinds of one change, judged by the states before and after it.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    pub(in crate::management) kinds: Vec<ChangeKind>,
    default_key: Option<DefaultKey>,
}

impl Judgement {
    /// A change of these kinds.
    pub fn of(kinds: impl IntoIterator<Item = ChangeKind>) -> Self {
        Self {
            kinds: kinds.into_iter().collect(),
            default_key: None,
        }
    }

    /// The same change, which makes another key the default if `key` is the default now.
    #[must_use]
    pub fn with_default_key(self, key: Option<DefaultKey>) -> Self {
        Self {
            default_key: key,
            ..self
        }
    }

    /// The kinds, with those that depend on other resources.
    pub(in crate::management) async fn kinds(
        &self,
        connection: &mut PgConnection,
    ) -> sqlx::Result<Vec<ChangeKind>> {
        let mut kinds = self.kinds.clone();
        if let Some(key) = &self.default_key
            && key.has_substitute(connection).await?
        {
            kinds.push(ChangeKind::KeyActivate);
        }
        Ok(kinds)
    }
}
