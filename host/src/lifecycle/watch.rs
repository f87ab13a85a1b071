//! Calls for a reload when files change, or on SIGHUP.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{Event, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};

use super::reloader::Reloader;

/// How files are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchOptions {
    /// How long files must be quiet before they are read. Default: 200 ms.
    pub quiet: Duration,
    /// How often files are looked at where the system does not tell. Default: 2 s.
    pub poll: Duration,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self { quiet: Duration::from_millis(200), poll: Duration::from_secs(2) }
    }
}

/// Something that the watching thread is told.
enum Message {
    File(notify::Result<Event>),
    Now,
    Stop,
}

/// A thread that watches the files of a reloader. It ends when this is dropped.
#[derive(Debug)]
pub struct Watch {
    messages: Sender<Message>,
    #[cfg(unix)]
    signals: signal_hook::iterator::Handle,
}

impl Watch {
    /// Watches all [files](Reloader::files) of a reloader, and listens for SIGHUP.
    ///
    /// # Errors
    ///
    /// Where a thread or a signal handler cannot be had.
    pub fn start(reloader: &Arc<Reloader>, options: WatchOptions) -> std::io::Result<Self> {
        let (messages, inbox) = channel();
        #[cfg(unix)]
        let signals = hang_ups(messages.clone())?;
        let mut files = Files::new(messages.clone(), options.poll);
        files.watch(&reloader.files());
        let mut debounce = Debounce::new(options.quiet);
        // What changed after it was read and before it was watched is seen by looking once.
        debounce.now(Instant::now());
        let reloader = Arc::downgrade(reloader);
        thread::Builder::new()
            .name("toolwarden-watch".into())
            .spawn(move || run(&reloader, &inbox, files, debounce))?;
        Ok(Self {
            messages,
            #[cfg(unix)]
            signals,
        })
    }

    /// Calls for a reload, as SIGHUP does.
    pub fn reload(&self) {
        let _ = self.messages.send(Message::Now);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        #[cfg(unix)]
        self.signals.close();
        let _ = self.messages.send(Message::Stop);
    }
}

#[cfg(unix)]
fn hang_ups(messages: Sender<Message>) -> std::io::Result<signal_hook::iterator::Handle> {
    let mut signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGHUP])?;
    let handle = signals.handle();
    thread::Builder::new().name("toolwarden-signals".into()).spawn(move || {
        for _ in signals.forever() {
            if messages.send(Message::Now).is_err() {
                return;
            }
        }
    })?;
    Ok(handle)
}

