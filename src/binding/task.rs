//! Work on the worker pool. A task ends with a result of the core; turning that into a JavaScript
//! value or error happens on the JavaScript thread, as errors are objects there.

use super::error::{from_panic, to_js};
use crate::error::{Error, Result};
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, Task};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A piece of work and how its outcome becomes a JavaScript value.
pub struct Job<T, V> {
    name: &'static str,
    work: Option<Box<dyn FnOnce() -> Result<T> + Send>>,
    finish: fn(&Env, T) -> napi::Result<V>,
}

impl<T, V> Job<T, V> {
    /// `name` says in errors which work it was.
    pub fn new(
        name: &'static str,
        work: impl FnOnce() -> Result<T> + Send + 'static,
        finish: fn(&Env, T) -> napi::Result<V>,
    ) -> Self {
        Job { name, work: Some(Box::new(work)), finish }
    }
}

impl<T: Send + 'static, V: ToNapiValue + TypeName + 'static> Task for Job<T, V> {
    type Output = Result<T>;
    type JsValue = V;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        let Some(work) = self.work.take() else {
            return Ok(Err(Error::InvalidArgument { reason: format!("{} ran twice", self.name) }));
        };
        Ok(catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(from_panic(&*panic, self.name))))
    }

    fn resolve(&mut self, env: Env, output: Self::Output) -> napi::Result<Self::JsValue> {
        match output {
            Ok(value) => (self.finish)(&env, value),
            Err(error) => Err(to_js(&env, &error)),
        }
    }
}
