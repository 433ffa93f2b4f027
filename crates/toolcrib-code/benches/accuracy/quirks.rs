//! Where the tools that make the truth are known to say something else than they mean.

use std::collections::HashSet;

use toolcrib_code::resolve::Program;
use toolcrib_code::scip::{SymbolId, descriptors};

use crate::counts::class_of;
use crate::truth::Truth;

impl Truth {
    pub(crate) fn set_right(&mut self, program: &Program) {
        self.construct();
        if self.language == "python" {
            self.mute(program);
            self.redefine(program);
        }
    }

    /// scip-typescript: at `new T` only the constructor is used. It is a use of `T` as well.
    fn construct(&mut self) {
        for known in self.files.values_mut() {
            for place in known.places.values_mut() {
                let class_of = |symbol: &SymbolId| {
                    let text = self.index.symbol(*symbol).strip_suffix("`<constructor>`().")?;
                    self.index.find(text)
                };
                let classes: Vec<_> = place.uses.iter().filter_map(class_of).collect();
                place.uses.extend(classes);
            }
        }
    }

    /// scip-python: what comes by `from x import *` is taken for the first name of `x`, and a member with the
    /// name of something built in for that. Neither says anything.
    fn mute(&mut self, program: &Program) {
        let mut wrong = Vec::new();
        for (file, known) in &self.files {
            let Some(facts) = program.facts(*file) else { continue };
            let names = facts.imports.iter().flat_map(|import| &import.names);
            let aliases: HashSet<&str> = names.map(|name| facts.text(name.alias)).collect();
            for (start, place) in &known.places {
                // Of `name as alias` all is one place.
                let text = place.span.of(&known.source).split(|byte| byte.is_ascii_whitespace()).next();
                let text = std::str::from_utf8(text.unwrap_or_default()).unwrap_or_default();
                for symbol in &place.uses {
                    let is_named = class_of(self.class(*symbol)).is_some() && self.name(*symbol) != text;
                    let is_member = known.source[..*start as usize].ends_with(b".");
                    if is_named && !aliases.contains(text) || is_member && self.is_built_in(*symbol) {
                        wrong.push((*file, *start, *symbol));
                    }
                }
            }
        }
        for (file, start, symbol) in wrong {
            let place = self.files.get_mut(&file).unwrap().places.get_mut(&start).unwrap();
            place.uses.retain(|one| *one != symbol);
        }
    }

    fn is_built_in(&self, symbol: SymbolId) -> bool {
        let text = self.text(symbol);
        text.contains(" python-stdlib ")
            && matches!(descriptors(text).as_slice(), [module, _] if module.name == "builtins")
    }

    /// scip-python: of several definitions of one name (overloads, a class for each test) the later are uses
    /// of the first. All are definitions.
    fn redefine(&mut self, program: &Program) {
        let mut again = Vec::new();
        for (file, known) in &self.files {
            for definition in program.facts(*file).iter().flat_map(|facts| &facts.definitions) {
                let is_code = definition.kind.is_callable() || definition.kind.is_type();
                let place = known.places.get(&definition.name_start).filter(|_| is_code);
                for symbol in place.iter().flat_map(|place| &place.uses) {
                    if self.name(*symbol).as_bytes()
                        == place.map_or(&[][..], |one| one.span.of(&known.source))
                    {
                        again.push((*file, definition.name_start, *symbol));
                    }
                }
            }
        }
        for (file, start, symbol) in again {
            self.definitions.entry(symbol).or_default().push((file, start));
            let place = self.files.get_mut(&file).unwrap().places.get_mut(&start).unwrap();
            place.uses.retain(|one| *one != symbol);
            place.again.push(symbol);
        }
    }
}
