// Answers lines of {"do": ..., "input": ...} with what Go's own libraries make of the input.
//
//	parse     YAML text -> JSON by sigs.k8s.io/yaml
//	parse_v3  YAML text -> JSON by go-yaml v3
//	strict    YAML text -> JSON by sigs.k8s.io/yaml, repeated keys refused
//	emit      JSON text -> YAML by sigs.k8s.io/yaml (what Helm's toYaml prints)
//	emit_v3   JSON text -> YAML by go-yaml v3 with an indentation of two (toYamlPretty)
//	json      JSON text -> JSON by encoding/json
//	format_g  float -> fmt's %v
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

type line struct {
	Do     string  `json:"do"`
	Input  string  `json:"input"`
	Output *string `json:"output,omitempty"`
	Error  string  `json:"error,omitempty"`
}

func answer(do, input string) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	var value any
	switch do {
	case "parse":
		if err := yaml.Unmarshal([]byte(input), &value); err != nil {
			return nil, err
		}
		return json.Marshal(value)
	case "strict":
		return yaml.YAMLToJSONStrict([]byte(input))
	case "parse_v3":
		if err := yaml3.Unmarshal([]byte(input), &value); err != nil {
			return nil, err
		}
		return json.Marshal(value)
	case "format_g":
		f, err := strconv.ParseFloat(input, 64)
		return []byte(fmt.Sprintf("%v", f)), err
	}
	if err := json.Unmarshal([]byte(input), &value); err != nil {
		return nil, err
	}
	switch do {
	case "emit":
		return yaml.Marshal(value)
	case "emit_v3":
		var buffer bytes.Buffer
		encoder := yaml3.NewEncoder(&buffer)
		encoder.SetIndent(2)
		err = encoder.Encode(value)
		return buffer.Bytes(), err
	case "json":
		return json.Marshal(value)
	}
	return nil, fmt.Errorf("unknown: %s", do)
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<26)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			panic(err)
		}
		text, err := answer(l.Do, l.Input)
		if err != nil {
			l.Error = err.Error()
		} else {
			s := string(text)
			l.Output = &s
		}
		b, _ := json.Marshal(l)
		out.Write(b)
		out.WriteByte('\n')
	}
}
