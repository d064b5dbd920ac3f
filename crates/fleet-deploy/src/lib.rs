//! fleet-deploy
