//! A parser of the `Dockerfile` for the tests.

use std::collections::BTreeMap;

/// A build stage with its base, its name and its instructions.
pub(super) struct Stage {
    pub(super) base: String,
    pub(super) name: String,
    pub(super) instructions: Vec<(String, String)>,
}

pub(super) struct Dockerfile {
    /// The arguments before the first stage.
    pub(super) arguments: BTreeMap<String, String>,
    pub(super) stages: Vec<Stage>,
}

impl Dockerfile {
    pub(super) fn read() -> Self {
        let text = super::read("Dockerfile");
        let lines: Vec<&str> =
            text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
        let joined = lines.join("\n").replace("\\\n", " ");
        let mut found = Self { arguments: BTreeMap::new(), stages: Vec::new() };
        for line in joined.lines().filter(|line| !line.trim().is_empty()) {
            let (instruction, rest) = line.split_once(' ').expect("an instruction");
            found.take(instruction, rest.trim());
        }
        found
    }

    fn take(&mut self, instruction: &str, rest: &str) {
        if instruction == "FROM" {
            let (base, name) = rest.split_once(" AS ").expect("every stage has a name");
            self.stages.push(Stage {
                base: base.to_owned(),
                name: name.to_owned(),
                instructions: Vec::new(),
            });
        } else if let Some(stage) = self.stages.last_mut() {
            let instruction = (instruction.to_owned(), rest.to_owned());
            stage.instructions.push(instruction);
        } else if let Some((name, value)) = rest.split_once('=') {
            assert_eq!(instruction, "ARG");
            self.arguments.insert(name.to_owned(), value.to_owned());
        }
    }

    pub(super) fn stage(&self, name: &str) -> &Stage {
        let stage = self.stages.iter().find(|stage| stage.name == name);
        stage.unwrap_or_else(|| panic!("the Dockerfile has no stage {name}"))
    }

    /// The stage and its base stages, without external images.
    pub(super) fn lineage(&self, name: &str) -> Vec<&Stage> {
        let mut lineage = vec![self.stage(name)];
        while let Some(base) = lineage
            .last()
            .and_then(|stage| self.stages.iter().find(|other| other.name == stage.base))
        {
            lineage.push(base);
        }
        lineage
    }
}

impl Stage {
    /// The arguments of each instruction with this name.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.instructions
            .iter()
            .filter(move |(instruction, _)| instruction == name)
            .map(|(_, rest)| rest.as_str())
    }

    /// The arguments of the last instruction with this name.
    pub(super) fn last(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// The words of an `ENTRYPOINT` or `CMD` in JSON form.
    pub(super) fn words(&self, name: &str) -> Vec<String> {
        let form = self.last(name).unwrap_or_default();
        serde_json::from_str(form).unwrap_or_else(|error| panic!("{name} {form}: {error}"))
    }

    /// The Debian packages that the stage installs.
    pub(super) fn packages(&self) -> Vec<&str> {
        self.all("RUN")
            .flat_map(|run| run.split("&&"))
            .filter(|command| command.contains("apt-get install"))
            .flat_map(str::split_whitespace)
            .skip_while(|word| *word != "install")
            .filter(|word| !word.starts_with('-') && *word != "install")
            .collect()
    }
}
