//! Tells the linker how to build a Node-API addon; does nothing for the plain Rust core.

fn main() {
    #[cfg(feature = "binding")]
    napi_build::setup();
}
