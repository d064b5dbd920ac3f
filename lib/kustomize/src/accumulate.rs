//! One kustomization → objects: its resources and bases, what it generates, its components, then its transformations
//! in kustomize's order. What holds for nested kustomizations bubbles up: fields to touch, and variables.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use serde::Deserialize as _;

use crate::bound::{self, Budget};
use crate::config::Config;
use crate::error::Error;
use crate::files::Loader;
use crate::generator::{self, Made};
use crate::id::{Gvk, Id};
use crate::kustomization::Kustomization;
use crate::origin::{self, Origin};
use crate::plugin::Plugin;
use crate::resource::{Behavior, Resource};
use crate::schema::Schemas;
use crate::variable::{self, Variables};
use crate::{crd, document, spelling, value};

/// What holds for a whole build.
#[derive(Default)]
pub(crate) struct Build {
    pub(crate) budget: Budget,
    /// Whether it is recorded where objects come from.
    pub(crate) traced: bool,
    schemas: RefCell<Schemas>,
    /// A schema was chosen; later ones are not looked at.
    chosen: Cell<bool>,
}

impl Build {
    pub(crate) fn schemas(&self) -> Schemas {
        self.schemas.borrow().clone()
    }
}

/// Objects and what belongs to them.
#[derive(Default)]
pub(crate) struct Accumulated {
    pub(crate) resources: Vec<Resource>,
    pub(crate) config: Rc<Config>,
    pub(crate) variables: Variables,
    /// Who is there; built when it is needed, gone when objects may have been renamed.
    known: Option<BTreeSet<(Gvk, String, String)>>,
}

impl Accumulated {
    fn key(id: Id) -> (Gvk, String, String) {
        let namespace = id.effective_namespace().to_owned();
        (id.gvk, id.name, namespace)
    }

    /// Adds an object.
    ///
    /// # Errors
    /// It is there already, or there are too many.
    pub(crate) fn append(&mut self, resource: Resource) -> Result<(), String> {
        if self.resources.len() >= bound::MAX_OBJECTS {
            return Err(format!("there are more than {} objects", bound::MAX_OBJECTS));
        }
        let resources = &self.resources;
        let all = || resources.iter().map(|resource| Self::key(resource.id())).collect();
        let id = resource.id();
        if !self.known.get_or_insert_with(all).insert(Self::key(id.clone())) {
            return Err(format!("object {id} is already there"));
        }
        self.resources.push(resource);
        Ok(())
    }

    /// Adds a generated object, or what it says to one that is there.
    fn absorb(&mut self, mut resource: Resource) -> Result<(), String> {
        let id = resource.id();
        let found: Vec<usize> = self
            .resources
            .iter()
            .enumerate()
            .filter(|(_, known)| known.ids().iter().any(|own| own.is(&id)))
            .map(|(at, _)| at)
            .collect();
        let word = match resource.behavior {
            Behavior::Create if found.is_empty() => return self.append(resource),
            Behavior::Create => return Err(format!("behavior: object {id} is already there; say merge or replace")),
            Behavior::Merge => "merge",
            Behavior::Replace => "replace",
        };
        let [at] = found.as_slice() else {
            return Err(format!("behavior: there are {} objects to {word}, {id}", found.len()));
        };
        let Some(old) = self.resources.get_mut(*at) else {
            return Ok(());
        };
        resource.succeed(old);
        if resource.behavior == Behavior::Merge {
            for part in ["data", "binaryData"] {
                join_data(&mut resource, old, part);
            }
            if old.origin.is_some() {
                resource.origin.clone_from(&old.origin);
            }
        }
        *old = resource;
        self.known = None;
        Ok(())
    }

    fn join(&mut self, other: Accumulated) -> Result<(), String> {
        other
            .resources
            .into_iter()
            .try_for_each(|resource| self.append(resource))?;
        self.config = std::mem::take(&mut self.config).join(&other.config)?;
        let mut variables = other.variables.into_values();
        variables
            .try_for_each(|variable| variable::join(&mut self.variables, variable))
            .map_err(|message| format!("vars: {message}"))
    }

    /// Objects were or will be renamed.
    pub(crate) fn touched(&mut self) {
        self.known = None;
    }
}

/// Entries of the old object that the new one does not have.
fn join_data(resource: &mut Resource, old: &Resource, part: &str) {
    let Some(entries) = old
        .object
        .get(part)
        .and_then(|node| node.as_map())
        .filter(|map| !map.is_empty())
    else {
        return;
    };
    if let Some(own) = resource.object.map_under(part) {
        for (key, node) in entries {
            let text = node.spelling().unwrap_or_default();
            own.entry(key.clone()).or_insert_with(|| crate::node::Node::text(text));
        }
    }
}

/// One kustomization and where it stands.
pub(crate) struct Level<'a> {
    pub(crate) build: &'a Build,
    pub(crate) loader: Loader<'a>,
    pub(crate) file: String,
    /// Its directory, seen from the outermost kustomization.
    pub(crate) way: String,
}

