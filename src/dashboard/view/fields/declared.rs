//! The inputs of declared members.

use maud::{Markup, html};

use super::body::{ALL, SOME, scope_of};
use super::{Choice, Field, Fields};
use crate::error::PageError;
use crate::extract::PageContext;
use crate::view::words::words;
use engine::ids::{Named as _, PolicyKind, ServiceKind};
use engine::management::{policies, services};
use engine::resource::{Field as Member, FieldInput};

/// The most choices that are radio buttons.
const FEW: usize = 3;

/// The resources that members can refer to, with their labels, by the prefix of their identifiers.
#[derive(Default)]
pub(crate) struct References(Vec<(&'static str, Vec<(String, String)>)>);

impl References {
    /// Those of these members.
    pub(crate) async fn of(
        cx: &PageContext,
        members: impl Iterator<Item = Member>,
    ) -> Result<Self, PageError> {
        let mut found = Self::default();
        for member in members {
            let (FieldInput::Reference(prefix) | FieldInput::References(prefix)) = member.input
            else {
                continue;
            };
            if found.options(prefix).is_some() {
                continue;
            }
            let options = if prefix == ServiceKind::PREFIX {
                let services = services::choices(&cx.context).await?.into_iter();
                services.map(|(id, name)| (id.to_string(), name)).collect()
            } else if prefix == PolicyKind::PREFIX {
                let policies = policies::choices(&cx.context).await?.into_iter();
                let labelled =
                    policies.map(|(number, name)| (number.clone(), format!("{number} – {name}")));
                labelled.collect()
            } else {
                continue;
            };
            found.0.push((prefix, options));
        }
        Ok(found)
    }

    fn options(&self, prefix: &str) -> Option<&[(String, String)]> {
        let mut known = self.0.iter();
        let known = known.find(|(known, _)| *known == prefix);
        known.map(|(_, options)| options.as_slice())
    }
}

impl Fields<'_> {
    /// The input of a member.
    pub(crate) fn declared(&self, member: &Member, references: &References) -> Markup {
        self.member("", member, references)
    }

    fn member(&self, prefix: &str, member: &Member, references: &References) -> Markup {
        let name = format!("{prefix}{}", member.name);
        // A form has an empty field where the API has null.
        let hint = member.documentation.trim().replace("null for", "empty for");
        let field =
            Field { name: &name, label: member.label, hint: &hint, required: member.required };
        match member.input {
            FieldInput::Line => self.line("text", field),
            FieldInput::Paragraph | FieldInput::Lines | FieldInput::Json => self.area(field, 3),
            FieldInput::Number => self.number(field),
            FieldInput::Flag => self.check(field),
            FieldInput::Moment => {
                let label = format!("{} (UTC)", member.label);
                self.line("datetime-local", Field { label: &label, ..field })
            }
            FieldInput::Secret => self.secret_line(field),
            FieldInput::PublicKey => self.area(field, 8),
            FieldInput::PrivateKey => self.secret_area(field, 8),
            FieldInput::OneOf(names, descriptions) => {
                self.one_of(field, member.nullable, names, descriptions)
            }
            FieldInput::AnyOf(names) => {
                let options: Vec<_> =
                    names.iter().map(|name| ((*name).to_owned(), words(name))).collect();
                self.any_of(field, member.nullable, &options)
            }
            FieldInput::Reference(prefix) => match references.options(prefix) {
                Some(options) => {
                    let none = if member.required { "Choose…" } else { "None" };
                    self.select(field, Some(none), options.iter().cloned())
                }
                None => self.line("text", field),
            },
            FieldInput::References(prefix) => {
                self.any_of(field, true, references.options(prefix).unwrap_or_default())
            }
            FieldInput::Object(members) => {
                let prefix = format!("{name}.");
                html! {
                    div.option-group {
                        @if member.nullable { (self.check(field)) }
                        @for inner in members { (self.member(&prefix, inner, references)) } }
                }
            }
        }
    }

    fn one_of(
        &self,
        field: Field<'_>,
        nullable: bool,
        names: &[&str],
        descriptions: &[&str],
    ) -> Markup {
        let is_open = nullable || !field.required && self.form.some(field.name).is_none();
        if is_open || names.len() > FEW {
            let names = names.iter().map(|name| ((*name).to_owned(), (*name).to_owned()));
            return self.select(
                field,
                is_open.then_some(if nullable { "None" } else { "Default" }),
                names,
            );
        }
        let labels: Vec<String> = names.iter().map(|name| words(name)).collect();
        let choices = names.iter().zip(&labels).zip(descriptions);
        let choices =
            choices.map(|((value, label), hint)| Choice { value, label, hint: hint.trim() });
        self.radios(field, &choices.collect::<Vec<_>>())
    }

    /// Checkboxes. Where all values are a choice of its own, it is made explicitly.
    fn any_of(&self, field: Field<'_>, with_all: bool, options: &[(String, String)]) -> Markup {
        let choices = options.iter().map(|(value, label)| Choice { value, label, hint: "" });
        let choices: Vec<_> = choices.collect();
        if !with_all {
            return self.checks(field, &choices);
        }
        let scope = scope_of(field.name);
        let scopes = [
            Choice { value: ALL, label: "All", hint: "Including those that are added later." },
            Choice { value: SOME, label: "Only the selected", hint: "" },
        ];
        html! {
            div.option-group {
                (self.radios(Field { name: &scope, ..field }, &scopes))
                (self.checks(Field { hint: "", ..field }, &choices))
            }
        }
    }
}
