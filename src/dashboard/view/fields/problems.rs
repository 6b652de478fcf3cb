//! The problems of a form: at their fields, and in a summary with links above the form.

use std::cell::RefCell;

use maud::{Markup, html};

use super::Field;
use crate::view::words::capital;
use formats::problem::{Code, Problem};

/// The problems of a form.
pub(super) struct Problems<'a> {
    all: &'a [Problem],
    /// The labels of the rendered fields, by their names.
    labels: RefCell<Vec<(String, String)>>,
}

impl<'a> Problems<'a> {
    pub(super) fn new(all: &'a [Problem]) -> Self {
        Self { all, labels: RefCell::default() }
    }

    /// Records the label of a field.
    pub(super) fn note(&self, field: Field<'_>) {
        let named = (field.name.to_owned(), field.label.to_owned());
        self.labels.borrow_mut().push(named);
    }

    /// Whether a field has problems.
    pub(super) fn are_of(&self, name: &str) -> bool {
        self.all.iter().any(|problem| root(&problem.field) == name)
    }

    /// The problems of one field.
    pub(super) fn of(&self, name: &str) -> Markup {
        let mine = self.all.iter().filter(|it| root(&it.field) == name);
        html! {
            @if self.are_of(name) {
                p.problem id={ (name) "-problem" } {
                    @for (place, problem) in mine.enumerate() {
                        @if place > 0 { br; }
                        @if problem.field != name { (capital(&detail(&problem.field, name))) ": " }
                        (capital(words(problem))) "."
                    }
                }
            }
        }
    }

    /// The summary of all problems. Render it after the fields.
    pub(super) fn summary(&self) -> Markup {
        html! {
            @if !self.all.is_empty() {
                div.notice.bad role="alert" {
                    h2 { "The form was not saved" }
                    ul {
                        @for problem in self.in_order() { li { (self.item(problem)) } }
                    }
                }
            }
        }
    }

    /// The problems in the order of the fields; problems without a field come first.
    fn in_order(&self) -> Vec<&Problem> {
        let labels = self.labels.borrow();
        let place = |problem: &Problem| {
            let name = root(&problem.field);
            labels.iter().position(|(known, _)| known == name)
        };
        let mut problems: Vec<_> = self.all.iter().collect();
        problems.sort_by_key(|problem| place(problem));
        problems
    }

    /// One problem, with a link to its field.
    fn item(&self, problem: &Problem) -> Markup {
        let name = root(&problem.field);
        let labels = self.labels.borrow();
        let label = labels.iter().find(|(known, _)| known == name);
        html! {
            @match label {
                Some((_, label)) => {
                    a href={ "#" (name) } { (label) }
                    @if problem.field != name { ", " (detail(&problem.field, name)) }
                    ": "
                },
                None if name.is_empty() => {},
                None => { (problem.field) ": " },
            }
            (words(problem))
        }
    }
}

/// The message of a problem, in terms of fields.
fn words(problem: &Problem) -> &str {
    if problem.code == Code::Required {
        return "is required";
    }
    &problem.message
}

/// The field of a member. A list has one field, an object one per member.
fn root(member: &str) -> &str {
    member.split('[').next().unwrap_or(member)
}

/// The item of a list, counted from 1.
fn detail(member: &str, name: &str) -> String {
    let place =
        member.strip_prefix(name).and_then(|rest| rest.strip_prefix('[')?.strip_suffix(']'));
    match place.and_then(|place| place.parse::<usize>().ok()) {
        Some(place) => format!("item {}", place + 1),
        None => member.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_listed_by_label_in_the_order_of_the_fields() {
        let problem = |field: &str, code, words: &str| Problem::new(field, code, words.to_owned());
        let all = [
            problem("list[1]", Code::Format, "is unknown"),
            problem("name", Code::Required, "is required"),
            problem("", Code::Conflict, "two at once"),
        ];
        let problems = Problems::new(&all);
        for (name, label) in [("name", "Name"), ("list", "Networks")] {
            problems.note(Field { name, label, ..Field::default() });
        }
        let summary = problems.summary().into_string();
        let expected = "<li>two at once</li>\
            <li><a href=\"#name\">Name</a>: is required</li>\
            <li><a href=\"#list\">Networks</a>, item 2: is unknown</li>";
        assert!(summary.contains(expected), "{summary}");
        let at_the_field = problems.of("list").into_string();
        assert!(at_the_field.contains("Item 2: Is unknown."), "{at_the_field}");
    }
}
