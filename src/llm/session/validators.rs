//! Compiled JSON Schemas.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::Value;

use crate::llm::record::hash;

/// Maximum number of cached validators; schemas that list the characters of a scene change often.
const MOST_VALIDATORS: usize = 256;

/// A cache of compiled JSON Schemas.
#[derive(Debug, Default)]
pub(super) struct Validators(Mutex<HashMap<String, Arc<Validator>>>);

impl Validators {
    /// Returns the compiled validator of a schema.
    pub(super) fn get(&self, schema: &Value) -> Result<Arc<Validator>, String> {
        let key = hash(schema);
        let validators = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = validators().get(&key) {
            return Ok(Arc::clone(validator));
        }
        let validator =
            jsonschema::validator_for(schema).map_err(|error| format!("the ask's schema is invalid: {error}"))?;
        let validator = Arc::new(validator);
        let mut validators = validators();
        if validators.len() >= MOST_VALIDATORS {
            validators.clear();
        }
        validators.insert(key, Arc::clone(&validator));
        Ok(validator)
    }
}
