//! What is wrong with a form: told at its fields, and above them all with the way to each.

use std::cell::RefCell;

use maud::{Markup, html};

use super::Field;
use crate::dashboard::view::words::capital;
use crate::problem::{Code, Problem};

/// The problems of a form.
pub(super) struct Problems<'a> {
    all: &'a [Problem],
    /// What the fields drawn so far are called, by their names.
    labels: RefCell<Vec<(String, String)>>,
}

impl<'a> Problems<'a> {
    pub(super) fn new(all: &'a [Problem]) -> Self {
        Self {
            all,
            labels: RefCell::default(),
        }
    }

    /// Notes what a field is called that is being drawn.
    pub(super) fn note(&self, field: Field<'_>) {
        let named = (field.name.to_owned(), field.label.to_owned());
        self.labels.borrow_mut().push(named);
    }

    /// Whether a field has any.
    pub(super) fn are_of(&self, name: &str) -> bool {
        self.all.iter().any(|problem| root(&problem.field) == name)
    }

    /// Those of one field.
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

    /// All of them, said first, so that nobody has to look for them. The fields are drawn by now.
    pub(super) fn summary(&self) -> Markup {
        html! {
            @if !self.all.is_empty() {
                div.notice.bad role="alert" {
                    h2 { "This was not saved" }
                    ul {
                        @for problem in self.in_order() { li { (self.told(problem)) } }
                    }
                }
            }
        }
    }

    /// In the order of the fields; those of no field first.
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

    /// One, with the way to the field that has it.
    fn told(&self, problem: &Problem) -> Markup {
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

/// What is wrong, for people, who know of fields and not of members.
fn words(problem: &Problem) -> &str {
    match problem.code {
        Code::Required => "this is required",
        _ => &problem.message,
    }
}

/// The field that shows a member: a list is one field, an object has one for each of its members.
fn root(member: &str) -> &str {
    member.split('[').next().unwrap_or(member)
}

/// Which item of a list, counted as people count.
fn detail(member: &str, name: &str) -> String {
    let place = member
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix('[')?.strip_suffix(']'));
    match place.and_then(|place| place.parse::<usize>().ok()) {
        Some(place) => format!("item {}", place + 1),
        None => member.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_told_by_the_labels_of_their_fields_and_in_their_order() {
        let problem = |field: &str, code, words: &str| Problem::new(field, code, words.to_owned());
        let all = [
            problem("list[1]", Code::Format, "this is none"),
            problem("name", Code::Required, "is required"),
            problem("", Code::Conflict, "two at once"),
        ];
        let problems = Problems::new(&all);
        for (name, label) in [("name", "Name"), ("list", "Networks")] {
            problems.note(Field {
                name,
                label,
                ..Field::default()
            });
        }
        let told = problems.summary().into_string();
        let expected = "<li>two at once</li>\
            <li><a href=\"#name\">Name</a>: this is required</li>\
            <li><a href=\"#list\">Networks</a>, item 2: this is none</li>";
        assert!(told.contains(expected), "{told}");
        let at_the_field = problems.of("list").into_string();
        assert!(
            at_the_field.contains("Item 2: This is none."),
            "{at_the_field}"
        );
    }
}
