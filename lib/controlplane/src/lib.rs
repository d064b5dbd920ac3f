//! A real Kubernetes control plane on loopback, for tests: etcd, kube-apiserver and, where asked
//! for, kube-controller-manager, kube-scheduler and kwok (nodes and pods that become ready
//! without a kubelet).
//!
//! Turns a folder of programs and an empty directory into a running API server and an
//! administrator's kubeconfig; ends every process it started when it is dropped. It knows nothing
//! of what is deployed there, and never listens anywhere but on 127.0.0.1.

mod certificate;
mod https;
mod kwok;
mod port;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::json;

use crate::port::Held;

/// How long the API server may take to become ready. It takes 3 s on two idle cores; loaded
/// machines get a minute and a half.
const READY_WITHIN: Duration = Duration::from_secs(90);

/// The controllers that run where [`Options::controllers`] asks for them: those whose work is
/// visible to a client that deploys, not those that talk to clouds or nodes.
const CONTROLLERS: &str = "serviceaccount-controller,serviceaccount-token-controller,namespace-controller,\
garbage-collector-controller,deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,\
job-controller,root-ca-certificate-publisher-controller,clusterrole-aggregation-controller,resourcequota-controller";

/// Nobody asks the controller manager and the scheduler anything, so they take no port.
const SERVES_NOTHING: &str = "--secure-port=0";

/// Why a control plane could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program is missing; the user has to build them.
    #[error("{} is missing; `cargo xtask kube` builds it", path.display())]
    MissingProgram {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A file or process could not be made.
    #[error("{what}")]
    Io {
        /// What was being done to what.
        what: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A certificate could not be made.
    #[error("make certificates")]
    Certificate(#[from] rcgen::Error),
    /// The API server did not answer in time.
    #[error("kube-apiserver was not ready after {} s; the end of its log:\n{log}", READY_WITHIN.as_secs())]
    NotReady {
        /// The last lines of its log.
        log: String,
    },
    /// A program ended before the API server was ready.
    #[error("{program} ended with {status} while it should start; the end of its log:\n{log}")]
    Ended {
        /// Name of the program.
        program: &'static str,
        /// Its exit status.
        status: ExitStatus,
        /// The last lines of its log.
        log: String,
    },
}

fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
    let what = what.into();
    move |source| Error::Io { what, source }
}

/// What runs beside etcd and kube-apiserver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// kube-controller-manager.
    pub controllers: bool,
    /// kube-scheduler, kwok and one simulated node: workloads become ready.
    pub workloads: bool,
}

/// A running control plane.
#[derive(Debug)]
pub struct ControlPlane {
    directory: PathBuf,
    server: String,
    processes: Vec<Process>,
    /// Nobody else gets the ports while they are held here.
    _ports: [Held; 3],
}

#[derive(Debug)]
struct Process {
    name: &'static str,
    child: Child,
}

impl ControlPlane {
    /// Starts the programs of `programs` with their state in `directory` (made if missing, which
    /// should be empty) and waits until the API server is ready.
    ///
    /// # Errors
    /// A program is missing, cannot be started, or is not ready after 90 s.
    pub fn start(programs: &Path, directory: &Path, options: Options) -> Result<Self, Error> {
        // A test's data need not survive the machine.
        Self::launch(programs, directory, options, &["--unsafe-no-fsync"])
    }

