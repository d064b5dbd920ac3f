#!/usr/bin/env python3
"""Writes certificates.json: templates that make certificates, with the certificates that `helm template` made of them.

    HELM_BIN=…/helm make-certificates.py

Helm 4.2.3. Keys and times are others each time; what a certificate consists of is not.
"""
import json, os, subprocess, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPLATES = [
    '{{ (genCA "an authority" 10).Cert }}',
    '{{ (genCA "" 10).Cert }}',
    '{{ (genSelfSignedCert "a.example" nil nil 10).Cert }}',
    '{{ (genSelfSignedCert "" nil (list "a.example") 10).Cert }}',
    '{{ (genSelfSignedCert "x" (list "10.0.0.1" "::1" "::ffff:10.0.0.2") (list "a.example" "*.b") 10).Cert }}',
    '{{ (genSignedCert "a.example" nil (list "a.example") 10 (genCA "an authority" 10)).Cert }}',
    '{{ (genSignedCert "same" nil nil 10 (genCA "same" 10)).Cert }}',
    '{{ (genSignedCert "" (list "10.0.0.1") nil 10 (genCA "" 10)).Cert }}',
    '{{ (genSignedCert "leaf" nil nil 10 (genSelfSignedCert "x" nil nil 10)).Cert }}',
    '{{ (genCAWithKey "an authority" 10 (genPrivateKey "ecdsa")).Cert }}',
    '{{ (genSelfSignedCertWithKey "x" nil (list "a") 10 (genPrivateKey "ed25519")).Cert }}',
]

out = []
with tempfile.TemporaryDirectory() as chart:
    os.makedirs(os.path.join(chart, "templates"))
    open(os.path.join(chart, "Chart.yaml"), "w").write("apiVersion: v2\nname: c\nversion: 1.0.0\n")
    for template in TEMPLATES:
        open(os.path.join(chart, "templates/t.yaml"), "w").write("c: |\n  {{- " + template[3:-3] + " | nindent 2 }}\n")
        done = subprocess.run([os.environ["HELM_BIN"], "template", chart], capture_output=True, text=True, check=True)
        lines = [line.strip() for line in done.stdout.splitlines()]
        pem = lines[lines.index("-----BEGIN CERTIFICATE-----"):]
        out.append({"template": template, "certificate": "\n".join(line for line in pem if line) + "\n"})
with open(os.path.join(HERE, "certificates.json"), "w") as file:
    json.dump(out, file, indent=1)
    file.write("\n")
