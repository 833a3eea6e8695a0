//! Messages that other threads posted become messages of their sessions, each in a turn of its own.

use std::sync::Arc;

use fixbolt_codec::{BodySink, NewBody};
use fixbolt_session::{Application, Event, SendError};

use super::Worker;
use crate::lane::{Lane, Post};

/// Posts taken from one lane in a turn of the loop.
const LANE_BATCH: usize = 64;

/// A lane that has posts, or had them a moment ago.
pub(super) struct ActiveLane {
    lane: Arc<Lane>,
    /// A post that found the outbox full.
    stalled: Option<Post>,
}

/// How far a lane got.
enum Served {
    Empty,
    Stalled,
    More,
}

impl Worker {
    /// Sends some of what was posted; `all` of what was posted before this call.
    pub(super) fn serve_lanes(&mut self, all: bool, app: &mut dyn Application) {
        while let Some(lane) = self.doorbell.next_lane() {
            self.lanes.push(ActiveLane { lane, stalled: None });
        }
        let mut n = 0;
        while n < self.lanes.len() {
            let most = if all { self.lanes[n].lane.capacity() + 1 } else { LANE_BATCH };
            match self.serve_lane(n, most, app) {
                Served::Empty => {
                    self.lanes.swap_remove(n);
                }
                Served::Stalled => n += 1,
                Served::More => {
                    self.hurry = true;
                    n += 1;
                }
            }
        }
    }

    fn serve_lane(&mut self, n: usize, most: usize, app: &mut dyn Application) -> Served {
        for _ in 0..most {
            let ActiveLane { lane, stalled } = &mut self.lanes[n];
            let Some(post) = stalled.take().or_else(|| lane.next()) else {
                if lane.leave() {
                    return Served::Empty;
                }
                continue;
            };
            let key = lane.session;
            let sent = self.sessions.act(self.now, key, app, |turn| {
                let handle = turn.to(key).ok_or(SendError::Unavailable)?;
                let mut draft = handle.draft(post.body().msg_type);
                draft.writer().body(&post.body());
                draft.send()
            });
            let ticket = post.ticket;
            match sent {
                Ok(seq) => self.sessions.tell(key, &Event::Sent { ticket, seq }, app),
                Err(SendError::BackPressure) => {
                    *stalled = Some(post);
                    return Served::Stalled;
                }
                Err(why) => self.sessions.tell(key, &Event::NotSent { ticket, why: &why }, app),
            }
            lane.done(post);
        }
        Served::More
    }

    /// The engine ends: what was posted and not sent is told.
    pub(super) fn refuse_posts(&mut self, app: &mut dyn Application) {
        while let Some(lane) = self.doorbell.next_lane() {
            self.lanes.push(ActiveLane { lane, stalled: None });
        }
        for ActiveLane { lane, stalled } in self.lanes.drain(..) {
            let mut next = stalled;
            while let Some(post) = next.take().or_else(|| lane.next()) {
                let why = SendError::Unavailable;
                let told = Event::NotSent { ticket: post.ticket, why: &why };
                self.sessions.tell(lane.session, &told, app);
                lane.done(post);
            }
        }
    }
}
