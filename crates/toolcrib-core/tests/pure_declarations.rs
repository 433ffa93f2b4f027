//! Declarations for each API.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::{Value, json};
use toolcrib_core::declarations::{Format, ToolView, check_name, declarations};

fn tool(schema: Value) -> ToolView {
    ToolView {
        name: "grep".into(),
        title: "Search".into(),
        description: "Searches files.".into(),
        input_schema: schema,
        output_schema: None,
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: false,
    }
}

fn sample() -> Value {
    json!({
        "type": "object",
        "description": "Arguments.",
        "properties": {
            "pattern": {"type": "string", "description": "Regular expression.", "minLength": 1},
            "limit": {"type": "integer", "description": "Most matches.", "exclusiveMinimum": 0, "default": 100},
            "mode": {"type": "string", "enum": ["content", "count"]},
            "level": {"type": "integer", "enum": [1, 2]},
            "when": {"type": "string", "format": "date-time"},
            "url": {"type": ["string", "null"], "format": "uri"},
            "target": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "list": {"type": "array"},
            "nested": {"$ref": "#/$defs/N"}
        },
        "required": ["pattern"],
        "additionalProperties": false,
        "$defs": {"N": {"type": "object", "properties": {"a": {"const": "x"}}, "additionalProperties": false}}
    })
}

#[test]
fn formats_have_names() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse::<Format>(), Ok(format));
        assert_eq!(serde_json::to_value(format).unwrap(), json!(format.to_string()));
    }
    let error = "gpt".parse::<Format>().unwrap_err();
    assert!(error.contains("gemini-legacy") && error.contains("langchain"), "{error}");
}

#[test]
fn each_api_gets_its_envelope() {
    let tools = [tool(sample())];
    let gemini = declarations(Format::Gemini, &tools);
    assert_eq!(gemini["functionDeclarations"][0]["name"], "grep");
    assert_eq!(gemini["functionDeclarations"][0]["parametersJsonSchema"]["required"], json!(["pattern"]));
    for format in [Format::OpenAi, Format::LangChain] {
        let openai = declarations(format, &tools);
        assert_eq!(openai[0]["type"], "function");
        assert_eq!(openai[0]["function"]["name"], "grep");
        assert_eq!(openai[0]["function"]["parameters"]["properties"]["nested"]["type"], "object");
        assert!(openai[0]["function"].get("strict").is_none());
    }
    let anthropic = declarations(Format::Anthropic, &tools);
    assert_eq!(anthropic[0]["input_schema"]["type"], "object");
    assert_eq!(anthropic[0]["description"], "Searches files.");
    let responses = declarations(Format::OpenAiResponses, &tools);
    assert_eq!((&responses[0]["type"], &responses[0]["name"]), (&json!("function"), &json!("grep")));
    assert!(responses[0]["strict"].is_boolean());
    for format in Format::ALL {
        let text = declarations(format, &tools).to_string();
        assert!(!text.contains("$ref") && !text.contains("$defs"), "{format}: {text}");
    }
}

#[test]
fn mcp_sets_every_hint() {
    let mut with_output = tool(sample());
    with_output.output_schema = Some(json!({"type": "object"}));
    let mcp = declarations(Format::Mcp, &[tool(sample()), with_output]);
    let first = &mcp["tools"][0];
    assert_eq!(first["title"], "Search");
    assert_eq!(
        first["annotations"],
        json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
            "openWorldHint": false})
    );
    assert!(first.get("outputSchema").is_none());
    assert_eq!(mcp["tools"][1]["outputSchema"], json!({"type": "object"}));
}

#[test]
fn legacy_gemini_speaks_its_subset() {
    let declared = declarations(Format::GeminiLegacy, &[tool(sample()), tool(json!({"type": "object"}))]);
    let declared = &declared["functionDeclarations"];
    assert_eq!(declared[1], json!({"name": "grep", "description": "Searches files."}));
    let parameters = &declared[0]["parameters"];
    assert_eq!(
        parameters,
        &json!({
            "type": "OBJECT",
            "description": "Arguments.",
            "properties": {
                "pattern": {"type": "STRING", "description": "Regular expression.", "minLength": 1},
                "limit": {"type": "INTEGER", "description": "Most matches. (default 100)", "minimum": 1},
                "mode": {"type": "STRING", "format": "enum", "enum": ["content", "count"]},
                "level": {"type": "INTEGER", "description": "one of 1, 2"},
                "when": {"type": "STRING", "format": "date-time"},
                "url": {"type": "STRING", "nullable": true},
                "target": {"anyOf": [{"type": "STRING"}, {"type": "ARRAY", "items": {"type": "STRING"}}]},
                "list": {"type": "ARRAY", "items": {"type": "STRING"}},
                "nested": {"type": "OBJECT", "properties": {
                    "a": {"type": "STRING", "format": "enum", "enum": ["x"]}}}
            },
            "required": ["pattern"]
        })
    );
}

