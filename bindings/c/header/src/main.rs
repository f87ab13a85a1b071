//! Writes the header of the C library to standard output.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = ["border", "answer", "status"].map(|name| library.join("src").join(name).with_extension("rs"));
    let config = cbindgen::Config::from_file(library.join("cbindgen.toml"));
    let builder = config.map(|config| sources.iter().fold(cbindgen::Builder::new().with_config(config), |b, s| b.with_src(s)));
    let bindings = builder.and_then(|builder| builder.generate().map_err(|error| error.to_string()));
    match bindings {
        Ok(bindings) => {
            let mut header = Vec::new();
            bindings.write(&mut header);
            // A heading of Rust's documentation; in C the sentence below it says all.
            let header = String::from_utf8_lossy(&header).replace("* # Safety\n *\n ", "");
            print!("{header}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
