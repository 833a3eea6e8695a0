//! What must not compile, and the compiler's messages, which newcomers read.
//!
//! `TRYBUILD=overwrite cargo test -p fixbolt-compile-fail` rewrites them; read them before you
//! commit.

#[test]
fn a_mistake_does_not_compile_and_the_compiler_says_what_is_wrong() {
    let mistakes = trybuild::TestCases::new();
    mistakes.pass("tests/wrong/none_at_all.rs");
    mistakes.compile_fail("tests/wrong/[!n]*.rs");
}
