//! Properties of the pure modules over generated schemas.
//!
//! A case is a schema, a value that is valid for it, and the same value as a strict model sends it: with `null` for
//! every optional that is left out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolcrib_core::declarations::{Format, ToolView, declarations};
use toolcrib_core::executor::repair::repair;
use toolcrib_core::executor::validate::Validator;
use toolcrib_core::json::{JsonLimits, parse_arguments};
use toolcrib_core::schema::inline_refs;

#[derive(Debug, Clone)]
struct Case {
    schema: Value,
    value: Value,
    filled: Value,
}

fn case(schema: Value, value: Value) -> Case {
    Case { schema, filled: value.clone(), value }
}

fn leaf() -> impl Strategy<Value = Case> {
    prop_oneof![
        "[a-z0-9 ]{0,8}".prop_map(|s| case(json!({"type": "string", "description": "Text."}), json!(s))),
        "[a-z]{2,8}".prop_map(|s| case(
            json!({"type": "string", "minLength": 2, "pattern": "^[a-z0-9 ]*$"}),
            json!(s)
        )),
        Just(case(json!({"type": "string", "format": "uri"}), json!("file:///x"))),
        (-50_i64..50).prop_map(|n| case(json!({"type": "integer", "format": "int64"}), json!(n))),
        (0_i64..50)
            .prop_map(|n| case(json!({"type": "integer", "exclusiveMinimum": -1, "maximum": 50}), json!(n))),
        (-50_i32..50).prop_map(|n| case(json!({"type": "number"}), json!(f64::from(n) / 4.0))),
        any::<bool>().prop_map(|b| case(json!({"type": "boolean", "default": false}), json!(b))),
        (0_usize..3).prop_map(|i| {
            let options = ["one", "two", "three"];
            case(json!({"type": "string", "enum": options}), json!(options[i]))
        }),
        (0_usize..3).prop_map(|i| case(json!({"enum": [1, 2, 30]}), json!([1, 2, 30][i]))),
        (0_usize..3).prop_map(|i| case(json!({"enum": ["", "a", null]}), json!(["", "a", null])[i].clone())),
        Just(case(json!({"const": "fixed"}), json!("fixed"))),
        any::<bool>().prop_map(|null| {
            case(json!({"type": ["string", "null"]}), if null { Value::Null } else { json!("x") })
        }),
        any::<bool>().prop_map(|n| {
            case(json!({"type": ["integer", "string"]}), if n { json!(7) } else { json!("seven") })
        }),
        (0_u8..4).prop_map(|n| {
            let value = json!({"k": n});
            case(json!({"type": "object", "additionalProperties": {"type": "integer"}}), value)
        }),
        Just(case(json!({}), json!([1, "x"]))),
        Just(case(json!({"type": "array"}), json!([]))),
    ]
}

/// A strategy for strict-able leaves only would hide most cases: free-form ones are rarer, not absent.
fn node() -> impl Strategy<Value = Case> {
    let strictable = leaf().prop_filter("free-form", |c| {
        let s = &c.schema;
        s != &json!({}) && s != &json!({"type": "array"}) && s.get("additionalProperties").is_none()
    });
    let leaves = prop_oneof![12 => strictable, 1 => leaf()];
    leaves.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            1 => (inner.clone(), 0_usize..3).prop_map(|(c, n)| Case {
                schema: json!({"type": "array", "items": c.schema}),
                value: json!(vec![c.value; n]),
                filled: json!(vec![c.filled; n]),
            }),
            4 => object(inner.clone()),
            1 => (vec(inner.clone(), 1..4), any::<prop::sample::Index>()).prop_map(|(cases, pick)| {
                let chosen = pick.get(&cases).clone();
                let branches: Vec<Value> = cases.into_iter().map(|c| c.schema).collect();
                Case { schema: json!({"anyOf": branches, "description": "Either."}), ..chosen }
            }),
            1 => (vec(object(inner), 1..4), any::<prop::sample::Index>()).prop_map(|(cases, pick)| tagged(cases, pick)),
        ]
    })
}

