//! The whole program, as its users run it: binaries as processes, real git, real TLS.

mod build;
mod crash;
mod demo;
mod real;
mod roundtrip;
mod template;
