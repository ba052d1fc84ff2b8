//! Writes the table of requests as an OpenAPI document, version 3.1, whose schemas are JSON Schema 2020-12 as `schemars` writes it.
//!
//! Schemas cost more to compile than all the rest of a type, and do not change while a program runs: a test holds the kept document
//! ([`super::OPENAPI`]) against this one.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::Problem;
use super::accounts::SESSION_COOKIE;
use super::routes::{Method, ROUTES, Right, Route};
use super::version;

/// All requests as OpenAPI 3.1.
#[must_use]
pub fn document() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let problem = generator.subschema_for::<Problem>();
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.name().to_lowercase()] = operation(route, &mut generator, &problem);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "linerate hub",
            "version": version::TEXT,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": generator.definitions(),
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "`linerate hub token` makes one" },
                "session": { "type": "apiKey", "in": "cookie", "name": SESSION_COOKIE, "description": "who has signed in" },
                "agent": { "type": "mutualTLS", "description": "the certificate that an agent got when it joined" },
            },
        },
    })
}

fn operation(route: &Route, generator: &mut schemars::SchemaGenerator, problem: &schemars::Schema) -> Value {
    let security = match route.right {
        Right::Anyone => json!([]),
        Right::Agent => json!([{ "agent": [] }]),
        Right::Join | Right::Archive => json!([{ "token": [] }]),
        Right::View | Right::Operate => json!([{ "token": [] }, { "session": [] }]),
        Right::Admin => json!([{ "session": [] }]),
    };
    let reply = (route.reply.schema)(generator);
    let mut operation = json!({
        "operationId": format!("{:?}", route.action).to_lowercase(),
        "summary": route.about,
        "security": security,
        "responses": {
            "200": { "description": "done", "content": { "application/json": { "schema": reply } } },
            "default": { "description": "refused", "content": { "application/json": { "schema": problem } } },
        },
    });
    if !route.query.is_empty() {
        let parameter = |(name, about): &(&str, &str)| json!({ "name": name, "in": "query", "description": about, "schema": { "type": "string" } });
        operation["parameters"] = route.query.iter().map(parameter).collect();
    }
    if route.method == Method::Post {
        let request = (route.request.schema)(generator);
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": request } },
        });
    }
    operation
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_kept_document_is_that_of_the_types() {
        let text = serde_json::to_string_pretty(&document()).unwrap() + "\n";
        if std::env::var_os("UPDATE_FORMATS").is_some() {
            std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api/openapi.json"), &text).unwrap();
        } else {
            assert!(text == crate::api::OPENAPI, "UPDATE_FORMATS=1 writes it anew");
        }
    }

    #[test]
    fn every_reference_of_the_document_is_defined_in_it() {
        let document = document();
        let mut references = Vec::new();
        collect(&document, &mut references);
        assert!(references.len() > 10);
        for reference in references {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }

    fn collect<'a>(value: &'a Value, references: &mut Vec<&'a str>) {
        match value {
            Value::Object(map) => {
                references.extend(map.get("$ref").and_then(Value::as_str));
                map.values().for_each(|value| collect(value, references));
            }
            Value::Array(list) => list.iter().for_each(|value| collect(value, references)),
            _ => {}
        }
    }
}
