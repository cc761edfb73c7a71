//! Worksheets and catalogues: what loads, what is refused and where, forms and schemas.

use std::path::Path;

use headrace_spec::{DocumentKind, Error, LoadedDocument};
use proptest::prelude::*;

#[test]
fn print_form() {
    std::fs::write("/tmp/form_w.toml", DocumentKind::Worksheet.form()).unwrap();
    std::fs::write("/tmp/form_c.toml", DocumentKind::Catalogue.form()).unwrap();
    std::fs::write("/tmp/ref_w.md", DocumentKind::Worksheet.reference().text).unwrap();
    for kind in DocumentKind::ALL {
        let l = kind.load(&kind.form(), Path::new("x.toml"), &[]);
        match l { Ok(l) => println!("{}\n{}", l.json, l.toml), Err(e) => println!("{e}") }
    }
}