impl<'a> Level<'a> {
    /// Reads the kustomization of a directory.
    pub(crate) fn open(build: &'a Build, loader: Loader<'a>, way: &str) -> Result<(Self, Kustomization), Error> {
        let (file, text) = loader.kustomization()?;
        build.budget.enter().map_err(|message| Error::file(&file, message))?;
        let own = Kustomization::read(&file, &text)?;
        let level = Self {
            build,
            loader,
            file,
            way: way.to_owned(),
        };
        level.choose_schema(&own)?;
        Ok((level, own))
    }

    pub(crate) fn failed(&self, field: &str, message: impl Into<String>) -> Error {
        Error::field(&self.file, field, message)
    }

    /// The first kustomization that asks for a schema decides for the whole build.
    fn choose_schema(&self, own: &Kustomization) -> Result<(), Error> {
        let path = own.openapi.get("path").filter(|path| !path.is_empty());
        let version = own.openapi.get("version").map(String::as_str).unwrap_or_default();
        let text = match path {
            Some(path) => Some(
                self.loader
                    .text(path)
                    .map_err(|message| self.failed("openapi.path", message))?,
            ),
            None => None,
        };
        if self.build.chosen.get() {
            return Ok(());
        }
        match (text, version) {
            (Some(_), version) if !version.is_empty() => {
                return Err(self.failed("openapi", "path and version exclude one another"));
            }
            (Some(text), _) => {
                let schemas = Schemas::read(&text).map_err(|message| self.failed("openapi.path", message))?;
                self.build.schemas.replace(schemas);
                self.build.chosen.set(true);
            }
            (None, "") => {}
            (None, "v1.21.2") => self.build.chosen.set(true),
            (None, version) => {
                return Err(self.failed("openapi.version", format!("'{version}' is not built in")));
            }
        }
        Ok(())
    }

    /// Adds what the kustomization makes to what is there.
    pub(crate) fn accumulate(&self, own: &Kustomization, mut all: Accumulated) -> Result<Accumulated, Error> {
        for (index, path) in own.resources.iter().enumerate() {
            self.resource(path, &format!("resources[{index}]"), &mut all)?;
        }
        let config = self.config(own)?;
        all.config = std::mem::take(&mut all.config)
            .join(&config)
            .map_err(|message| self.failed("configurations", message))?;
        self.generate(own, &mut all)?;
        for (index, path) in own.components.iter().enumerate() {
            all = self.component(path, &format!("components[{index}]"), all)?;
        }
        self.transform(own, &mut all)?;
        self.validate(own, &mut all)?;
        variable::declare(&own.vars, &mut all.variables, &mut all.resources)
            .map_err(|message| self.failed("vars", message))?;
        Ok(all)
    }

    /// A file with objects, or a directory with a kustomization.
    fn resource(&self, path: &str, field: &str, all: &mut Accumulated) -> Result<(), Error> {
        let (text, failure) = match self.loader.text(path) {
            Ok(text) => (text, None),
            Err(message) => (String::new(), Some(message)),
        };
        if let Some(message) = failure {
            return match self.loader.enter(path) {
                Ok(loader) => self.base(loader, path, field, all),
                // What the path is not as a directory matters only if it looks like one.
                Err(other) if message.contains("is a directory") || message.contains("does not exist") => {
                    Err(self.failed(field, other))
                }
                Err(_) => Err(self.failed(field, message)),
            };
        }
        let full = origin::joined(&self.loader.dir, path);
        let objects = document::read(&text).map_err(|message| Error::file(&full, message))?;
        for object in objects {
            let mut resource = Resource::new(object);
            if self.build.traced {
                resource.origin = Some(Origin::file(&origin::joined(&self.way, path)));
            }
            all.append(resource).map_err(|message| self.failed(field, message))?;
        }
        Ok(())
    }

