//! The threads of a token as they come and go.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crate::TokenState;
use crate::device::Device;
use crate::seat::{Role, Seat};
use crate::session::Session;
use crate::{keeper, worker};

impl Device {
    /// Starts the keeper, with the session that opening the token left it.
    pub(crate) fn seat_keeper(self: &Arc<Self>, session: Option<Session>) {
        self.seat(Role::Keeper, move |device, seat| {
            keeper::run(&device, &seat, session)
        });
    }

    /// Gives up threads that hang inside the library, and seats others.
    pub(crate) fn replace_hung(self: &Arc<Self>) {
        // While the token makes a key it may leave everybody else waiting.
        let (writing, last_write) = self.queue.writes();
        let busy_until = if writing {
            Some(Instant::now())
        } else {
            last_write
        };
        for hung in self.crew.write_off_hung(busy_until) {
            tracing::error!(
                token = self.label(),
                ?hung,
                "a thread hangs inside the module"
            );
            match hung.role {
                Role::Worker => {
                    if hung.write {
                        self.queue.end_write();
                    }
                    self.ask_canary();
                    self.fill_worker_seats();
                }
                Role::Keeper => {
                    self.trip("the canary did not come back");
                    self.seat_keeper(None);
                }
            }
        }
    }

    /// Starts the workers that are missing.
    pub(crate) fn fill_worker_seats(self: &Arc<Self>) {
        for _ in self.crew.workers()..self.affordable_workers() {
            self.seat(Role::Worker, |device, seat| worker::run(&device, &seat));
        }
    }

    fn seat(self: &Arc<Self>, role: Role, run: impl FnOnce(Arc<Self>, Arc<Seat>) + Send + 'static) {
        let seat = self.crew.join(role);
        let device = Arc::clone(self);
        let taken = Arc::clone(&seat);
        let name = match role {
            Role::Worker => "hsm-worker",
            Role::Keeper => "hsm-keeper",
        };
        let started = thread::Builder::new().name(name.to_owned()).spawn(move || {
            run(Arc::clone(&device), Arc::clone(&taken));
            device.leave(&taken);
        });
        if let Err(error) = started {
            tracing::error!(token = self.label(), %error, "cannot start a thread");
            self.leave(&seat);
        }
    }

    fn leave(&self, seat: &Arc<Seat>) {
        self.crew.leave(seat, || {
            if self.state() == TokenState::Closed {
                self.leave_module();
            }
        });
    }
}
