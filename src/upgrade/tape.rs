//! A command that is run again under other conditions repeats itself until one of them first comes into play: a tape of
//! the first run answers until then, and the cluster goes on from a copy that was kept on the way.

use std::sync::Arc;

use crate::cluster::simulated::{Conditions, Consulted, Simulated};
use crate::cluster::{ApiResource, Arrival, Cluster, Request, Response, Unreachable};
use crate::upgrade::actors::{self, Workshop};
use crate::upgrade::course::{Course, Order};
use crate::upgrade::trace::Step;

/// Calls from one kept copy of the cluster to the next; after a copy they are done again.
const STRIDE: usize = 16;

/// What a command asked of a cluster, what it was answered, and copies of the cluster on the way.
#[derive(Debug, Default)]
pub struct Tape {
    conditions: Conditions,
    calls: Vec<Call>,
    /// The cluster before the call of this number.
    copies: Vec<(usize, Simulated)>,
    /// What had come into play after the call of this number.
    turns: Vec<(usize, Consulted)>,
}

#[derive(Debug)]
struct Call {
    asked: Asked,
    answer: Answer,
    now: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum Asked {
    Send(Box<Request>),
    Discover,
    Version,
    Wait(f64),
    WaitForChange(f64, f64),
    Expect(Vec<Arrival>),
}

#[derive(Clone, Debug)]
enum Answer {
    Response(Response),
    Resources(Arc<Vec<ApiResource>>),
    Version(String),
    Done,
}

impl Asked {
    fn of(&self, world: &mut Simulated) -> Result<Answer, Unreachable> {
        match self {
            Self::Send(request) => world.send(request).map(Answer::Response),
            Self::Discover => world.discover().map(Answer::Resources),
            Self::Version => world.version().map(Answer::Version),
            Self::Wait(seconds) => world.wait(*seconds).map(|()| Answer::Done),
            Self::WaitForChange(pause, most) => world.wait_for_change(*pause, *most).map(|()| Answer::Done),
            Self::Expect(arrivals) => world.expect(arrivals).map(|()| Answer::Done),
        }
    }
}

impl Tape {
    fn record(&mut self, world: &mut Simulated, asked: Asked) -> Result<Answer, Unreachable> {
        let at = self.calls.len();
        if at > 0 && at.is_multiple_of(STRIDE) {
            self.copies.push((at, world.clone()));
        }
        let met = world.consulted().count();
        let answer = asked.of(world)?;
        if world.consulted().count() != met {
            self.turns.push((at, world.consulted().clone()));
        }
        self.calls.push(Call { asked, answer: answer.clone(), now: world.now() });
        Ok(answer)
    }

    /// The first call that may end otherwise under other conditions.
    fn turn(&self, others: &Conditions) -> usize {
        if self.conditions.timing != others.timing {
            return 0;
        }
        let mut turns = self.turns.iter();
        let turn = turns.find(|(_, consulted)| consulted.tells_apart(&self.conditions, others));
        turn.map_or(self.calls.len(), |(at, _)| *at)
    }

