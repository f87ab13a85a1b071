//! `toolwarden policy sign`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::output::{self, OutputArguments};
use crate::module::Component;
use crate::signature::SigningKey;

const EXAMPLES: &str = "Examples:
  toolwarden policy sign my-policy.wasm --key key.pem --new-key     makes the key first
  toolwarden policy sign my-policy.wasm --key key.pem

The key is an Ed25519 key in PKCS#8 PEM form, as `openssl genpkey -algorithm ed25519` makes one. The signature goes into
MODULE.sig. The public key that is printed goes into the settings: [module] keys = [\"ed25519:...\"].";

/// Arguments of `policy sign`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Arguments {
    /// The module
    module: PathBuf,
    /// File of the private key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Make the key first; the file must not be there yet
    #[arg(long)]
    new_key: bool,
    /// Where the signature goes; default: the module's name with .sig behind
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let module =
        Component::read(&arguments.module).map_err(|e| Failure::text(Exit::BadInput, format!("{e} [{}]", e.code())))?;
    let key = if arguments.new_key { new_key(&arguments.key)? } else { read_key(&arguments.key)? };
    let signature = key.sign(&module);
    let out = arguments.out.clone().unwrap_or_else(|| {
        let mut path = arguments.module.as_os_str().to_owned();
        path.push(".sig");
        path.into()
    });
    output::write_whole(&out, format!("{signature}\n").as_bytes())
        .map_err(|e| Failure::text(Exit::BadInput, format!("cannot write `{}`: {e}", out.display())))?;
    let mut stdout = output::stdout();
    if arguments.output.is_human() {
        writeln!(stdout, "{}\n  signed with {}", out.display(), key.public())?;
    } else {
        output::json_line(&mut stdout, &json!({ "path": out, "key": key.public().to_string() }))?;
    }
    stdout.flush()?;
    Ok(Exit::Done)
}

fn read_key(path: &Path) -> Result<SigningKey, Failure> {
    let pem = std::fs::read_to_string(path)
        .map_err(|e| Failure::text(Exit::Usage, format!("cannot read the key `{}`: {e}", path.display())))?;
    SigningKey::from_pem(&pem)
        .map_err(|e| Failure::text(Exit::Usage, format!("`{}`: {e} [{}]", path.display(), e.code())))
}

/// Makes a key that only its owner can read. An existing file is never written over: it may be the only copy of a key.
fn new_key(path: &Path) -> Result<SigningKey, Failure> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|e| Failure::text(Exit::Usage, format!("no random numbers: {e}")))?;
    let key = SigningKey::from_seed(&seed);
    let pem = key.to_pem().map_err(|e| Failure::new(Exit::Usage, e))?;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| {
        file.write_all(pem.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|e| Failure::text(Exit::Usage, format!("cannot make the key `{}`: {e}", path.display())))?;
    Ok(key)
}
