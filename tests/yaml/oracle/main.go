// What kubectl reads in a file, for tests to compare with: JSON lines in, JSON lines out, one for each.
//
//	oracle read    {"base64": "…"} -> {"documents": "[…]", "ignores": false}, or {"error": "…"}
//
// It does what the visitor of files of k8s.io/cli-runtime does with a file, before anything is looked up in a cluster. It also says
// whether that ignores a part of the file: what follows the end of a document, up to the next ---.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	goyaml "go.yaml.in/yaml/v2"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	"k8s.io/apimachinery/pkg/runtime"
	jsonutil "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

type question struct {
	Base64 string `json:"base64"`
}

type answer struct {
	// As JSON, whose integers may be larger than those of JavaScript.
	Documents string `json:"documents,omitempty"`
	Ignores   bool   `json:"ignores"`
	Error     string `json:"error,omitempty"`
}

func text(file []byte) io.Reader {
	return transform.NewReader(bytes.NewReader(file), unicode.BOMOverride(unicode.UTF8.NewDecoder()))
}

func ignores(file []byte) bool {
	chunks := yaml.NewYAMLReader(bufio.NewReader(text(file)))
	for {
		chunk, err := chunks.Read()
		if err != nil {
			return false
		}
		documents := goyaml.NewDecoder(bytes.NewReader(chunk))
		var ignored any
		if err := documents.Decode(&ignored); err == nil && !errors.Is(documents.Decode(&ignored), io.EOF) {
			return true
		}
	}
}

func read(file []byte) (string, error) {
	documents := []any{}
	decoder := yaml.NewYAMLOrJSONDecoder(text(file), 4096)
	for {
		ext := runtime.RawExtension{}
		if err := decoder.Decode(&ext); errors.Is(err, io.EOF) {
			all, err := json.Marshal(documents)
			return string(all), err
		} else if err != nil {
			return "", err
		}
		raw := bytes.TrimSpace(ext.Raw)
		if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
			continue
		}
		var document any
		if err := jsonutil.Unmarshal(raw, &document); err != nil {
			return "", err
		}
		documents = append(documents, document)
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		file, err := base64.StdEncoding.DecodeString(asked.Base64)
		if err != nil {
			log.Fatal(err)
		}
		said := answer{Ignores: ignores(file)}
		if said.Documents, err = read(file); err != nil {
			said.Error = err.Error()
		}
		if err := out.Encode(said); err != nil {
			log.Fatal(err)
		}
	}
}
