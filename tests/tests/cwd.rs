//! `classify_cwd` against an independent model, a real file system, and everything that a keyboard can send.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use toolwarden_harness::oracle;
use toolwarden_policy::{
    Argument, CwdClass, CwdFacts, CwdJudgement, Flavour, JsonKind, Trail, Workspace, classify_cwd,
};

fn workspace(flavour: Flavour) -> Workspace<'static> {
    let (root, skills) = match flavour {
        Flavour::Posix => ("/a", "/A"),
        Flavour::Windows => ("a:\\a", "a:\\A\\a"),
    };
    Workspace { flavour, root, extra_roots: vec![], skills_roots: vec![skills], home: "" }
}

fn judge(text: &str, workspace: &Workspace) -> CwdJudgement {
    let given = Argument { name: "cwd", kind: JsonKind::Text, text };
    classify_cwd(given, workspace, &CwdFacts::not_attempted(), &mut Trail::off())
}

fn model(text: &str, workspace: &Workspace) -> (&'static str, &'static str) {
    let flavour = match workspace.flavour {
        Flavour::Posix => oracle::Flavour::Posix,
        Flavour::Windows => oracle::Flavour::Windows,
    };
    let (extra_roots, skills) = (&workspace.extra_roots, &workspace.skills_roots);
    let workspace = oracle::Workspace { root: workspace.root, extra_roots, skills, flavour };
    let answer = oracle::classify(oracle::Given::Text(text), &workspace, None);
    let class = match answer.class {
        oracle::Class::Invalid => "invalid",
        oracle::Class::Outside => "outside",
        oracle::Class::Skill => "skill",
        oracle::Class::Inside => "inside",
    };
    (class, if answer.why.is_empty() { "none" } else { answer.why })
}

fn agrees(text: &str, workspace: &Workspace) {
    let judged = judge(text, workspace);
    assert_eq!((judged.class.word(), judged.why.word()), model(text, workspace), "{text:?} {:?}", workspace.flavour);
}

/// Every text of up to 7 symbols out of those that have a meaning: 5.4 million, on both flavours. The model is slow, so it is
/// asked about all texts of up to 5 symbols, and about each longer one that is judged inside or in a skill; a false "inside"
/// is what must not be.
#[test]
fn every_short_text_agrees_with_the_model() {
    const SYMBOLS: [char; 9] = ['/', '\\', '.', '~', ':', '$', 'a', 'A', ' '];
    for flavour in [Flavour::Posix, Flavour::Windows] {
        let workspace = workspace(flavour);
        let mut asked = 0_u32;
        let mut text = String::new();
        let mut count = 0_u32;
        for length in 0..=7_u32 {
            for number in 0..9_u32.pow(length) {
                text.clear();
                let mut rest = number;
                for _ in 0..length {
                    text.push(SYMBOLS[(rest % 9) as usize]);
                    rest /= 9;
                }
                count += 1;
                let class = judge(&text, &workspace).class;
                if length <= 5 || matches!(class, CwdClass::Inside | CwdClass::Skill) {
                    asked += 1;
                    agrees(&text, &workspace);
                }
            }
        }
        assert_eq!(count, 5_380_840);
        assert!(asked > 100_000, "{asked}");
    }
}

/// Pieces that mean something, put together at random: schemes, devices, blanks of all kinds, expansions.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "/",
        "\\",
        "..",
        ".",
        " ",
        "\t",
        "\u{feff}",
        "\u{200b}",
        "\u{1c}",
        "a",
        "A",
        "b",
        "~",
        "$",
        "`",
        "%",
        "%A%",
        "_",
        ":",
        "::",
        "workspace:",
        "WorkSpace:",
        "skill:",
        "skill://",
        "file:",
        "http:",
        "C:",
        "a:",
        "//",
        "\\\\",
        "?\\",
        ".\\",
        "\\??\\",
        "nul",
        "CON",
        "com1",
        "LPT¹",
        "conin$",
        "<",
        "|",
        "*",
        "\u{7}",
        "\u{7f}",
        "é",
        "\u{202e}",
        "日",
        "/a",
        "/a/",
        "a:\\a",
        "a:\\A\\a\\",
        "...",
    ]);
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_texts_agree_with_the_model(text in pieces(), windows: bool) {
        agrees(&text, &workspace(if windows { Flavour::Windows } else { Flavour::Posix }));
    }

    /// P5: every input gets one class, without a panic.
    #[test]
    fn any_text_gets_a_class(text in "\\PC{0,40}", windows: bool) {
        let judged = judge(&text, &workspace(if windows { Flavour::Windows } else { Flavour::Posix }));
        prop_assert_ne!(judged.class, CwdClass::NotApplicable);
    }
}

/// P5 for long ones: a million characters of each kind that could make a loop or a stack run away.
#[test]
fn a_million_characters_get_a_class() {
    let units = [
        "a",
        "/",
        "\\",
        "..",
        "../",
        " ",
        "workspace:",
        "workspace: ",
        "skill:",
        "%",
        "$",
        ":",
        "\u{202e}",
        "日",
        "a/",
        "~",
        ".",
    ];
    for unit in units {
        let text = unit.repeat(1_000_000 / unit.len());
        for flavour in [Flavour::Posix, Flavour::Windows] {
            assert_ne!(judge(&text, &workspace(flavour)).class, CwdClass::NotApplicable, "{unit:?}");
        }
    }
}

/// A tree of folders with links between them, and outside.
struct Tree {
    folder: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |p: &str| folder.path().join(p);
        for folder in ["root/a/a", "root/A/b", "root/ a", "root/a\\A", "outside/a"] {
            std::fs::create_dir_all(path(folder)).unwrap();
        }
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root").canonicalize().unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// P6: on posix, inside by name and no link in the way means really below the root.
    #[cfg(unix)]
    #[test]
    fn inside_is_really_inside(pieces in prop::collection::vec(prop::sample::select(vec![
        "/", "\\", "..", ".", " ", "a", "A", "b", "ROOT", "root", "outside", "~", "$",
    ]), 0..7)) {
        thread_local!(static TREE: Tree = Tree::new());
        TREE.with(|tree| -> Result<(), TestCaseError> {
            let root = tree.root();
            let text = pieces.concat().replace("ROOT", root.to_str().unwrap());
            let workspace = Workspace {
                flavour: Flavour::Posix, root: root.to_str().unwrap(), extra_roots: vec![], skills_roots: vec![], home: "",
            };
            if judge(&text, &workspace).class == CwdClass::Inside {
                // However the program that uses it reads it: as given, trimmed, with either slash.
                for reading in [text.clone(), text.trim().into(), text.replace('\\', "/"), text.trim().replace('\\', "/")] {
                    let path = if Path::new(&reading).is_absolute() { PathBuf::from(&reading) } else { root.join(&reading) };
                    if let Ok(real) = std::fs::canonicalize(&path) {
                        prop_assert!(real.starts_with(&root), "{text:?} leads to {}", real.display());
                    }
                }
            }
            Ok(())
        })?;
    }
}
