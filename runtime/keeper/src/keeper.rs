//! The keeper's process: one thread that waits for requests of the server and for ends of children.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
#[cfg(feature = "seccomp")]
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use crate::job::{GRACE_MAX, JOBS_MAX, JobId, Reach, Step};
#[cfg(feature = "seccomp")]
use crate::launcher;
use crate::message::{Event, Request, VERSION};
#[cfg(feature = "seccomp")]
use crate::observation::{Observation, Unobserved};
use crate::packet::{self, PACKET_BYTES_MAX, Packet};
use ending::{Deed, Ending};
use kin::Kin;
#[cfg(feature = "seccomp")]
use observing::{News, Observing};
use process::{Look, Orphan};
use setup::Setup;
use start::{Order, Refusal};
use sweep::Sweep;
use unmarked::Unmarked;

mod ending;
mod kin;
mod last;
#[cfg(feature = "seccomp")]
mod launch;
#[cfg(feature = "seccomp")]
mod listener;
#[cfg(feature = "seccomp")]
mod observing;
mod process;
mod reap;
mod setup;
mod start;
mod sweep;
mod unmarked;
mod wait;

/// The time between TERM and KILL for a job that the server forgot.
const RELEASE_GRACE: Duration = Duration::from_secs(2);

/// The time from the end of a child to the look for ended orphans. The end of a job looks for them too,
/// and mostly comes before.
const REAP_AFTER: Duration = Duration::from_millis(20);

/// The most requests that are handled between two looks at children.
const REQUESTS_A_TURN: usize = 64;

/// The most answers that one job owes for requests to end it.
const END_TOKENS_MAX: usize = 16;

/// Runs the keeper until the server is gone, then ends every job and returns.
///
/// Must be called before the process starts a thread. Descriptor 0 is the socket that
/// [`Started::start`](crate::Started::start) made; anything else is an error, code 2. A keeper that
/// fails to set itself up reports that to the server and returns code 1. With the feature `seccomp`, a
/// second argument makes the process a launcher.
pub fn run() -> ExitCode {
    #[cfg(feature = "seccomp")]
    if std::env::args_os()
        .nth(2)
        .is_some_and(|word| word.as_bytes() == launcher::ARGUMENT.to_bytes())
    {
        return launcher::run();
    }
    let Ok(socket) = setup::take_socket() else { return ExitCode::from(2) };
    match setup::become_keeper() {
        Ok(setup) => {
            let mut keeper = Keeper::new(socket, setup);
            keeper.serve();
            keeper.sweeps.iter().for_each(Sweep::hurry);
            keeper.end_all();
            ExitCode::SUCCESS
        }
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(0);
            let _ = packet::send(&socket, &Event::Failed { errno }.encode(), &[]);
            ExitCode::FAILURE
        }
    }
}

struct Keeper {
    socket: OwnedFd,
    setup: Setup,
    jobs: BTreeMap<u64, Kept>,
    /// When ended orphans are looked for, if a child has ended since the last look.
    reap_due: Option<Instant>,
    sweeps: Vec<Sweep>,
    unmarked: Unmarked,
    /// Messages that wait for room in the socket. Requests wait while there are any, so their number
    /// is bounded by that of the jobs.
    outbox: VecDeque<(Event, Option<OwnedFd>)>,
    #[cfg(feature = "seccomp")]
    observing: Observing,
    buffer: Vec<u8>,
}

/// A job from its start until the server forgot it and all its processes are gone.
struct Kept {
    leader: Pid,
    has_terminal: bool,
    /// The leader is a zombie.
    exited: bool,
    ending: Option<Ending>,
    /// Requests to end this job that wait for their answer.
    tokens: Vec<u64>,
    /// The server is done with it.
    released: bool,
    kin: Kin,
}

impl Keeper {
    fn new(socket: OwnedFd, setup: Setup) -> Self {
        let ready = Event::Ready { version: VERSION, keeper: setup.key };
        Self {
            socket,
            setup,
            jobs: BTreeMap::new(),
            reap_due: None,
            sweeps: Vec::new(),
            unmarked: Unmarked::default(),
            outbox: VecDeque::from([(ready, None)]),
            #[cfg(feature = "seccomp")]
            observing: Observing::default(),
            buffer: vec![0; PACKET_BYTES_MAX],
        }
    }