    fn nested<'b>(&'b self, loader: Loader<'b>, path: &str) -> Result<(Level<'b>, Kustomization), Error> {
        Level::open(self.build, loader, &origin::joined(&self.way, path))
    }

    fn base(&self, loader: Loader<'_>, path: &str, field: &str, all: &mut Accumulated) -> Result<(), Error> {
        let (level, own) = self.nested(loader, path)?;
        if own.is_component() {
            return Err(self.failed(field, format!("'{}' is a Component", level.file)));
        }
        let base = level.accumulate(&own, Accumulated::default())?;
        all.join(base).map_err(|message| self.failed(field, message))
    }

    /// A component works on the objects that are there.
    fn component(&self, path: &str, field: &str, all: Accumulated) -> Result<Accumulated, Error> {
        let loader = self.loader.enter(path).map_err(|message| self.failed(field, message))?;
        let (level, own) = self.nested(loader, path)?;
        if !own.is_component() {
            return Err(self.failed(field, format!("'{}' is no Component", level.file)));
        }
        let made = level.accumulate(&own, all)?;
        let mut joined = Accumulated::default();
        joined.join(made).map_err(|message| self.failed(field, message))?;
        Ok(joined)
    }

    fn config(&self, own: &Kustomization) -> Result<Rc<Config>, Error> {
        // What files say comes first: a field they give for one kind stands in for a default for all kinds.
        let mut config = Rc::new(Config::default());
        for (index, path) in own.configurations.iter().enumerate() {
            let failed = |message: String| self.failed(&format!("configurations[{index}]"), message);
            let text = self.loader.text(path).map_err(failed)?;
            let mut value = goyaml::parse(&text).map_err(|error| failed(format!("{path}: {error}")))?;
            spelling::canonical(&mut value);
            spelling::texts(&mut value);
            if value.is_null() {
                continue;
            }
            let more = Config::deserialize(&value).map_err(|error| failed(format!("{path}: {error}")))?;
            let read = serde_json::to_value(&more).map_err(|error| failed(format!("{path}: {error}")))?;
            if let Some(key) = spelling::unknown(&value, &read) {
                return Err(failed(format!("{path}: {key}: unknown field")));
            }
            config = config.join(&Rc::new(more)).map_err(failed)?;
        }
        config = config
            .join(&Config::defaults())
            .map_err(|message| self.failed("configurations", message))?;
        for (index, path) in own.crds.iter().enumerate() {
            let failed = |message: String| self.failed(&format!("crds[{index}]"), message);
            let text = self.loader.text(path).map_err(failed)?;
            let more = crd::read(&text).map_err(|message| failed(format!("{path}: {message}")))?;
            config = config.join(&Rc::new(more)).map_err(failed)?;
        }
        Ok(config)
    }

    fn generate(&self, own: &Kustomization, all: &mut Accumulated) -> Result<(), Error> {
        for (made, field, kind, generators) in [
            (
                Made::ConfigMap,
                "configMapGenerator",
                "ConfigMapGenerator",
                &own.config_map_generator,
            ),
            (
                Made::Secret,
                "secretGenerator",
                "SecretGenerator",
                &own.secret_generator,
            ),
        ] {
            for (index, generator) in generators.iter().enumerate() {
                let shared = own.generator_options.as_ref();
                let mut resource = generator::generate(&self.loader, made, generator, shared, &self.build.budget)
                    .map_err(|message| self.part_failed(&format!("{field}[{index}]"), &message))?;
                if self.build.traced {
                    resource.origin = Some(Origin::builtin(&self.configured_in(), kind));
                }
                all.absorb(resource)
                    .map_err(|message| self.part_failed(&format!("{field}[{index}]"), &message))?;
            }
        }
        for (resource, field) in self.configured(&own.generators, "generators")? {
            let failed = |message: String| self.failed(&field, message);
            let none = &self.build.budget;
            let made = match Plugin::read(&resource).map_err(failed)? {
                Plugin::ConfigMap(own) => generator::generate(&self.loader, Made::ConfigMap, &own, None, none),
                Plugin::Secret(own) => generator::generate(&self.loader, Made::Secret, &own, None, none),
                Plugin::Policy(own) => value::policy(&own),
                _ => Err(format!("'{}' is no generator", resource.kind())),
            };
            let mut made = made.map_err(|message| self.failed(&field, message))?;
            made.origin = self.origin_of(&resource);
            all.absorb(made).map_err(|message| self.failed(&field, message))?;
        }
        Ok(())
    }

    /// An error of a part whose name stands before the first colon.
    pub(crate) fn part_failed(&self, field: &str, message: &str) -> Error {
        match message.split_once(": ") {
            Some((part, message)) if !part.contains([' ', '\'']) => self.failed(&format!("{field}.{part}"), message),
            _ => self.failed(field, message),
        }
    }

    /// This kustomization, seen from the outermost one.
    pub(crate) fn configured_in(&self) -> String {
        let name = self.file.rsplit('/').next().unwrap_or_default();
        origin::joined(&self.way, name)
    }

    pub(crate) fn origin_of(&self, resource: &Resource) -> Option<Origin> {
        let own = resource.origin.as_ref()?;
        Some(Origin::configured(
            &own.path,
            &resource.gvk(),
            resource.name(),
            resource.namespace(),
        ))
    }

    /// Objects that configure generators or transformers: files, directories, or written in place.
    pub(crate) fn configured(&self, entries: &[String], field: &str) -> Result<Vec<(Resource, String)>, Error> {
        let mut found: Vec<(Resource, String)> = Vec::new();
        let mut paths = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let field = format!("{field}[{index}]");
            match document::read(entry) {
                Ok(objects) => {
                    for object in objects {
                        let mut resource = Resource::new(object);
                        if self.build.traced {
                            resource.origin = Some(Origin::file(&self.configured_in()));
                        }
                        found.push((resource, field.clone()));
                    }
                }
                Err(_) => paths.push((entry, field)),
            }
        }
        for (path, field) in paths {
            let mut all = Accumulated::default();
            self.resource(path, &field, &mut all)?;
            found.extend(all.resources.into_iter().map(|resource| (resource, field.clone())));
        }
        let mut seen = BTreeSet::new();
        for (resource, field) in &found {
            if !seen.insert(Accumulated::key(resource.id())) {
                return Err(self.failed(field, format!("object {} is already there", resource.id())));
            }
        }
        Ok(found)
    }
}
