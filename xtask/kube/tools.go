//go:build tools

// Package kube pins the real control plane that tests run against.
// `cargo xtask kube` builds these programs; nothing here is shipped.
package kube

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
)
