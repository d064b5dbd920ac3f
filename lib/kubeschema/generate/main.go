// Prints how the Go types of Kubernetes' API treat zero values in JSON, as the OpenAPI document does not say it:
// per type and field "p" for a pointer, "o" for omitempty, "z" for omitzero, "c" for list and map fields, "s" for
// struct fields. Run by codegen next to the module that builds kube-apiserver; input to `kubeschema::generate`.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

var seen = map[string]map[string]string{}

func name(t reflect.Type) string {
	domain, rest, _ := strings.Cut(t.PkgPath(), "/")
	parts := strings.Split(domain, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(rest, "/", ".") + "." + t.Name()
}

func visit(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		visit(t.Elem())
	case reflect.Struct:
		if !strings.HasPrefix(t.PkgPath(), "k8s.io/") || seen[name(t)] != nil {
			return
		}
		fields := map[string]string{}
		seen[name(t)] = fields
		collect(t, fields)
	}
}

func collect(t reflect.Type, fields map[string]string) {
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		tag, tagged := field.Tag.Lookup("json")
		key, options, _ := strings.Cut(tag, ",")
		if !field.IsExported() || key == "-" {
			continue
		}
		if key == "" && (field.Anonymous || strings.Contains(options, "inline")) {
			inner := field.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				collect(inner, fields)
			}
			continue
		}
		if !tagged {
			continue
		}
		facts := ""
		switch field.Type.Kind() {
		case reflect.Pointer:
			facts += "p"
		case reflect.Slice, reflect.Map:
			facts += "c"
		case reflect.Struct:
			facts += "s"
		}
		if strings.Contains(options, "omitempty") {
			facts += "o"
		}
		if strings.Contains(options, "omitzero") {
			facts += "z"
		}
		fields[key] = facts
		visit(field.Type)
	}
}

func main() {
	all := scheme.Scheme
	_ = apiextensions.AddToScheme(all)
	_ = apiregistration.AddToScheme(all)
	for _, t := range all.AllKnownTypes() {
		visit(t)
	}
	_ = json.NewEncoder(os.Stdout).Encode(seen)
}