/// A union whose alternatives are told apart by a constant, as serde writes them.
fn tagged(cases: Vec<Case>, pick: prop::sample::Index) -> Case {
    let cases: Vec<Case> = cases
        .into_iter()
        .enumerate()
        .map(|(i, mut c)| {
            let tag = format!("t{i}");
            c.schema["properties"]["tag"] = json!({"type": "string", "const": tag});
            c.schema["required"].as_array_mut().unwrap().push(json!("tag"));
            c.value["tag"] = json!(tag);
            c.filled["tag"] = json!(tag);
            c
        })
        .collect();
    let chosen = pick.get(&cases).clone();
    let branches: Vec<Value> = cases.into_iter().map(|c| c.schema).collect();
    Case { schema: json!({"oneOf": branches}), ..chosen }
}

fn object(inner: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    let member = (inner, any::<bool>(), any::<bool>());
    (vec(member, 0..4), any::<bool>()).prop_map(|(members, closed)| {
        let names = ["file_path", "limit", "x", "itemList"];
        let (mut properties, mut required) = (Map::new(), Vec::new());
        let (mut value, mut filled) = (Map::new(), Map::new());
        for (name, (c, is_required, is_present)) in names.iter().zip(members) {
            properties.insert((*name).into(), c.schema);
            if is_required {
                required.push(*name);
            }
            if is_required || is_present {
                value.insert((*name).into(), c.value);
                filled.insert((*name).into(), c.filled);
            } else {
                filled.insert((*name).into(), Value::Null);
            }
        }
        let mut schema = json!({"type": "object", "properties": properties, "required": required});
        if closed {
            schema["additionalProperties"] = json!(false);
        }
        Case { schema, value: Value::Object(value), filled: Value::Object(filled) }
    })
}

