//! What every long-running command needs: a runtime, logs, and one signal that says stop.

use std::future::Future;
use std::process::ExitCode;

use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::printer;

/// Environment variable with the log filter, for example `info` or `fleet_manager=debug`.
const LOG: &str = "FLEET_LOG";

/// TLS libraries ask for the process-wide provider; it has to be chosen before the first use.
pub(crate) fn use_one_crypto_provider() {
    // Fails only where one is installed already, which is what is wanted.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

/// Logs go to stderr. `default` is the filter where the user set none.
pub(crate) fn log_to_stderr(default: &str) {
    let filter = EnvFilter::try_from_env(LOG).unwrap_or_else(|_| EnvFilter::new(default));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    // A second call (tests) keeps the first subscriber.
    let _ = logs.try_init();
}

/// Runs `work` to its end. SIGINT and SIGTERM cancel its token; a second one ends the process at once.
pub(crate) fn run<F, Fut>(work: F) -> ExitCode
where
    F: FnOnce(CancellationToken) -> Fut,
    Fut: Future<Output = anyhow::Result<ExitCode>>,
{
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            printer::error(&anyhow::Error::new(error).context("start the runtime"));
            return ExitCode::FAILURE;
        }
    };
    let stop = CancellationToken::new();
    let code = runtime.block_on(async {
        let signals = tokio::spawn(cancel_on_signal(stop.clone()));
        let result = work(stop.clone()).await;
        signals.abort();
        result.unwrap_or_else(|error| {
            printer::error(&error);
            ExitCode::FAILURE
        })
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    code
}

async fn cancel_on_signal(stop: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    for _ in 0..2 {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        if stop.is_cancelled() {
            #[expect(clippy::exit, reason = "asked to stop twice: the user does not want to wait")]
            std::process::exit(130);
        }
        stop.cancel();
    }
}
