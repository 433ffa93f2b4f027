//! Code by its shape: patterns like `fn $NAME($$$ARGS)`, matched by ast-grep over our own grammars.
//!
//! A pattern must itself be a piece of the language. People write the head of a definition and leave off the rest, so
//! what does not parse is tried with the endings and beginnings that the language may want there. What still does not
//! parse comes back with how it was read.

use std::borrow::Cow;

use ast_grep_core::Language as AstLanguage;
use ast_grep_core::matcher::{Pattern, PatternBuilder, PatternError};
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::ops::Any;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc};
use rayon::prelude::*;
use serde::Serialize;
use toolcrib_workspace::{Error, ErrorKind, Result};

use crate::facts::{DefId, FileFacts, LineTable, Span, text_of};
use crate::index::{Control, FileEntry, Snapshot};
use crate::lang::Language;
use crate::search::PathFilter;

/// Longer texts of a hit are cut.
const MAX_TEXT: usize = 400;
/// So many hits are looked for in one file.
const MAX_PER_FILE: usize = 10_000;

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct PatternQuery {
    /// The pattern: `$NAME` stands for one node, `$$$NAME` for any number.
    pub pattern: String,
    /// The language it is written in; without one, every language that it parses in.
    pub language: Option<&'static Language>,
    /// Only files at or below this path, or matching this glob.
    pub path: Option<String>,
    /// How many hits to pass over.
    pub offset: usize,
    /// How many to return at most.
    pub limit: usize,
}

/// Code that a pattern fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PatternHit {
    /// What `$NAME` stands for, or else the first variable.
    pub name: String,
    /// What kind of syntax node it is.
    pub kind: String,
    /// Where it is.
    pub path: String,
    /// Its first line.
    pub line: u32,
    /// The column of its first character.
    pub column: u32,
    /// Its last line.
    pub end_line: u32,
    /// Its first line of text.
    pub signature: String,
    /// The definitions around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enclosing: Option<String>,
    /// What the variables stand for.
    pub variables: Vec<(String, String)>,
}

/// A page of hits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PatternHits {
    /// By path and position.
    pub hits: Vec<PatternHit>,
    /// How many there are in all.
    pub total: usize,
    /// Where the next page begins.
    pub next_offset: Option<usize>,
    /// In which languages the pattern was understood.
    pub languages: Vec<&'static str>,
}

/// Finds code by its shape.
pub fn pattern(snapshot: &Snapshot, query: &PatternQuery, control: &Control<'_>) -> Result<PatternHits> {
    let filter = PathFilter::new(query.path.as_deref())?;
    let wanted = |file: &&std::sync::Arc<FileEntry>| {
        filter.keeps(&file.path) && query.language.is_none_or(|one| one == file.language)
    };
    let files: Vec<_> = snapshot.files().iter().filter(wanted).collect();
    let mut languages: Vec<&'static Language> = match query.language {
        Some(language) => vec![language],
        None => files.iter().map(|file| file.language).collect(),
    };
    languages.sort_by_key(|language| language.name);
    languages.dedup_by_key(|language| language.name);
    let compiled = compile_all(&query.pattern, &languages)?;
    let mut hits: Vec<PatternHit> = files
        .par_iter()
        .flat_map_iter(|file| {
            let matcher = compiled.iter().find(|matcher| matcher.language.0 == file.language);
            matcher
                .filter(|_| !control.is_cancelled())
                .map(|matcher| matcher.search(snapshot, file))
                .unwrap_or_default()
        })
        .collect();
    if control.is_cancelled() {
        return Err(Error::new(ErrorKind::Cancelled, "cancelled"));
    }
    hits.sort_by(|a, b| {
        (&a.path, a.line, a.column, a.end_line).cmp(&(&b.path, b.line, b.column, b.end_line))
    });
    let (total, limit) = (hits.len(), query.limit.max(1));
    let end = query.offset.saturating_add(limit);
    Ok(PatternHits {
        hits: hits.into_iter().skip(query.offset).take(limit).collect(),
        total,
        next_offset: (end < total).then_some(end),
        languages: compiled.iter().map(|matcher| matcher.language.0.name).collect(),
    })
}

fn compile_all(text: &str, languages: &[&'static Language]) -> Result<Vec<Compiled>> {
    let mut compiled = Vec::new();
    let mut first = None;
    for language in languages {
        match Compiled::new(text, language) {
            Ok(matcher) => compiled.push(matcher),
            Err(error) => first = first.or(Some(error)),
        }
    }
    match first {
        Some(why) if compiled.is_empty() => Err(Error::new(ErrorKind::InvalidPattern, why)),
        _ => Ok(compiled),
    }
}

/// A language as ast-grep sees it.
#[derive(Clone)]
struct Lang(&'static Language);

impl AstLanguage for Lang {
    /// A variable must be an identifier; where `$` is not part of one, another sign stands for it.
    fn pre_process_pattern<'q>(&self, query: &'q str) -> Cow<'q, str> {
        match self.expando_char() {
            '$' => Cow::Borrowed(query),
            sign => Cow::Owned(with_sign(query, sign)),
        }
    }

    fn expando_char(&self) -> char {
        match self.0.name {
            "javascript" | "typescript" | "tsx" | "java" | "scala" | "bash" => '$',
            "c" | "cpp" => '\u{10000}',
            _ => 'µ',
        }
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.0.compiled().grammar.id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.0.compiled().grammar.field_id_for_name(field).map(std::num::NonZero::get)
    }

    fn build_pattern(&self, builder: &PatternBuilder<'_>) -> Result<Pattern, PatternError> {
        builder.build(|source| StrDoc::try_new(source, self.clone()))
    }
}