/// Arguments: an object, some of its properties behind references.
fn arguments() -> impl Strategy<Value = Case> {
    (object(node()), vec(any::<bool>(), 4)).prop_map(|(mut c, hoist)| {
        let mut defs = Map::new();
        for (i, (_, property)) in c.schema["properties"].as_object_mut().unwrap().iter_mut().enumerate() {
            if hoist[i] {
                defs.insert(format!("d{i}"), property.take());
                *property = json!({"$ref": format!("#/$defs/d{i}"), "description": "By reference."});
            }
        }
        c.schema["$defs"] = Value::Object(defs);
        c
    })
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-9_i32..9).prop_map(|n| json!(f64::from(n) / 2.0)),
        "[a-z0-9]{0,3}".prop_map(Value::from),
        prop_oneof![
            Just("true"),
            Just("10"),
            Just("One"),
            Just("[1]"),
            Just("{\"x\": \"[]\"}"),
            Just("\"{}\"")
        ]
        .prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("file_path"),
        Just("filePath"),
        Just("limit"),
        Just("Limit"),
        Just("x"),
        Just("itemlist")
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let members = prop::collection::hash_map(key.clone().prop_map(str::to_owned), inner.clone(), 0..4);
        prop_oneof![
            vec(inner, 0..3).prop_map(Value::from),
            members.prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

fn tool(schema: &Value) -> ToolView {
    ToolView {
        name: "t".into(),
        title: "T".into(),
        description: "Does it.".into(),
        input_schema: schema.clone(),
        output_schema: None,
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: false,
    }
}

/// OpenAI's rules for `strict: true`, as its documentation lists them.
fn check_strict(schema: &Value) -> Result<(), String> {
    let object = schema.as_object().ok_or("a schema is an object")?;
    let allowed =
        ["type", "description", "enum", "anyOf", "properties", "required", "additionalProperties", "items"];
    if let Some(key) = object.keys().find(|k| !allowed.contains(&k.as_str())) {
        return Err(format!("keyword {key}"));
    }
    if !object.contains_key("type") && !object.contains_key("anyOf") {
        return Err(format!("neither type nor anyOf: {schema}"));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        Value::String(one) => vec![one],
        _ => vec![],
    };
    if types.contains(&"object") {
        let properties = schema["properties"].as_object().ok_or("object without properties")?;
        let required: Vec<&str> = schema["required"]
            .as_array()
            .ok_or("object without required")?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if schema["additionalProperties"] != json!(false) {
            return Err("open object".into());
        }
        if properties.keys().map(String::as_str).collect::<Vec<_>>() != required {
            return Err("not all required".into());
        }
        properties.values().try_for_each(check_strict)?;
    }
    if types.contains(&"array") {
        check_strict(&schema["items"])?;
    }
    if let Some(branches) = object.get("anyOf") {
        let branches = branches.as_array().filter(|b| !b.is_empty()).ok_or("empty union")?;
        branches.iter().try_for_each(check_strict)?;
    }
    Ok(())
}

/// What Gemini's `Schema` message takes.
fn check_legacy(schema: &Value) -> Result<(), String> {
    let object = schema.as_object().ok_or("a schema is an object")?;
    if let Some(branches) = object.get("anyOf") {
        if object.len() != 1 {
            return Err("anyOf must be the only field".into());
        }
        let branches = branches.as_array().filter(|b| b.len() > 1).ok_or("a union of fewer than two")?;
        return branches.iter().try_for_each(check_legacy);
    }
    let kind = schema["type"].as_str().ok_or_else(|| format!("no type: {schema}"))?;
    let mut allowed = vec!["type", "description", "nullable"];
    allowed.extend_from_slice(match kind {
        "STRING" => &["minLength", "maxLength", "pattern", "format", "enum"],
        "INTEGER" | "NUMBER" => &["minimum", "maximum", "format"],
        "BOOLEAN" => &[],
        "ARRAY" => &["items", "minItems", "maxItems"],
        "OBJECT" => &["properties", "required"],
        _ => return Err(format!("type {kind}")),
    });
    if let Some(key) = object.keys().find(|k| !allowed.contains(&k.as_str())) {
        return Err(format!("{key} on {kind}"));
    }
    if let Some(values) = object.get("enum") {
        let values = values.as_array().ok_or("enum is a list")?;
        if values.is_empty() || !values.iter().all(|v| v.as_str().is_some_and(|s| !s.is_empty())) {
            return Err(format!("enum {values:?}"));
        }
        if schema["format"] != "enum" {
            return Err("enum without its format".into());
        }
    }
    if let Some(format) = object.get("format").and_then(Value::as_str)
        && !["enum", "date-time", "int32", "int64", "float", "double"].contains(&format)
    {
        return Err(format!("format {format}"));
    }
    if kind == "ARRAY" {
        check_legacy(object.get("items").ok_or("array without items")?)?;
    }
    let none = Map::new();
    let properties = object.get("properties").map_or(Ok(&none), |p| p.as_object().ok_or("properties"))?;
    if object.contains_key("properties") && properties.is_empty() {
        return Err("empty properties".into());
    }
    for name in object.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !properties.contains_key(name.as_str().unwrap()) {
            return Err(format!("required {name} is unknown"));
        }
    }
    properties.values().try_for_each(check_legacy)
}

fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(o) => {
            o.contains_key("$ref") || o.contains_key("$defs") || o.values().any(has_reference)
        }
        Value::Array(a) => a.iter().any(has_reference),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn generated_values_are_valid(c in arguments()) {
        let violations = Validator::new(&c.schema).unwrap().check(&c.value);
        prop_assert!(violations.is_empty(), "{violations:?}");
    }

    #[test]
    fn inlining_keeps_the_meaning(c in arguments(), other in anything()) {
        let inlined = inline_refs(&c.schema);
        prop_assert!(!has_reference(&inlined));
        prop_assert_eq!(&inline_refs(&inlined), &inlined);
        let (before, after) = (Validator::new(&c.schema).unwrap(), Validator::new(&inlined).unwrap());
        prop_assert!(after.is_valid(&c.value));
        prop_assert_eq!(before.is_valid(&other), after.is_valid(&other));
    }

    #[test]
    fn strict_obeys_the_rules_and_comes_back(c in arguments()) {
        let declared = declarations(Format::OpenAiStrict, &[tool(&c.schema)]);
        let function = &declared[0]["function"];
        if function["strict"] == json!(true) {
            check_strict(&function["parameters"]).map_err(TestCaseError::fail)?;
            let strict = Validator::new(&function["parameters"]).unwrap();
            prop_assert!(strict.is_valid(&c.filled), "{:?}", strict.check(&c.filled));
        }
        let original = inline_refs(&c.schema);
        let (repaired, warnings) = repair(&original, c.filled.clone());
        let violations = Validator::new(&original).unwrap().check(&repaired);
        prop_assert!(violations.is_empty(), "{violations:?} in {repaired}");
        prop_assert!(warnings.is_empty(), "sending null is what strict asks for: {warnings:?}");
    }

    #[test]
    fn legacy_uses_known_keywords_only(c in arguments()) {
        let declared = declarations(Format::GeminiLegacy, &[tool(&c.schema)]);
        let declaration = &declared["functionDeclarations"][0];
        if let Some(parameters) = declaration.get("parameters") {
            prop_assert_eq!(&parameters["type"], "OBJECT");
            check_legacy(parameters).map_err(TestCaseError::fail)?;
        } else {
            prop_assert!(c.schema["properties"].as_object().unwrap().is_empty());
        }
    }

    #[test]
    fn every_format_has_an_object_at_the_root(c in node()) {
        for (format, key) in [(Format::Anthropic, "input_schema"), (Format::OpenAiResponses, "parameters")] {
            let declared = declarations(format, &[tool(&c.schema)]);
            let root = &declared[0][key];
            prop_assert_eq!(&root["type"], "object");
            for keyword in ["oneOf", "anyOf", "allOf", "not", "enum", "$ref"] {
                prop_assert!(root.get(keyword).is_none(), "{keyword} in {root}");
            }
        }
    }

    #[test]
    fn repair_leaves_valid_values_alone(c in arguments()) {
        let schema = inline_refs(&c.schema);
        let (repaired, warnings) = repair(&schema, c.value.clone());
        prop_assert_eq!(repaired, c.value);
        prop_assert!(warnings.is_empty());
    }

    #[test]
    fn repair_never_breaks_what_validates(c in arguments(), other in anything()) {
        let schema = inline_refs(&c.schema);
        let validator = Validator::new(&schema).unwrap();
        let (repaired, _) = repair(&schema, other.clone());
        if validator.is_valid(&other) {
            prop_assert!(validator.is_valid(&repaired));
        }
        let (again, warnings) = repair(&schema, repaired.clone());
        prop_assert_eq!(&again, &repaired, "not idempotent; second pass said {:?}", warnings);
    }

    #[test]
    fn repair_decodes_arguments_sent_as_text(c in arguments(), times in 1_usize..3, fenced in any::<bool>()) {
        let schema = inline_refs(&c.schema);
        let mut sent = c.value.clone();
        for _ in 0..times {
            sent = Value::String(sent.to_string());
        }
        if fenced {
            sent = Value::String(format!("```json\n{}\n```", sent.as_str().unwrap()));
        }
        let (repaired, warnings) = repair(&schema, sent);
        prop_assert_eq!(repaired, c.value);
        prop_assert_eq!(warnings.len(), 1);
    }

    #[test]
    fn violations_are_bounded_and_exact(c in arguments(), other in anything()) {
        let validator = Validator::new(&c.schema).unwrap();
        let violations = validator.check(&other);
        prop_assert_eq!(violations.is_empty(), validator.is_valid(&other));
        prop_assert!(violations.len() <= 21);
        for violation in &violations {
            prop_assert!(violation.to_string().chars().count() < 600, "{violation}");
        }
    }

    #[test]
    fn parsing_agrees_with_serde_json(value in anything()) {
        let text = serde_json::to_vec_pretty(&value).unwrap();
        prop_assert_eq!(parse_arguments(&text, &JsonLimits::default()).unwrap(), value);
    }

    #[test]
    fn parsing_never_panics(bytes in vec(prop_oneof![Just(b'{'), Just(b'"'), Just(b'['), Just(b'\\'), Just(b':'), Just(b','), any::<u8>()], 0..40)) {
        if let Err(error) = parse_arguments(&bytes, &JsonLimits::default()) {
            prop_assert!(error.offset <= bytes.len());
            prop_assert!(error.line >= 1 && error.column >= 1);
        }
    }
}
