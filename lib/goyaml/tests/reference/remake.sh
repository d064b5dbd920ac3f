#!/bin/sh
# Asks the Go libraries again for every input of the baseline. New inputs are added to the file as {"do", "input"}.
set -eu
cd "$(dirname "$0")"
go run . < ../baseline/cases.jsonl > ../baseline/cases.new
mv ../baseline/cases.new ../baseline/cases.jsonl
