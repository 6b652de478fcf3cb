//! A question before something that has consequences: what they are, yes, and back.

use maud::{Markup, html};

use super::shell::token;
use super::words::capital;
use crate::dashboard::viewer::Viewer;
use crate::problem::Problem;

/// What is asked.
pub(in crate::dashboard) struct Question<'a> {
    pub(in crate::dashboard) title: &'a str,
    /// What it is done to.
    pub(in crate::dashboard) subject: Markup,
    /// What it means, a sentence each.
    pub(in crate::dashboard) means: &'a [&'a str],
    /// Whether it destroys, or lets plaintext out.
    pub(in crate::dashboard) dangerous: bool,
    /// What the button says.
    pub(in crate::dashboard) yes: &'a str,
    /// Where the answer goes, with these fields.
    pub(in crate::dashboard) action: &'a str,
    pub(in crate::dashboard) fields: &'a [(&'a str, &'a str)],
    /// Where to go back to.
    pub(in crate::dashboard) back: &'a str,
}

/// The page that asks; `problems` are why an answer came to nothing.
pub(in crate::dashboard) fn ask(
    viewer: &Viewer,
    question: &Question<'_>,
    problems: &[Problem],
) -> Markup {
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