fn run(reloader: &Weak<Reloader>, inbox: &Receiver<Message>, mut files: Files, mut debounce: Debounce) {
    loop {
        let message = match debounce.due() {
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => inbox.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        match message {
            Ok(Message::File(Ok(event))) => debounce.on_event(&event, &files.watched, Instant::now()),
            // Events were lost: everything may have changed.
            Ok(Message::File(Err(_)) | Message::Now) => debounce.now(Instant::now()),
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if debounce.due().is_some_and(|due| due <= Instant::now()) {
            debounce.done();
            let Some(reloader) = reloader.upgrade() else { return };
            // A refusal is kept and told by the reloader.
            let _ = reloader.reload();
            files.watch(&reloader.files());
        }
    }
}

/// What is watched: the folders, since a file that is replaced is another file.
struct Files {
    watcher: Option<Box<dyn Watcher + Send>>,
    folders: BTreeSet<PathBuf>,
    watched: Watched,
}

impl Files {
    fn new(messages: Sender<Message>, poll: Duration) -> Self {
        let tell = move |event| drop(messages.send(Message::File(event)));
        let told = RecommendedWatcher::new(tell.clone(), notify::Config::default());
        let watcher: Option<Box<dyn Watcher + Send>> = if let Ok(watcher) = told {
            Some(Box::new(watcher))
        } else {
            let config = notify::Config::default().with_poll_interval(poll).with_compare_contents(true);
            PollWatcher::new(tell, config).ok().map(|watcher| Box::new(watcher) as _)
        };
        Self { watcher, folders: BTreeSet::new(), watched: Watched::default() }
    }

    fn watch(&mut self, files: &[PathBuf]) {
        self.watched = Watched::default();
        let mut folders = BTreeSet::new();
        for file in files {
            let real = file.canonicalize().ok();
            // A file may be reached through a link, and be replaced by turning the link.
            self.watched.links |= real.as_deref().is_some_and(|real| !is_plain(file, real));
            for path in [Some(file.as_path()), real.as_deref()].into_iter().flatten() {
                self.watched.names.extend(path.file_name().map(OsString::from));
                let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
                folders.insert(folder.to_owned());
            }
        }
        let Some(watcher) = &mut self.watcher else { return };
        for folder in self.folders.difference(&folders) {
            let _ = watcher.unwatch(folder);
        }
        // One that could not be watched before, since it was not there, may be there now.
        folders.retain(|folder| {
            self.folders.contains(folder) || watcher.watch(folder, RecursiveMode::NonRecursive).is_ok()
        });
        self.folders = folders;
    }
}

/// Whether no link leads to the file.
fn is_plain(file: &Path, real: &Path) -> bool {
    std::path::absolute(file).is_ok_and(|absolute| absolute == real)
}

/// Which events are worth a look.
#[derive(Debug, Default)]
struct Watched {
    names: BTreeSet<OsString>,
    links: bool,
}

impl Watched {
    /// Whether something happened to a file of ours, or to a name through which one may be reached: a link is turned by making,
    /// removing or renaming, never by writing. What others write beside our files, a log say, is no reason.
    fn concerns(&self, path: &Path, kind: EventKind) -> bool {
        let is_turned =
            matches!(kind, EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
        self.links && is_turned || path.file_name().is_some_and(|name| self.names.contains(name))
    }
}

/// How long a reload is put off at most, where something happens all the time.
const LONGEST: Duration = Duration::from_secs(5);

/// Waits until files are quiet and nobody has one open for writing any more. Knows no clock but the one it is told.
#[derive(Debug)]
struct Debounce {
    quiet: Duration,
    due: Option<Instant>,
    /// When the first event came that is not dealt with.
    since: Option<Instant>,
    /// Files that were written to, and not closed since. Only where the system tells when a file is closed.
    open: BTreeSet<PathBuf>,
}

impl Debounce {
    const fn new(quiet: Duration) -> Self {
        Self { quiet, due: None, since: None, open: BTreeSet::new() }
    }

    /// When it is time to reload; none while there is no reason, or somebody still writes.
    fn due(&self) -> Option<Instant> {
        self.due.filter(|_| self.open.is_empty())
    }

    fn now(&mut self, now: Instant) {
        self.open.clear();
        self.due = Some(now);
    }

    fn done(&mut self) {
        self.due = None;
        self.since = None;
    }

    fn on_event(&mut self, event: &Event, watched: &Watched, now: Instant) {
        if event.need_rescan() {
            return self.now(now);
        }
        let paths = || event.paths.iter().filter(|path| watched.concerns(path, event.kind));
        if paths().next().is_none() {
            return;
        }
        match event.kind {
            // A file that takes the name of another is whole.
            EventKind::Access(AccessKind::Close(AccessMode::Write))
            | EventKind::Remove(_)
            | EventKind::Modify(ModifyKind::Name(_)) => {
                for path in paths() {
                    self.open.remove(path);
                }
            }
            EventKind::Modify(ModifyKind::Data(_)) if cfg!(target_os = "linux") => {
                self.open.extend(paths().cloned());
            }
            EventKind::Access(_) => return,
            _ => {}
        }
        let latest = *self.since.get_or_insert(now) + LONGEST;
        self.due = Some((now + self.quiet).min(latest));
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, RenameMode};

    use super::*;

    const QUIET: Duration = Duration::from_millis(200);

    struct Story {
        debounce: Debounce,
        watched: Watched,
        start: Instant,
        at: Duration,
    }

    impl Story {
        fn new() -> Self {
            let watched = Watched { names: ["policy.wasm".into()].into(), links: false };
            Self { debounce: Debounce::new(QUIET), watched, start: Instant::now(), at: Duration::ZERO }
        }

        fn happens(&mut self, kind: EventKind, file: &str) -> &mut Self {
            self.at += Duration::from_millis(10);
            let event = Event::new(kind).add_path(Path::new("/etc/toolwarden").join(file));
            self.debounce.on_event(&event, &self.watched, self.start + self.at);
            self
        }

        /// Milliseconds after the last event at which it is time to reload.
        fn due(&self) -> Option<u128> {
            Some((self.debounce.due()? - (self.start + self.at)).as_millis())
        }
    }

    const CREATED: EventKind = EventKind::Create(CreateKind::File);
    const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
    const CLOSED: EventKind = EventKind::Access(AccessKind::Close(AccessMode::Write));
    const RENAMED: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::To));

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_is_open_for_writing_is_not_read_however_long_it_takes() {
        let mut story = Story::new();
        assert_eq!(story.happens(WRITTEN, "policy.wasm").due(), None);
        assert_eq!(story.happens(WRITTEN, "policy.wasm").due(), None);
        assert_eq!(story.happens(CLOSED, "policy.wasm").due(), Some(200));
    }

    #[test]
    fn a_file_that_takes_the_place_of_another_is_read_when_all_is_quiet() {
        let mut story = Story::new();
        assert_eq!(story.happens(CREATED, "policy.wasm.part").due(), None);
        assert_eq!(story.happens(RENAMED, "policy.wasm").due(), Some(200));
        // Each further event puts it off.
        assert_eq!(story.happens(CREATED, "policy.wasm").due(), Some(200));
    }

    #[test]
    fn other_files_and_mere_reading_are_no_reason() {
        let mut story = Story::new();
        story.happens(WRITTEN, "other.wasm").happens(CLOSED, "other.wasm");
        story.happens(EventKind::Access(AccessKind::Open(AccessMode::Read)), "policy.wasm");
        assert_eq!(story.due(), None);
    }

    #[test]
    fn lost_events_and_calls_are_due_at_once() {
        let mut story = Story::new();
        story.happens(WRITTEN, "policy.wasm");
        story.debounce.now(story.start + story.at);
        assert_eq!(story.due(), Some(0));
    }

    #[test]
    fn with_links_on_the_way_every_name_that_is_turned_counts() {
        let mut story = Story::new();
        story.watched.links = true;
        assert_eq!(story.happens(RENAMED, "..data").due(), Some(200));
        // A log that stays open beside them puts nothing off.
        assert_eq!(story.happens(WRITTEN, "some.log").due(), Some(190));
    }

    #[test]
    fn what_happens_all_the_time_puts_a_reload_off_for_so_long_only() {
        let mut story = Story::new();
        story.happens(RENAMED, "policy.wasm");
        let due = story.start + story.at + LONGEST;
        for _ in 0..2_000 {
            story.happens(RENAMED, "policy.wasm");
        }
        assert_eq!(story.debounce.due(), Some(due));
        story.debounce.done();
        assert_eq!(story.happens(RENAMED, "policy.wasm").due(), Some(200));
    }
}
