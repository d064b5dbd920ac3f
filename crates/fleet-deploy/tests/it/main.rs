//! What the pieces do together on an API server: the embedded one, and kube-apiserver with etcd where
//! `KUBE_BIN_DIR` names a folder with the programs (`cargo xtask test` does).

mod drift;
mod site;
