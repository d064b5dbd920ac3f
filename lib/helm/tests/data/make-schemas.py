#!/usr/bin/env python3
"""Remakes schemas.json: what Helm says of values that a schema refuses (null: it accepts them).

    python make-schemas.py          (needs the Python package helm-python-sdk==0.2.2: the Helm SDK in process)
"""
import json, os, shutil, tempfile
import helm_python as helm

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = [
 ({"type":"object","properties":{"port":{"type":"integer"}},"required":["port"]},{"port":"eighty"}),
 ({"required":["a"]},{}), ({"required":["a","b"]},{}),
 ({"properties":{"a":{"enum":["x","y",1]}}},{"a":"z"}),({"properties":{"a":{"const":"x"}}},{"a":"z"}),({"properties":{"a":{"const":{"k":1}}}},{"a":"z"}),
 ({"properties":{"a":{"pattern":"^x"}}},{"a":"z"}),
 ({"properties":{"a":{"minimum":3}}},{"a":1}),({"properties":{"a":{"maximum":3}}},{"a":10}),({"properties":{"a":{"exclusiveMinimum":3}}},{"a":3}),({"properties":{"a":{"exclusiveMaximum":3}}},{"a":3}),({"properties":{"a":{"multipleOf":3}}},{"a":4}),
 ({"properties":{"a":{"minLength":3}}},{"a":"x"}),({"properties":{"a":{"maxLength":3}}},{"a":"xxxx"}),({"properties":{"a":{"minItems":2}}},{"a":[1]}),({"properties":{"a":{"maxItems":1}}},{"a":[1,2]}),({"properties":{"a":{"uniqueItems":True}}},{"a":[1,1]}),({"properties":{"a":{"minProperties":1}}},{"a":{}}),({"properties":{"a":{"maxProperties":0}}},{"a":{"b":1}}),
 ({"additionalProperties":False,"properties":{"a":{}}},{"b":1,"c":2}),({"additionalProperties":False},{"b":1}),
 ({"properties":{"a":{"type":["string","null"]}}},{"a":1}),({"properties":{"a":{"type":["string","integer","null"]}}},{"a":1.5}),
 ({"properties":{"a":{"anyOf":[{"type":"string"},{"minimum":5}]}}},{"a":1}),({"properties":{"a":{"oneOf":[{"type":"string"},{"type":"array"}]}}},{"a":1}),({"properties":{"a":{"oneOf":[{"type":"number"},{"minimum":0}]}}},{"a":1}),({"properties":{"a":{"not":{"type":"number"}}}},{"a":1}),({"properties":{"a":{"allOf":[{"type":"string"},{"minimum":5}]}}},{"a":1}),
 ({"properties":{"a":{"type":"array","items":{"type":"string"}}}},{"a":["x",1,2]}),({"properties":{"a":{"properties":{"b":{"type":"string"}},"required":["c"]}}},{"a":{"b":1}}),
 ({"properties":{"a":{"format":"email"}}},{"a":"x"}),({"properties":{"a":False}},{"a":"x"}),({"definitions":{"p":{"type":"integer"}},"properties":{"a":{"$ref":"#/definitions/p"}}},{"a":"x"}),
 ({"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"if":{"type":"string"},"then":{"minLength":3}}}},{"a":"x"}),
 ({"propertyNames":{"pattern":"^x"}},{"a":1}),({"properties":{"a":{"contains":{"type":"string"}}}},{"a":[1]}),({"dependentRequired":{"a":["b"]}},{"a":1}),({"dependencies":{"a":["b"]},"$schema":"http://json-schema.org/draft-07/schema#"},{"a":1}),({"unevaluatedProperties":False},{"a":1}),({"patternProperties":{"^s":{"type":"string"}}},{"sx":1}),
 ({"type":"objekt"},{}),({"properties":{"a":{"$ref":"#/nope"}}},{"a":1}),({"properties":{"a":{"pattern":"("}}},{"a":"x"}),("{",{}),({"properties":{"a/b~c'd":{"type":"string"}}},{"a/b~c'd":1}),({"properties":{"port":{"type":"integer"}}},{"port":80.0}),({"properties":{"port":{"type":"integer"},"s":{"type":"string"}}},{"port":"x","s":1}),({"properties":{"a":{"enum":[1,2]}}},{"a":3}),({"properties":{"a":{"enum":["only"]}}},{"a":3}),({"properties":{"a":{"type":"integer","maximum":10}}},{"a":12345678.5}),
]

def main():
    out = []
    root = tempfile.mkdtemp()
    for schema, values in CASES:
        folder = os.path.join(root, "demo")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder + "/templates")
        text = schema if isinstance(schema, str) else json.dumps(schema)
        open(folder + "/Chart.yaml", "w").write("apiVersion: v2\nname: demo\nversion: 1.0.0\n")
        open(folder + "/values.schema.json", "w").write(text)
        open(folder + "/templates/x.yaml", "w").write("a: b\n")
        try:
            with helm.Chart.load(folder) as chart:
                chart.validate_schema(values)
                error = None
        except helm.HelmError as problem:
            error = str(problem)
        out.append({"schema": text, "values": values, "error": error})
    shutil.rmtree(root)
    with open(os.path.join(HERE, "schemas.json"), "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in out) + "\n]\n")

main()