#[test]
fn strict_requires_everything_and_nulls_the_rest() {
    let schema = json!({
        "type": "object",
        "properties": {
            "pattern": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 9, "description": "Most matches."},
            "mode": {"type": "string", "enum": ["content", "count"]},
            "target": {"oneOf": [{"type": "string"}, {"type": "integer"}]}
        },
        "required": ["pattern"]
    });
    let declared = declarations(Format::OpenAiStrict, &[tool(schema)]);
    let function = &declared[0]["function"];
    assert_eq!(function["strict"], true);
    assert_eq!(
        function["parameters"],
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "limit": {"type": ["integer", "null"], "description": "Most matches. (at least 1, at most 9)"},
                "mode": {"type": ["string", "null"], "enum": ["content", "count", null]},
                "target": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}
            },
            "required": ["pattern", "limit", "mode", "target"],
            "additionalProperties": false
        })
    );
}

#[test]
fn what_strict_cannot_say_is_declared_plain() {
    for property in [
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"type": "object"}),
        json!({}),
        json!(true),
        json!({"type": "array"}),
        json!({"type": "array", "prefixItems": [{"type": "string"}]}),
        json!({"type": "object", "patternProperties": {"^x": {}}}),
    ] {
        let schema = json!({"type": "object", "properties": {"p": property}});
        let declared = declarations(Format::OpenAiStrict, &[tool(schema.clone())]);
        assert_eq!(declared[0]["function"]["strict"], false, "{property}");
        assert_eq!(declared[0]["function"]["parameters"], schema);
    }
    let none = declarations(Format::OpenAiStrict, &[tool(json!({"type": "object"}))]);
    assert_eq!(none[0]["function"]["strict"], true);
    assert_eq!(
        none[0]["function"]["parameters"],
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
    );
    let mut deep = json!({"type": "string"});
    for _ in 0..12 {
        deep = json!({"type": "object", "properties": {"d": deep}, "required": ["d"]});
    }
    assert_eq!(declarations(Format::OpenAiStrict, &[tool(deep)])[0]["function"]["strict"], false);
}

#[test]
fn a_union_at_the_root_becomes_one_object() {
    let schema = json!({"oneOf": [
        {"type": "object", "properties": {"kind": {"type": "string", "const": "a"}, "x": {"type": "integer"}},
         "required": ["kind", "x"], "additionalProperties": false},
        {"type": "object", "properties": {"kind": {"type": "string", "const": "b"}, "y": {"type": "string"}},
         "required": ["kind"], "additionalProperties": false}
    ]});
    let declared = declarations(Format::Anthropic, &[tool(schema)]);
    let root = &declared[0]["input_schema"];
    assert_eq!(root["properties"]["kind"]["enum"], json!(["a", "b"]));
    assert_eq!(root["required"], json!(["kind"]));
    assert!(root["properties"]["x"].is_object() && root["properties"]["y"].is_object());
}

#[test]
fn what_goes_without_saying_is_left_out() {
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "path": {"type": "string", "description": "(The file.)"},
            "limit": {"type": "integer", "description": "Default 20.", "minimum": 1, "maximum": 1000},
            "level": {"type": "integer", "minimum": 2, "maximum": 9},
            "edits": {"type": "array", "description": "In order.", "minItems": 1, "items": {
                "type": "object", "description": "One edit.", "additionalProperties": false,
                "properties": {"old": {"type": "string"}}}},
            "env": {"type": "object", "additionalProperties": {"type": "string"}}
        },
        "required": ["path"]
    });
    let mcp = declarations(Format::Mcp, &[tool(schema.clone())]);
    assert_eq!(
        mcp["tools"][0]["inputSchema"],
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": "integer", "description": "Default 20."},
                "level": {"type": "integer", "minimum": 2, "maximum": 9},
                "edits": {"type": "array", "description": "In order.", "items": {
                    "type": "object", "properties": {"old": {"type": "string"}}}},
                "env": {"type": "object", "additionalProperties": {"type": "string"}}
            },
            "required": ["path"]
        })
    );
    let strict = declarations(Format::OpenAiStrict, &[tool(schema)]);
    assert_eq!(strict[0]["function"]["parameters"]["additionalProperties"], false);
}

#[test]
fn names_follow_each_rule() {
    for format in Format::ALL {
        assert!(check_name(format, "read_file").is_ok());
        for bad in ["", "a b", "naïve", "a/b", "x\u{1b}", &"n".repeat(129)] {
            assert!(check_name(format, bad).is_err(), "{format}: {bad:?}");
        }
    }
    assert!(check_name(Format::Mcp, "a.b").is_ok());
    assert!(check_name(Format::OpenAi, "a.b").unwrap_err().contains("'.'"));
    assert!(check_name(Format::Gemini, "1st").is_err());
    assert!(check_name(Format::OpenAi, "1st").is_ok());
    assert!(check_name(Format::Anthropic, &"n".repeat(128)).is_ok());
    assert!(check_name(Format::OpenAi, &"n".repeat(65)).is_err());
}