impl LanguageExt for Lang {
    fn get_ts_language(&self) -> tree_sitter::Language {
        self.0.compiled().grammar.clone()
    }
}

impl Lang {
    /// Whether a pattern parses without anything wrong or missing.
    fn is_whole(&self, text: &str) -> bool {
        let processed = self.pre_process_pattern(text);
        crate::facts::parse(&processed, self.0).is_ok_and(|tree| !tree.root_node().has_error())
    }
}

fn with_sign(query: &str, sign: char) -> String {
    let mut text = String::with_capacity(query.len());
    let mut dollars = 0;
    let flush = |text: &mut String, dollars: &mut usize, next: Option<char>| {
        let variable = *dollars == 3 || next.is_some_and(|next| next == '_' || next.is_ascii_uppercase());
        text.extend(std::iter::repeat_n(if variable { sign } else { '$' }, *dollars));
        *dollars = 0;
    };
    for c in query.chars() {
        if c == '$' {
            dollars += 1;
            continue;
        }
        flush(&mut text, &mut dollars, Some(c));
        text.push(c);
    }
    flush(&mut text, &mut dollars, None);
    text
}

/// What may stand before and after the head of a definition.
fn completions(language: &Language) -> (&'static [&'static str], &'static [&'static str]) {
    match language.name {
        "rust" => (
            &["", "pub ", "pub(crate) ", "async ", "pub async "],
            &[" { $$$ }", " -> $_RETURN { $$$ }", ";", " -> $_RETURN;"],
        ),
        "python" => (&["", "async "], &[": $$$", " -> $_RETURN: $$$"]),
        "typescript" | "tsx" | "javascript" => (&["", "async "], &[" { $$$ }", ": $_RETURN { $$$ }"]),
        "go" => (&[""], &[" { $$$ }", " $_RETURN { $$$ }"]),
        _ => (&[""], &[" { $$$ }", ";"]),
    }
}

/// What makes an expression a file.
fn around(language: &Language) -> Option<(&'static str, &'static str)> {
    match language.name {
        "rust" => Some(("fn f() { let _ = ", "; }")),
        "go" => Some(("package p\nfunc f() { _ = ", " }")),
        "java" => Some(("class A { Object f() { return ", "; } }")),
        "c-sharp" => Some(("class A { object F() { return ", "; } }")),
        "c" | "cpp" => Some(("int f() { return ", "; }")),
        _ => None,
    }
}

/// The pattern of an expression: what is matched is the innermost node that covers all of it where it is code.
fn expression(text: &str, lang: &Lang) -> Option<Pattern> {
    let (before, after) = around(lang.0)?;
    let whole = format!("{before}{text}{after}");
    let processed = lang.pre_process_pattern(&whole);
    let tree = crate::facts::parse(&processed, lang.0).ok()?;
    let (start, end) = (before.len(), processed.len() - after.len());
    let node = tree.root_node().named_descendant_for_byte_range(start, end)?;
    let kind = node.kind().to_owned();
    Pattern::contextual(&whole, &kind, lang.clone()).ok()
}

struct Compiled {
    language: Lang,
    patterns: Vec<Pattern>,
    /// What every match must contain.
    fixed: String,
}

impl Compiled {
    fn new(text: &str, language: &'static Language) -> Result<Self, String> {
        let lang = Lang(language);
        let text = text.trim();
        let direct = Pattern::try_new(text, lang.clone());
        if matches!(direct, Err(PatternError::RootMultiMetaVar(_) | PatternError::NoContent(_))) {
            return Err(explain(text, &lang, direct.err()));
        }
        let made = |text: &str| Pattern::try_new(text, lang.clone()).ok().filter(|_| lang.is_whole(text));
        let mut patterns: Vec<Pattern> = made(text).into_iter().collect();
        // An expression is no file of its own in every language.
        if patterns.is_empty()
            && around(language).is_some_and(|(a, b)| lang.is_whole(&format!("{a}{text}{b}")))
        {
            patterns.extend(expression(text, &lang));
        }
        // A head alone may also be whole code, a declaration; what is meant is the function all the same.
        let words = ["fn ", "function ", "async ", "pub ", "def ", "func ", "fun "];
        let is_head = text.ends_with(')') && words.iter().any(|word| text.starts_with(word));
        if patterns.is_empty() || is_head {
            let (before, after) = completions(language);
            let all = before
                .iter()
                .flat_map(|before| after.iter().map(move |after| format!("{before}{text}{after}")));
            patterns.extend(all.filter_map(|text| made(&text)));
        }
        if patterns.is_empty() {
            return Err(explain(text, &lang, direct.err()));
        }
        let fixed = patterns.first().map(|pattern| pattern.fixed_string().into_owned()).unwrap_or_default();
        let fixed = if patterns.len() == 1 { fixed } else { String::new() };
        Ok(Self { language: lang, patterns, fixed })
    }

