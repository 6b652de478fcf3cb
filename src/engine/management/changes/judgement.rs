//! The judgement of a change: whether it can need approval.

use sqlx::PgConnection;

use crate::auth::GivenUpMatch;
use crate::change_kind::ChangeKind;
use crate::keys::DefaultKey;
use crate::resource::Rows;

/// The kinds of one change, judged by the states before and after it.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    pub(in crate::management) kinds: Vec<ChangeKind>,
    given_up: Option<DefaultKey>,
    promoted: Option<DefaultKey>,
    given_up_match: Option<GivenUpMatch>,
}

impl Judgement {
    /// A change of these kinds.
    pub fn of(kinds: impl IntoIterator<Item = ChangeKind>) -> Self {
        Self { kinds: kinds.into_iter().collect(), ..Self::default() }
    }

    /// The same change, which makes another key the default if `key` is the default now, or would be it
    /// later.
    pub(crate) fn giving_up(self, key: Option<DefaultKey>) -> Self {
        Self { given_up: key, ..self }
    }

    /// The same change, after which `key` or its successor can become the default. That is another key
    /// unless `key` is the default now.
    pub(crate) fn promoting(self, key: Option<DefaultKey>) -> Self {
        Self { promoted: key, ..self }
    }

    /// The same change, after which another identity can accept what this one refused with it.
    pub(crate) fn giving_up_match(self, given_up: Option<GivenUpMatch>) -> Self {
        Self { given_up_match: given_up, ..self }
    }

    /// The kinds, with those that depend on other resources.
    pub(in crate::management) async fn kinds(
        &self,
        mut rows: Rows<&mut PgConnection>,
    ) -> sqlx::Result<Vec<ChangeKind>> {
        let mut kinds = self.kinds.clone();
        let mut activates = false;
        if let Some(key) = &self.given_up {
            activates |= key.has_substitute(rows.again()).await?;
        }
        if let Some(key) = &self.promoted {
            activates |= key.is_replaced(rows.again()).await?;
        }
        if activates && !kinds.contains(&ChangeKind::KeyActivate) {
            kinds.push(ChangeKind::KeyActivate);
        }
        if let Some(given_up) = &self.given_up_match
            && !kinds.contains(&ChangeKind::CredentialOpen)
            && given_up.has_rival(rows.again()).await?
        {
            kinds.push(ChangeKind::CredentialOpen);
        }
        Ok(kinds)
    }
}
