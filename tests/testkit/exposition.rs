//! Parses the metrics page like Prometheus.

use std::collections::{BTreeMap, BTreeSet};

/// A page of metrics.
#[derive(Debug)]
pub struct Exposition {
    pub families: BTreeMap<String, Family>,
    samples: Vec<Sample>,
}

/// A metric, without its values.
#[derive(Debug, Default)]
pub struct Family {
    pub kind: String,
    pub help: String,
}

/// One sample.
#[derive(Debug)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

impl Exposition {
    pub fn parse(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").expect("a complete page");
        let mut page = Self { families: BTreeMap::new(), samples: Vec::new() };
        for line in body.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect("a help");
                page.family(name).help = help.to_owned();
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect("a type");
                page.family(name).kind = kind.to_owned();
            } else {
                page.samples.push(Sample::parse(line));
            }
        }
        page
    }

    /// The sum of the values with this name and these labels.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let fitting = self.samples.iter().filter(|sample| {
            let has = |(label, value): &(&str, &str)| {
                sample.labels.get(*label).map(String::as_str) == Some(*value)
            };
            sample.name == name && labels.iter().all(has)
        });
        fitting.map(|sample| sample.value).sum()
    }

    /// The values of all samples by their names and labels.
    pub fn values(&self) -> BTreeMap<(&str, &BTreeMap<String, String>), f64> {
        let samples = self.samples.iter();
        samples.map(|sample| ((sample.name.as_str(), &sample.labels), sample.value)).collect()
    }

    /// The names and labels of all samples of a metric.
    pub fn lines_of(&self, family: &str) -> (BTreeSet<&str>, BTreeSet<&str>) {
        let of_family = self.samples.iter().filter(|sample| {
            let rest = sample.name.strip_prefix(family);
            rest.is_some_and(|rest| ["", "_total", "_bucket", "_sum", "_count"].contains(&rest))
        });
        let (mut names, mut labels) = (BTreeSet::new(), BTreeSet::new());
        for sample in of_family {
            names.insert(sample.name.as_str());
            labels.extend(sample.labels.keys().map(String::as_str));
        }
        (names, labels)
    }

    fn family(&mut self, name: &str) -> &mut Family {
        self.families.entry(name.to_owned()).or_default()
    }
}

impl Sample {
    fn parse(line: &str) -> Self {
        let (series, value) = line.rsplit_once(' ').expect("a value");
        let (name, labels) = match series.split_once('{') {
            None => (series, ""),
            Some((name, labels)) => (name, labels.strip_suffix('}').expect("labels")),
        };
        let labels = labels.split("\",").filter(|label| !label.is_empty());
        let labels = labels.map(|label| {
            let (name, value) = label.split_once("=\"").expect("a label");
            (name.to_owned(), value.trim_end_matches('"').to_owned())
        });
        Self {
            name: name.to_owned(),
            labels: labels.collect(),
            value: value.parse().expect("a number"),
        }
    }
}