    fn search(&self, snapshot: &Snapshot, file: &FileEntry) -> Vec<PatternHit> {
        let Some(bytes) = snapshot.source(file) else { return Vec::new() };
        let source = text_of(&bytes);
        if !source.contains(&self.fixed) {
            return Vec::new();
        }
        let Some(facts) = snapshot.facts(file) else { return Vec::new() };
        let matcher = Any::new(self.patterns.clone());
        let Ok(doc) = StrDoc::try_new(&source, self.language.clone()) else { return Vec::new() };
        let root = ast_grep_core::AstGrep::doc(doc);
        let place = Place { file, facts: &facts, source: source.as_bytes() };
        let root = root.root();
        root.find_all(&matcher).take(MAX_PER_FILE).map(|found| place.hit(&found)).collect()
    }
}

struct Place<'a> {
    file: &'a FileEntry,
    facts: &'a FileFacts,
    source: &'a [u8],
}

impl Place<'_> {
    fn hit(&self, found: &ast_grep_core::NodeMatch<'_, StrDoc<Lang>>) -> PatternHit {
        let range = found.range();
        let span = Span::new(range.start as u32, range.end as u32);
        let lines: &LineTable = &self.facts.lines;
        let (line, column) = lines.position(span.start, self.source);
        let text = String::from_utf8_lossy(span.of(self.source)).into_owned();
        let signature =
            text.lines().next().unwrap_or_default().trim_end_matches([' ', '{']).chars().take(MAX_TEXT);
        let mut variables: Vec<(String, String)> = Vec::new();
        for variable in found.get_env().get_matched_variables() {
            let (name, value) = match variable {
                MetaVariable::Capture(name, _) => {
                    let value = found.get_env().get_match(&name).map(|node| node.text().into_owned());
                    (name, value.unwrap_or_default())
                }
                MetaVariable::MultiCapture(name) => {
                    let nodes = found.get_env().get_multiple_matches(&name);
                    (name, nodes.iter().map(|node| node.text().into_owned()).collect::<String>())
                }
                MetaVariable::Dropped(_) | MetaVariable::Multiple => continue,
            };
            if !name.starts_with('_') {
                variables.push((name, value.chars().take(MAX_TEXT).collect()));
            }
        }
        variables.sort();
        let name = variables.iter().find(|(name, _)| name == "NAME").or(variables.first());
        PatternHit {
            name: name.map(|(_, value)| value.clone()).unwrap_or_default(),
            kind: found.kind().into_owned(),
            path: self.file.path.clone(),
            line,
            column,
            end_line: lines.last_line(span),
            signature: signature.collect(),
            enclosing: self.enclosing(span),
            variables,
        }
    }

    /// The innermost definition that is larger than the hit itself.
    fn enclosing(&self, span: Span) -> Option<String> {
        let definitions = self.facts.definitions.iter().enumerate();
        let around = definitions.filter(|(_, definition)| {
            let own = definition.span;
            own.start <= span.start
                && own.end >= span.end
                && own != span
                && definition.name_start < span.start
        });
        let (index, definition) =
            around.min_by_key(|(_, definition)| definition.span.end - definition.span.start)?;
        let path = self.facts.parent_path(DefId::new(index));
        let name = self.facts.text(definition.name);
        Some(if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") })
    }
}

/// Says how a pattern was read, so that whoever wrote it sees where it went wrong.
fn explain(text: &str, lang: &Lang, error: Option<PatternError>) -> String {
    let name = lang.0.name;
    let why = match error {
        Some(PatternError::MultipleNode(_)) => {
            "it is several pieces of code, and a pattern must be one".to_owned()
        }
        Some(PatternError::NoContent(_)) => "there is no code in it".to_owned(),
        Some(PatternError::RootMultiMetaVar(_)) => {
            "`$$$` alone fits everything: put it inside other code".to_owned()
        }
        Some(error) => error.to_string(),
        None => "it is not complete code by itself".to_owned(),
    };
    let processed = lang.pre_process_pattern(text);
    let mut message = format!("the pattern {text:?} is no {name}: {why}.");
    if let Ok(tree) = crate::facts::parse(&processed, lang.0) {
        let read: String = tree.root_node().to_sexp().chars().take(600).collect();
        message.push_str(&format!(" It was read as {read}."));
    }
    message.push_str(" A variable is `$NAME` for one node or `$$$NAME` for any number, in capital letters.");
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_change_their_sign() {
        assert_eq!(with_sign("fn $NAME($$$ARGS) { $x $$$ }", 'µ'), "fn µNAME(µµµARGS) { $x µµµ }");
    }
}
