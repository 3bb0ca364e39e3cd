//! stub
use crate::error::Result;
use std::path::{PathBuf,Path};
/// s
#[derive(Debug)]
pub struct BlobStore { dir: PathBuf }
impl BlobStore {
    /// n
    pub fn new(dir: PathBuf) -> Self { BlobStore { dir } }
    /// d
    pub fn dir(&self) -> &Path { &self.dir }
    /// p
    pub fn put(&self, _bytes: &[u8]) -> Result<String> { Ok(String::new()) }
    /// r
    pub fn read(&self, _hex: &str) -> Result<Option<Vec<u8>>> { Ok(None) }
    /// s
    pub fn sync(&self) -> Result<()> { Ok(()) }
}
impl crate::persist::BlobSink for BlobStore { fn put(&self, bytes: &[u8]) -> Result<String> { BlobStore::put(self, bytes) } }