    /// As [`Self::start`], with writes that are flushed to the disk before they are acknowledged: etcd as it is by
    /// default, for measurements.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_durable(programs: &Path, directory: &Path, options: Options) -> Result<Self, Error> {
        Self::launch(programs, directory, options, &[])
    }

    fn launch(programs: &Path, directory: &Path, options: Options, etcd_flags: &[&str]) -> Result<Self, Error> {
        let mut names = vec!["etcd", "kube-apiserver"];
        if options.controllers {
            names.push("kube-controller-manager");
        }
        if options.workloads {
            names.extend(["kube-scheduler", "kwok"]);
        }
        for name in names {
            let path = programs.join(name);
            if !path.exists() {
                return Err(Error::MissingProgram { path });
            }
        }
        std::fs::create_dir_all(directory).map_err(io(format!("create {}", directory.display())))?;
        certificate::write_all(directory)?;
        let held = || Held::take().map_err(io("find a free port"));
        let ports = [held()?, held()?, held()?];
        let [client_port, peer_port, api_port] = ports.each_ref().map(Held::number);
        let mut plane = Self {
            directory: directory.to_owned(),
            server: format!("https://127.0.0.1:{api_port}"),
            processes: Vec::new(),
            _ports: ports,
        };
        let path = |name: &str| directory.join(name).display().to_string();
        let etcd = format!("http://127.0.0.1:{client_port}");
        let peer = format!("http://127.0.0.1:{peer_port}");
        let mut arguments = vec![
            format!("--data-dir={}", path("etcd")),
            format!("--listen-client-urls={etcd}"),
            format!("--advertise-client-urls={etcd}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=default={peer}"),
            "--log-level=warn".to_owned(),
            "--socket-reuse-port=true".to_owned(),
        ];
        arguments.extend(etcd_flags.iter().copied().map(str::to_owned));
        plane.spawn(programs, "etcd", &arguments)?;
        plane.spawn(
            programs,
            "kube-apiserver",
            &[
                format!("--etcd-servers={etcd}"),
                "--bind-address=127.0.0.1".to_owned(),
                "--advertise-address=127.0.0.1".to_owned(),
                format!("--secure-port={api_port}"),
                "--permit-port-sharing=true".to_owned(),
                format!("--tls-cert-file={}", path("server.crt")),
                format!("--tls-private-key-file={}", path("server.key")),
                format!("--client-ca-file={}", path("ca.crt")),
                format!("--service-account-key-file={}", path("accounts.pub")),
                format!("--service-account-signing-key-file={}", path("accounts.key")),
                "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
                "--authorization-mode=RBAC".to_owned(),
                "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
                "--allow-privileged=true".to_owned(),
                // Pods would wait for token secrets that nothing here mounts.
                "--disable-admission-plugins=ServiceAccount".to_owned(),
                "--endpoint-reconciler-type=none".to_owned(),
            ],
        )?;
        plane.write_kubeconfig()?;
        plane.wait_until_ready()?;
        let kubeconfig = plane.kubeconfig().display().to_string();
        if options.controllers {
            plane.spawn(
                programs,
                "kube-controller-manager",
                &[
                    format!("--kubeconfig={kubeconfig}"),
                    format!("--root-ca-file={}", path("ca.crt")),
                    format!("--service-account-private-key-file={}", path("accounts.key")),
                    "--leader-elect=false".to_owned(),
                    SERVES_NOTHING.to_owned(),
                    format!("--controllers={CONTROLLERS}"),
                ],
            )?;
        }
        if options.workloads {
            plane.spawn(
                programs,
                "kube-scheduler",
                &[
                    format!("--kubeconfig={kubeconfig}"),
                    "--leader-elect=false".to_owned(),
                    SERVES_NOTHING.to_owned(),
                ],
            )?;
            kwok::write_config(directory)?;
            plane.spawn(
                programs,
                "kwok",
                &[
                    format!("--kubeconfig={kubeconfig}"),
                    format!("--config={}", path(kwok::CONFIG)),
                    "--manage-all-nodes=true".to_owned(),
                    "--server-address=127.0.0.1:0".to_owned(),
                ],
            )?;
            plane.client()?.create_node()?;
        }
        plane.write_pids()?;
        Ok(plane)
    }

    /// Path of the administrator's kubeconfig.
    #[must_use]
    pub fn kubeconfig(&self) -> PathBuf {
        self.directory.join("kubeconfig")
    }

    /// URL of the API server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Ids of its processes, etcd's and kube-apiserver's first.
    #[must_use]
    pub fn process_ids(&self) -> Vec<u32> {
        self.processes.iter().map(|process| process.child.id()).collect()
    }

    /// PEM of the CA that signed the API server's certificate.
    ///
    /// # Errors
    /// The file is gone.
    pub fn ca(&self) -> Result<String, Error> {
        std::fs::read_to_string(self.directory.join("ca.crt")).map_err(io("read the CA"))
    }

    /// The JSON document that the API server has at `path`, as the administrator sees it.
    ///
    /// # Errors
    /// The server does not answer with 200 and JSON.
    pub fn document(&self, path: &str) -> Result<serde_json::Value, Error> {
        self.client()?.document(path).map_err(io(format!("get {path}")))
    }

    /// Leaves the processes running when this value is dropped; [`stop`] ends them.
    pub fn detach(mut self) {
        self.processes.clear();
    }

    fn client(&self) -> Result<https::Client, Error> {
        https::Client::new(&self.server, &self.directory)
    }

    fn spawn(&mut self, programs: &Path, name: &'static str, arguments: &[String]) -> Result<(), Error> {
        let log = self.log(name);
        let file = std::fs::File::create(&log).map_err(io(format!("create {}", log.display())))?;
        let errors = file.try_clone().map_err(io("open the log twice"))?;
        let child = Command::new(programs.join(name))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(errors)
            .spawn()
            .map_err(io(format!("start {name}")))?;
        self.processes.push(Process { name, child });
        Ok(())
    }

    fn log(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.log"))
    }

    /// What explains a failure; the log itself may be gone with its directory when somebody reads of it.
    fn log_end(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.log(name)).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    fn write_kubeconfig(&self) -> Result<(), Error> {
        let inline = |name: &str| -> Result<String, Error> {
            let data = std::fs::read(self.directory.join(name)).map_err(io(format!("read {name}")))?;
            Ok(base64::engine::general_purpose::STANDARD.encode(data))
        };
        let text = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "default",
            "clusters": [{"name": "default", "cluster": {
                "server": self.server, "certificate-authority-data": inline("ca.crt")?}}],
            "users": [{"name": "admin", "user": {
                "client-certificate-data": inline("admin.crt")?, "client-key-data": inline("admin.key")?}}],
            "contexts": [{"name": "default", "context": {"cluster": "default", "user": "admin"}}],
        });
        std::fs::write(self.kubeconfig(), format!("{text:#}\n")).map_err(io("write the kubeconfig"))
    }

    fn write_pids(&self) -> Result<(), Error> {
        let pids: Vec<String> = self.process_ids().iter().map(u32::to_string).collect();
        std::fs::write(self.directory.join("pids"), pids.join("\n")).map_err(io("write the process ids"))
    }

    fn wait_until_ready(&mut self) -> Result<(), Error> {
        let client = self.client()?;
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            let answers = |path| client.get(path).is_ok_and(|status| status == 200);
            if answers("/readyz") && answers("/api/v1/namespaces/default") {
                return Ok(());
            }
            for process in &mut self.processes {
                let waited = process.child.try_wait();
                let name = process.name;
                if let Some(status) = waited.map_err(io(format!("wait for {name}")))? {
                    let log = self.log_end(name);
                    return Err(Error::Ended {
                        program: name,
                        status,
                        log,
                    });
                }
            }
            if Instant::now() > deadline {
                let log = self.log_end("kube-apiserver");
                return Err(Error::NotReady { log });
            }
            pause();
        }
    }
}

/// Between two looks at a foreign process, which offers nothing to wait on.
#[expect(
    clippy::disallowed_methods,
    reason = "a foreign process offers no signal to wait for"
)]
fn pause() {
    std::thread::sleep(Duration::from_millis(100));
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        // The API server first, so that it does not retry against a store that is gone.
        for process in self.processes.iter_mut().rev() {
            // It may have ended by itself; there is nobody to tell.
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
    }
}

/// Ends the processes that a detached control plane in `directory` left running.
///
/// # Errors
/// There is no control plane in `directory`.
pub fn stop(directory: &Path) -> Result<(), Error> {
    let file = directory.join("pids");
    let pids = std::fs::read_to_string(&file).map_err(io(format!("read {}", file.display())))?;
    let mut pids: Vec<&str> = pids.split_whitespace().collect();
    pids.reverse();
    // A process that is already gone makes `kill` fail; that is the state asked for.
    let _ = Command::new("kill").args(&pids).stderr(Stdio::null()).status();
    std::fs::remove_file(&file).map_err(io(format!("remove {}", file.display())))
}