    /// Works until the server is gone.
    fn serve(&mut self) {
        loop {
            if self.flush().is_err() {
                return;
            }
            let Ok(states) = self.wait() else { return };
            let [socket, signals, observed @ ..] = states.as_slice() else { return };
            // Before all else, since processes wait for it.
            let begun = self.observe(observed);
            let children = !signals.is_empty() || begun;
            if socket.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
                return;
            }
            if socket.contains(PollFlags::IN) && self.take_requests().is_err() {
                return;
            }
            if children {
                self.setup.forget_signals();
                self.note_exits();
                // Before all else, since the server waits for it.
                if self.flush().is_err() {
                    return;
                }
                self.reap_due.get_or_insert_with(|| Instant::now() + REAP_AFTER);
            }
            self.go_on_ending(children);
            self.reap_orphans();
            self.sweeps.retain_mut(|sweep| sweep.go_on(Instant::now()));
        }
    }

    /// Waits for something to do; returns the states of the socket, of the signals and of all that is
    /// observed.
    fn wait(&self) -> io::Result<Vec<PollFlags>> {
        let mut wanted = if self.owes() { PollFlags::empty() } else { PollFlags::IN };
        wanted.set(PollFlags::OUT, !self.outbox.is_empty());
        let mut polled = Vec::from([
            PollFd::new(&self.socket, wanted),
            PollFd::new(&self.setup.signals, PollFlags::IN),
        ]);
        #[cfg(feature = "seccomp")]
        self.observing.watch(&mut polled);
        let endings = self.jobs.values().filter_map(|job| job.ending.as_ref().map(Ending::due));
        let due = endings.chain(self.sweeps.iter().map(Sweep::due)).chain(self.reap_due).min();
        let timeout = due.map(wait::timespec);
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(polled.iter().map(PollFd::revents).collect())
    }

    /// Returns whether messages wait that the server counts on. Observations are left out: a job that
    /// makes many must leave requests a way.
    fn owes(&self) -> bool {
        #[cfg(feature = "seccomp")]
        return self.outbox.len() > self.observing.queued;
        #[cfg(not(feature = "seccomp"))]
        return !self.outbox.is_empty();
    }

    /// Sends waiting messages, as far as the socket has room.
    fn flush(&mut self) -> io::Result<()> {
        while let Some((event, descriptor)) = self.outbox.front() {
            let attached: Vec<_> = descriptor.iter().map(|descriptor| descriptor.as_fd()).collect();
            match packet::send(&self.socket, &event.encode(), &attached) {
                Ok(()) => {
                    #[cfg(feature = "seccomp")]
                    if matches!(event, Event::Observed { .. }) {
                        self.observing.queued -= 1;
                    }
                    self.outbox.pop_front();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The server has as many descriptors as it may.
                Err(_) if descriptor.is_some() => self.take_back_terminal(),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Turns a start into a refusal, since its terminal stays here.
    fn take_back_terminal(&mut self) {
        let Some((event, _)) = self.outbox.pop_front() else { return };
        let Event::Started { number, .. } = event else { return };
        self.release(number);
        let errno = Errno::TOOMANYREFS.raw_os_error();
        self.outbox.push_front((Event::Refused { number, step: Step::Terminal, errno }, None));
    }

    fn tell(&mut self, event: Event) {
        self.outbox.push_back((event, None));
    }

    fn take_requests(&mut self) -> io::Result<()> {
        for _ in 0..REQUESTS_A_TURN {
            let mut buffer = std::mem::take(&mut self.buffer);
            let taken = match packet::receive(&self.socket, &mut buffer) {
                Ok(Some(Packet { bytes, descriptors })) => Request::decode(bytes)
                    .map(|request| Some((request, descriptors)))
                    .map_err(|_| io::ErrorKind::InvalidData.into()),
                Ok(None) => Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
                Err(error) => Err(error),
            };
            self.buffer = buffer;
            let Some((request, descriptors)) = taken? else { return Ok(()) };
            self.handle(request, descriptors);
            self.flush()?;
            if self.owes() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn handle(&mut self, request: Request, descriptors: Vec<OwnedFd>) {
        match request {
            Request::Start { number, terminal, observed_max, body } => {
                let started = start::receive(&body, terminal, descriptors);
                let started = started.and_then(|order| {
                    self.admit(number)?;
                    let id = JobId { keeper: self.setup.key, number };
                    let leader = self.start(id, &order, observed_max)?;
                    self.jobs.insert(number, Kept::new(id, leader, terminal.is_some()));
                    Ok(())
                });
                if let Err(refusal) = started {
                    self.refuse(number, &refusal);
                }
            }
            Request::Signal { token, number, reach, signal } => {
                let outcome = self.signal(number, reach, signal).map_err(Errno::raw_os_error);
                self.tell(Event::Answer { token, outcome });
            }
            Request::End { token, number, grace } => self.end(number, grace, token),
            Request::Release { number } => self.release(number),
            Request::Sweep { keeper } => self.sweeps.push(Sweep::new(keeper, Instant::now())),
        }
    }

    fn admit(&self, number: u64) -> Result<(), Refusal> {
        if self.jobs.len() >= JOBS_MAX || self.jobs.contains_key(&number) {
            return Err(Refusal { step: Step::Admit, errno: Errno::AGAIN });
        }
        Ok(())
    }

    fn refuse(&mut self, number: u64, Refusal { step, errno }: &Refusal) {
        self.tell(Event::Refused { number, step: *step, errno: errno.raw_os_error() });
    }

    /// Starts a job and returns its leader. An observed one is begun when its launcher is done.
    #[cfg(feature = "seccomp")]
    fn start(&mut self, id: JobId, order: &Order, observed_max: u32) -> Result<Pid, Refusal> {
        if observed_max > 0 && self.observing.has_room() {
            return self.observing.launch(order, id, observed_max);
        }
        let (leader, master) = start::start(order, id)?;
        if observed_max > 0 {
            self.pass_on(id.number, Observation::Unobserved(Unobserved::Full));
        }
        self.begin(id.number, leader, master);
        Ok(leader)
    }

    /// Starts a job and returns its leader.
    #[cfg(not(feature = "seccomp"))]
    fn start(&mut self, id: JobId, order: &Order, _: u32) -> Result<Pid, Refusal> {
        let (leader, master) = start::start(order, id)?;
        self.begin(id.number, leader, master);
        Ok(leader)
    }

    fn begin(&mut self, number: u64, leader: Pid, master: Option<OwnedFd>) {
        let pid = leader.as_raw_pid();
        self.outbox.push_back((Event::Started { number, pid }, master));
    }

    /// Signals a job and returns to how many process groups.
    fn signal(&mut self, number: u64, reach: Reach, signal: i32) -> Result<u32, Errno> {
        let signal = Signal::from_named_raw(signal).ok_or(Errno::INVAL)?;
        let leaders = self.leaders();
        let job = self.jobs.get(&number).ok_or(Errno::SRCH)?;
        match reach {
            // The leader is unreaped, so its id belongs to this group alone.
            Reach::Group => rustix::process::kill_process_group(job.leader, signal).map(|()| 1),
            Reach::Session => {
                let orphans = self.setup.family.orphans(&leaders);
                let members = job.kin.session(&self.setup.family.look(), &orphans);
                process::signal_groups(&members, &[signal])
            }
        }
    }

    fn end(&mut self, number: u64, grace: Duration, token: u64) {
        let Some(job) = self.jobs.get_mut(&number) else {
            return self.tell(Event::Answer { token, outcome: Err(Errno::SRCH.raw_os_error()) });
        };
        if job.tokens.len() >= END_TOKENS_MAX {
            return self.tell(Event::Answer { token, outcome: Err(Errno::BUSY.raw_os_error()) });
        }
        job.tokens.push(token);
        job.begin_ending(grace);
    }

    fn release(&mut self, number: u64) {
        if let Some(job) = self.jobs.get_mut(&number) {
            job.released = true;
            job.begin_ending(RELEASE_GRACE);
        }
    }

    fn leaders(&self) -> Vec<Pid> {
        self.jobs.values().map(|job| job.leader).collect()
    }

    /// Reports the leaders that ended since the last time. They stay zombies.
    fn note_exits(&mut self) {
        for (number, job) in self.jobs.iter_mut().filter(|(_, job)| !job.exited) {
            // Its start is reported first, as soon as it is known.
            #[cfg(feature = "seccomp")]
            if self.observing.is_launching(*number) {
                continue;
            }
            let Some(ended) = reap::ended(job.leader) else { continue };
            job.exited = true;
            self.outbox.push_back((Event::Exited { number: *number, ended }, None));
        }
    }

    /// Reaps the orphans that ended, when that is due.
    fn reap_orphans(&mut self) {
        if self.reap_due.take_if(|due| *due <= Instant::now()).is_some() {
            self.setup.family.reap_orphans(&self.leaders());
        }
    }

    /// Takes the next step of every job that is being ended. After a child ended, each may be done.
    fn go_on_ending(&mut self, child_ended: bool) {
        let now = Instant::now();
        let is_due = |job: &Kept| {
            job.ending.as_ref().is_some_and(|ending| child_ended || ending.due() <= now)
        };
        if !self.jobs.values().any(is_due) {
            return;
        }
        self.note_exits();
        // Exits come first: the children of a zombie are orphans already.
        let orphans = self.setup.family.orphans(&self.leaders());
        self.reap_due = None;
        let look = self.setup.family.look();
        let mut answers = Vec::new();
        self.jobs.retain(|_, job| {
            let Some(left) =
                is_due(job).then(|| job.go_on(&look, &orphans, &mut self.unmarked, now)).flatten()
            else {
                return true;
            };
            job.ending = None;
            job.kin.forget();
            answers.extend(job.tokens.drain(..).map(|token| (token, left)));
            if job.released && job.exited {
                reap::reap(job.leader);
            }
            !job.released
        });
        for (token, left) in answers {
            self.tell(Event::Answer { token, outcome: Ok(left) });
        }
    }
}

/// The part of a keeper that observes system calls.
#[cfg(feature = "seccomp")]
impl Keeper {
    /// Answers all reports, and goes on with launches, after a wait with these states; returns whether a
    /// leader may have ended whose end was left for later.
    fn observe(&mut self, states: &[PollFlags]) -> bool {
        let mut is_settled = false;
        for (number, news) in self.observing.answer(states) {
            match news {
                News::Observed(observation) => self.pass_on(number, observation),
                News::Begun(leader, master) => {
                    self.begin(number, leader, master);
                    is_settled = true;
                }
                News::Failed(refusal) => {
                    self.refuse(number, &refusal);
                    // A launcher alone, which ends at once.
                    if let Some(job) = self.jobs.get_mut(&number) {
                        job.released = true;
                        job.begin_ending(Duration::ZERO);
                    }
                    is_settled = true;
                }
            }
        }
        is_settled
    }

    /// Passes an observation on, unless the server forgot its job.
    fn pass_on(&mut self, number: u64, observation: Observation) {
        if self.jobs.get(&number).is_none_or(|job| !job.released) {
            self.tell(Event::Observed { number, observation });
            self.observing.queued += 1;
        }
    }

    /// Ends every process. Those that are observed need answers until then.
    fn end_all(self) {
        let Self { setup, mut observing, .. } = self;
        last::end_all(&setup, |timeout| {
            let mut polled = Vec::from([PollFd::new(&setup.signals, PollFlags::IN)]);
            observing.watch(&mut polled);
            let _ = poll(&mut polled, Some(timeout));
            let states: Vec<_> = polled.iter().skip(1).map(PollFd::revents).collect();
            observing.answer(&states);
            setup.forget_signals();
        });
    }
}

/// A keeper that only starts processes.
#[cfg(not(feature = "seccomp"))]
impl Keeper {
    fn observe(&mut self, _: &[PollFlags]) -> bool {
        false
    }

    fn end_all(self) {
        last::end_all(&self.setup, |timeout| {
            let _ = poll(&mut [PollFd::new(&self.setup.signals, PollFlags::IN)], Some(timeout));
            self.setup.forget_signals();
        });
    }
}

impl Kept {
    fn new(id: JobId, leader: Pid, has_terminal: bool) -> Self {
        Self {
            leader,
            has_terminal,
            exited: false,
            ending: None,
            tokens: Vec::new(),
            released: false,
            kin: Kin::new(id, leader),
        }
    }

    fn begin_ending(&mut self, grace: Duration) {
        let (now, grace) = (Instant::now(), grace.min(GRACE_MAX));
        match &mut self.ending {
            Some(ending) => ending.shorten(now, grace),
            None => self.ending = Some(Ending::new(now, grace, self.has_terminal)),
        }
    }

    /// Takes the next step of the end; returns the number of processes left when that is over.
    fn go_on(
        &mut self,
        look: &Look,
        orphans: &[Orphan],
        unmarked: &mut Unmarked,
        now: Instant,
    ) -> Option<u32> {
        let leader = (!self.exited).then_some(self.leader);
        let ending = self.ending.as_mut()?;
        let Some(members) = self.kin.members(look, orphans, leader) else {
            if unmarked.are_awaited(orphans, now) {
                ending.look_again(now);
                return None;
            }
            return Some(0);
        };
        match ending.deed(now) {
            Deed::Wait => None,
            Deed::Signal(signals) => {
                let _ = process::signal_groups(&members, signals);
                None
            }
            Deed::GiveUp => Some(u32::try_from(members.len()).unwrap_or(u32::MAX)),
        }
    }
}
