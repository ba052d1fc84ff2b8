//! Always on: a hub that schedules tests and keeps their results, and agents that run them.
//!
//! * [`api`]: what hub and agents say to each other and to people: types, routes, the OpenAPI document
//! * [`trust`]: keys, certificates, tokens, tickets, TLS
//! * [`openid`]: people sign in by a provider of OpenID Connect
//! * [`store`]: what a hub keeps, in SQLite or in a PostgreSQL that several hubs share
//! * [`server`]: the hub itself: connections within limits, and an answer to each request
//! * [`schedule`]: the plan, and which agent runs what of it
//! * [`watching`]: what was measured, what of it is worse, and why
//! * [`segments`]: raw samples as Parquet, for Spark, ClickHouse, DuckDB and Trino
//! * [`demonstration`]: what a hub without a plan can show
//! * [`pages`]: what the pages of `web` show of it
//! * [`history`]: rounds of the past, as if agents had delivered them
//! * [`reports`]: incidents as post-mortems
//! * [`agent`]: the other side: joins, asks for work, runs tests within its own limits, spools and delivers
//!
//! Agents connect out, so that they work behind NAT. What is accepted is on disk before it is acknowledged, and what is
//! delivered twice is stored once.

pub mod agent;
pub mod api;
pub mod demonstration;
pub mod history;
pub mod openid;
pub mod pages;
pub mod reports;
pub mod schedule;
pub mod segments;
pub mod server;
pub mod store;
pub mod trust;
pub mod watching;