    /// Brings a cluster that stands where the tape begins to where it was before a call, under its own conditions.
    fn wind(&self, world: &mut Simulated, to: usize) -> Result<(), Unreachable> {
        let copy = self.copies.iter().rev().find(|(at, _)| *at <= to);
        let from = copy.map_or(0, |(at, _)| *at);
        if let Some((_, copy)) = copy {
            let conditions = world.conditions.clone();
            *world = copy.clone();
            world.conditions = conditions;
        }
        let again = self.calls.get(from..to).unwrap_or_default();
        again.iter().try_for_each(|call| call.asked.of(world).map(|_| ()))
    }
}

/// What is done with a tape while a command runs.
#[derive(Debug)]
pub enum Reel<'t> {
    /// Nothing.
    None,
    /// It is made.
    Record(&'t mut Tape),
    /// It answers as long as it can.
    Play(&'t Tape),
}

/// A cluster with a tape before it.
struct Deck<'d, 't> {
    world: &'d mut Simulated,
    reel: Reel<'t>,
    /// The next call on the tape, and the first that it can't answer.
    next: usize,
    turn: usize,
}

impl<'d, 't> Deck<'d, 't> {
    fn new(world: &'d mut Simulated, reel: Reel<'t>) -> Self {
        let mut deck = Self { world, reel, next: 0, turn: 0 };
        match &mut deck.reel {
            Reel::None => {}
            Reel::Record(tape) => tape.conditions = deck.world.conditions.clone(),
            Reel::Play(tape) => deck.turn = tape.turn(&deck.world.conditions),
        }
        deck
    }

    fn call(&mut self, asked: Asked) -> Result<Answer, Unreachable> {
        match &mut self.reel {
            Reel::None => return asked.of(self.world),
            Reel::Record(tape) => return tape.record(self.world, asked),
            Reel::Play(tape) => {
                let known =
                    tape.calls.get(self.next).filter(|call| self.next < self.turn && call.asked == asked);
                if let Some(call) = known {
                    self.next += 1;
                    return Ok(call.answer.clone());
                }
            }
        }
        self.stop()?;
        asked.of(self.world)
    }

    /// From here on the cluster answers by itself.
    fn stop(&mut self) -> Result<(), Unreachable> {
        match std::mem::replace(&mut self.reel, Reel::None) {
            Reel::Play(tape) => tape.wind(self.world, self.next),
            _ => Ok(()),
        }
    }
}

/// An answer of another kind than the question; [`Asked::of`] gives none.
fn mismatch<T>() -> Result<T, Unreachable> {
    Err(Unreachable("an answer of another kind".to_owned()))
}

impl Cluster for Deck<'_, '_> {
    fn send(&mut self, request: &Request) -> Result<Response, Unreachable> {
        match self.call(Asked::Send(Box::new(request.clone())))? {
            Answer::Response(response) => Ok(response),
            _ => mismatch(),
        }
    }

    fn discover(&mut self) -> Result<Arc<Vec<ApiResource>>, Unreachable> {
        match self.call(Asked::Discover)? {
            Answer::Resources(resources) => Ok(resources),
            _ => mismatch(),
        }
    }

    fn version(&mut self) -> Result<String, Unreachable> {
        match self.call(Asked::Version)? {
            Answer::Version(version) => Ok(version),
            _ => mismatch(),
        }
    }

    fn now(&self) -> f64 {
        match &self.reel {
            Reel::Play(tape) if self.next > 0 => {
                tape.calls.get(self.next - 1).map_or(self.world.now(), |call| call.now)
            }
            _ => self.world.now(),
        }
    }

    fn wait(&mut self, seconds: f64) -> Result<(), Unreachable> {
        self.call(Asked::Wait(seconds)).map(|_| ())
    }

    fn wait_for_change(&mut self, pause: f64, most: f64) -> Result<(), Unreachable> {
        self.call(Asked::WaitForChange(pause, most)).map(|_| ())
    }

    fn expect(&mut self, arrivals: &[Arrival]) -> Result<(), Unreachable> {
        self.call(Asked::Expect(arrivals.to_vec())).map(|_| ())
    }
}

impl Course<Simulated> {
    /// [`Course::run`] with a tape: one of the same command, or of one that differs in flags, from the same state.
    ///
    /// # Errors
    /// Never: a simulation always answers.
    pub fn run_taped(
        &mut self,
        workshop: &Workshop<'_>,
        order: &Order<'_>,
        reel: Reel<'_>,
    ) -> Result<Step, Unreachable> {
        let namespace = order.subject.namespace.clone();
        self.step(order.actor, order.command.word(), &order.line, &namespace, |world| {
            let mut deck = Deck::new(world, reel);
            let finished =
                actors::run(&mut deck, workshop, order.dialect, order.subject, &order.command, &order.flags);
            deck.stop()?;
            Ok((finished.terminal, finished.exchanges))
        })
    }
}
