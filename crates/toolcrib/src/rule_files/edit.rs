//! Rules added to and removed from a file that people edit, too: comments and formatting stay.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value};
use toolcrib_core::permission::RuleText;

/// The text with a rule more at the end of the rules.
pub(super) fn append(text: &str, rule: &RuleText) -> Result<String, String> {
    let mut document = parsed(text)?;
    let rule = toml::to_string(rule).map_err(|error| error.to_string())?;
    let rule = parsed(&rule)?.as_table().clone();
    match rules(&mut document)? {
        Item::ArrayOfTables(all) => {
            let mut table = Table::new();
            for (key, item) in rule {
                table.insert(&key, item);
            }
            if !all.is_empty() || !text.trim().is_empty() {
                table.decor_mut().set_prefix("\n");
            }
            all.push(table);
        }
        Item::Value(Value::Array(all)) => all.push(rule.into_inline_table()),
        _ => return Err("`permissions.rules` is not a list".into()),
    }
    Ok(document.to_string())
}

/// The text without the rule at `index`.
pub(super) fn remove(text: &str, index: usize) -> Result<String, String> {
    let mut document = parsed(text)?;
    match rules(&mut document)? {
        Item::ArrayOfTables(all) if index < all.len() => {
            all.remove(index);
        }
        Item::Value(Value::Array(all)) if index < all.len() => {
            all.remove(index);
        }
        _ => return Err("there is no such rule".into()),
    }
    Ok(document.to_string())
}

fn parsed(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())
}

/// The list of rules, made if missing.
fn rules(document: &mut DocumentMut) -> Result<&mut Item, String> {
    let permissions = document.entry("permissions").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    match permissions {
        Item::Table(table) => {
            Ok(table.entry("rules").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new())))
        }
        Item::Value(Value::InlineTable(_)) => Err("write `permissions` as a table, `[permissions]`".into()),
        _ => Err("`permissions` is not a table".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_core::permission::{Decision, WordsText};

    fn rule() -> RuleText {
        RuleText { command: Some(WordsText::Line("git push".into())), ..RuleText::new(Decision::Deny) }
    }

    #[test]
    fn everything_else_stays_as_it_was() {
        let text = "# mine\n[other]   # odd\nx = 1\n\n[[permissions.rules]]\n# why\ndecision = 'allow'\ntool = \"a\"  # b\n\n[last]\ny=2 # end\n";
        let added = append(text, &rule()).unwrap();
        for line in text.lines().filter(|line| !line.is_empty()) {
            assert!(added.contains(line), "{line:?} is not in:\n{added}");
        }
        assert!(
            added.contains("[[permissions.rules]]\ndecision = \"deny\"\ncommand = \"git push\"\n"),
            "{added}"
        );
        assert_eq!(remove(&added, 1).unwrap(), text);
        assert!(!remove(&added, 0).unwrap().contains("tool = "));
        assert!(remove(text, 1).is_err());
    }

    #[test]
    fn an_empty_file_and_a_list_in_one_line() {
        let added = append("", &rule()).unwrap();
        assert_eq!(added, "[[permissions.rules]]\ndecision = \"deny\"\ncommand = \"git push\"\n");
        let twice = append(&added, &rule()).unwrap();
        assert_eq!(twice, format!("{added}\n{added}"));
        let list = append("[permissions]\nrules = []\n", &rule()).unwrap();
        assert!(list.contains("{ decision = \"deny\", command = \"git push\" }"), "{list}");
        assert!(append("permissions = 3\n", &rule()).is_err());
    }
}
