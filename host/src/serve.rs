//! A Toolwarden beside any host: [`Warden`](crate::embed::Warden) over HTTP, on a Unix socket or on the loopback interface.
//!
//! | request | does |
//! |---|---|
//! | `POST /v1/decide` | a verdict on a `decide` record |
//! | `POST /v1/invoke` | a verdict on a call that is to run now, and what to run |
//! | `POST /v1/settle` | `{"ticket":"...","answer":"..."}`: the host has asked the person itself |
//! | `GET /v1/questions?wait=S&after=N` | the questions that wait; holds until there is one with a number above `after` |
//! | `POST /v1/questions/TICKET` | `{"answer":"..."}`: somebody else has asked the person |
//! | `GET /v1/calls/TICKET?wait=S` | what became of a call that somebody else answers; given once |
//! | `GET /v1/tools`, `PUT /v1/tools` | the plan; other tool lists |
//! | `GET /v1/listed` | the definitions that the model is shown |
//! | `POST /v1/reload`, `POST /v1/rollback` | another policy, under the gate |
//! | `GET /v1/stats`, `GET /metrics`, `GET /health`, `GET /openapi.json` | what goes on, and what there is |
//!
//! `docs/openapi.json` describes all of it.
//!
//! A socket is its owner's alone, and whoever connects must be the same user. Over loopback every request but `/health` needs
//! the token; a request with an `Origin`, or for another host name, is refused, so that no web page can make one.

mod answers;
mod door;
mod limits;
mod metrics;
mod reply;
mod routes;
mod server;
mod token;

pub use door::{Door, DoorError};
pub use limits::ServeLimits;
pub use server::{ServeError, Server};
pub use token::{Token, TokenError};
