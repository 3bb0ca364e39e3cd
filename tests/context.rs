//! Trees and contexts against the rules written down plainly.

mod reference;

use proptest::prelude::*;
use reference::context::{compare, from_bytes};

proptest! {
    #[test]
    fn trees_of_any_shape_have_the_parents_and_contexts_of_the_plain_rules(
        bytes in prop::collection::vec(any::<u8>(), 0..160),
    ) {
        compare(&from_bytes(&bytes));
    }
}
