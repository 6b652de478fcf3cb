//! Confirmation pages: the consequences of a change, the button that confirms, the way back.

use maud::{Markup, html};

use super::shell::token;
use super::words::capital;
use crate::viewer::Viewer;
use formats::problem::Problem;

/// The content of a confirmation page.
pub(crate) struct Question<'a> {
    pub(crate) title: &'a str,
    /// The resource that changes.
    pub(crate) subject: Markup,
    /// The consequences, one sentence each.
    pub(crate) means: &'a [&'a str],
    /// Whether the change destroys something or lets plaintext out.
    pub(crate) dangerous: bool,
    /// The label of the button.
    pub(crate) yes: &'a str,
    /// The form action and its hidden fields.
    pub(crate) action: &'a str,
    pub(crate) fields: &'a [(&'a str, &'a str)],
    /// The target of Cancel.
    pub(crate) back: &'a str,
}

/// The confirmation page; `problems` say why the change failed.
pub(crate) fn ask(viewer: &Viewer, question: &Question<'_>, problems: &[Problem]) -> Markup {
    html! {
        div.head { h1 { (question.title) } }
        div.card.confirm {
            @for problem in problems {
                p.notice.bad role="alert" { (capital(&problem.message)) }
            }
            p { (question.subject) }
            ul.means { @for sentence in question.means { li { (sentence) } } }
            form method="post" action=(question.action) {
                (token(viewer))
                @for (name, value) in question.fields {
                    input type="hidden" name=(name) value=(value);
                }
                div.actions {
                    button.main.danger[question.dangerous] type="submit" { (question.yes) }
                    a.button href=(question.back) { "Cancel" }
                }
            }
        }
    }
}
