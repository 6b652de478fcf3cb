//! Fields of forms: label, hint, value and problems.

mod body;
pub(crate) mod declared;
mod problems;

use maud::{Markup, html};

pub(crate) use self::body::{body, form_of};
use self::problems::Problems;
use super::shell::token;
use crate::form::Form;
use crate::viewer::Viewer;
use formats::problem::Problem;

/// A form to render: its values and its problems.
pub(crate) struct Fields<'a> {
    form: &'a Form,
    problems: Problems<'a>,
}

/// The parts of a form around its fields.
#[derive(Clone, Copy)]
pub(crate) struct Sheet<'a> {
    /// The URL that receives the form.
    pub(crate) action: &'a str,
    /// The label of the button.
    pub(crate) button: &'a str,
    /// The target of Cancel.
    pub(crate) back: &'a str,
}

/// The name, the label and the hint of a field.
#[derive(Clone, Copy, Default)]
pub(crate) struct Field<'a> {
    /// The member of the API.
    pub(crate) name: &'a str,
    pub(crate) label: &'a str,
    pub(crate) hint: &'a str,
    pub(crate) required: bool,
}

/// An option of a group.
pub(crate) struct Choice<'a> {
    pub(crate) value: &'a str,
    pub(crate) label: &'a str,
    pub(crate) hint: &'a str,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(form: &'a Form, problems: &'a [Problem]) -> Self {
        Self { form, problems: Problems::new(problems) }
    }

    /// The complete form, with a summary of its problems above the fields.
    pub(crate) fn sheet(&self, viewer: &Viewer, sheet: Sheet<'_>, fields: &Markup) -> Markup {
        html! {
            form.form method="post" action=(sheet.action) novalidate {
                (token(viewer))
                @if let Some(revision) = self.form.some("revision") {
                    input type="hidden" name="revision" value=(revision);
                }
                (self.problems.summary())
                (fields)
                div.actions {
                    button.main type="submit" { (sheet.button) }
                    a.button href=(sheet.back) { "Cancel" }
                }
            }
        }
    }

    /// A line of text; `kind` is the type of the input.
    pub(crate) fn line(&self, kind: &str, field: Field<'_>) -> Markup {
        self.framed(field, &html! {
            input id=(field.name) type=(kind) name=(field.name) value=(self.form.raw(field.name))
                required[field.required] spellcheck="false" autocomplete="off"
                aria-describedby=[self.described(field)] aria-invalid=[self.invalid(field.name)];
        })
    }

    /// A whole number. A text input, because browsers discard invalid values of number inputs.
    pub(crate) fn number(&self, field: Field<'_>) -> Markup {
        self.framed(field, &html! {
            input id=(field.name) type="text" inputmode="numeric" name=(field.name)
                value=(self.form.raw(field.name)) required[field.required] autocomplete="off"
                aria-describedby=[self.described(field)] aria-invalid=[self.invalid(field.name)];
        })
    }

    /// Several lines of text.
    pub(crate) fn area(&self, field: Field<'_>, rows: u8) -> Markup {
        self.framed(field, &html! {
            textarea id=(field.name) name=(field.name) rows=(rows) spellcheck="false"
                autocomplete="off" required[field.required]
                aria-describedby=[self.described(field)] aria-invalid=[self.invalid(field.name)] {
                (self.form.raw(field.name))
            }
        })
    }

    /// Several lines of a secret. Pages never contain its value.
    pub(crate) fn secret_area(&self, field: Field<'_>, rows: u8) -> Markup {
        self.framed(
            field,
            &html! {
                textarea.mono id=(field.name) name=(field.name) rows=(rows) spellcheck="false"
                    autocomplete="off" aria-describedby=[self.described(field)]
                    aria-invalid=[self.invalid(field.name)] {}
            },
        )
    }

    /// One line of a secret. Pages never contain its value.
    pub(crate) fn secret_line(&self, field: Field<'_>) -> Markup {
        self.framed(field, &html! {
            input id=(field.name) type="password" name=(field.name) autocomplete="off"
                aria-describedby=[self.described(field)] aria-invalid=[self.invalid(field.name)];
        })
    }

    /// A select. `none` is the label of no choice, if that is possible.
    pub(crate) fn select(
        &self,
        field: Field<'_>,
        none: Option<&str>,
        choices: impl IntoIterator<Item = (String, String)>,
    ) -> Markup {
        let chosen = self.form.text(field.name);
        let choices: Vec<_> = choices.into_iter().collect();
        let is_listed = chosen.is_empty() || choices.iter().any(|(value, _)| value == chosen);
        self.framed(field, &html! {
            select id=(field.name) name=(field.name) required[field.required]
                aria-describedby=[self.described(field)] aria-invalid=[self.invalid(field.name)] {
                @if let Some(none) = none {
                    option value="" selected[chosen.is_empty()] { (none) }
                }
                @for (value, label) in &choices {
                    option value=(value) selected[value == chosen] { (label) }
                }
                @if !is_listed { option value=(chosen) selected { (chosen) } }
            }
        })
    }

    /// Radio buttons with hints.
    pub(crate) fn radios(&self, field: Field<'_>, choices: &[Choice<'_>]) -> Markup {
        self.group(field, choices, "radio")
    }

    /// Checkboxes with hints.
    pub(crate) fn checks(&self, field: Field<'_>, choices: &[Choice<'_>]) -> Markup {
        self.group(field, choices, "checkbox")
    }

    /// One checkbox.
    pub(crate) fn check(&self, field: Field<'_>) -> Markup {
        let choice = Choice { value: "yes", label: field.label, hint: field.hint };
        self.problems.note(field);
        html! {
            div.field.wrong[self.problems.are_of(field.name)] #(field.name) {
                (self.problems.of(field.name))
                (self.option(field.name, &choice, "checkbox"))
            }
        }
    }

    fn group(&self, field: Field<'_>, choices: &[Choice<'_>], kind: &str) -> Markup {
        self.problems.note(field);
        html! {
            fieldset.field.wrong[self.problems.are_of(field.name)] #(field.name)
                aria-describedby=[self.described(field)] {
                legend { (field.label) }
                (hint(field))
                (self.problems.of(field.name))
                @for choice in choices { (self.option(field.name, choice, kind)) }
            }
        }
    }

    fn option(&self, name: &str, choice: &Choice<'_>, kind: &str) -> Markup {
        let id = format!("{name}-{}", choice.value);
        html! {
            div.option {
                input id=(id) type=(kind) name=(name) value=(choice.value)
                    checked[self.form.has(name, choice.value)]
                    aria-describedby=[(!choice.hint.is_empty()).then(|| format!("{id}-hint"))];
                label for=(id) { (choice.label) }
                @if !choice.hint.is_empty() {
                    p.hint id={ (id) "-hint" } { (prose(choice.hint)) }
                }
            }
        }
    }

    fn framed(&self, field: Field<'_>, input: &Markup) -> Markup {
        self.problems.note(field);
        html! {
            div.field.wrong[self.problems.are_of(field.name)] {
                label for=(field.name) {
                    (field.label)
                    @if !field.required { span.faint { " (optional)" } }
                }
                (hint(field))
                (self.problems.of(field.name))
                (input)
            }
        }
    }

    fn invalid(&self, name: &str) -> Option<&'static str> {
        self.problems.are_of(name).then_some("true")
    }

    fn described(&self, field: Field<'_>) -> Option<String> {
        let hint = (!field.hint.is_empty()).then(|| format!("{}-hint", field.name));
        let problem = self.problems.are_of(field.name).then(|| format!("{}-problem", field.name));
        match (hint, problem) {
            (Some(hint), Some(problem)) => Some(format!("{hint} {problem}")),
            (hint, problem) => hint.or(problem),
        }
    }
}

fn hint(field: Field<'_>) -> Markup {
    html! {
        @if !field.hint.is_empty() { p.hint id={ (field.name) "-hint" } { (prose(field.hint)) } }
    }
}

/// Text with code between backticks.
fn prose(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
