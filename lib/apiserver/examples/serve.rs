//! Serves the API on a free port of this machine and prints the path of an administrator's kubeconfig.
//!
//! `cargo run -p apiserver --example serve -- DIR [plain]`; `plain` runs no controllers.

use std::path::PathBuf;

use apiserver::{Options, Server};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("usage: serve DIR")?);
    std::fs::create_dir_all(&directory)?;
    let listen = Some(([127, 0, 0, 1], 0).into());
    let server = Server::start(Options {
        data: Some(directory.clone()),
        listen,
        controllers: std::env::args().nth(2).is_none(),
        ..Options::default()
    })
    .await?;
    let path = directory.join("kubeconfig");
    std::fs::write(&path, server.admin_kubeconfig())?;
    #[expect(clippy::print_stdout, reason = "an example's output")]
    {
        println!("{}", path.display());
    }
    std::future::pending::<()>().await;
    Ok(())
}
