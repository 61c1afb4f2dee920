// What Go's text/template with sprig makes of templates, for tests to compare with: JSON lines in, JSON lines out, one for each.
//
//	oracle render  {"template": "base64", "data": {"t": "map", "v": {…}}, "missingKey": "error"} -> {"text": "base64"}, or {"parse": "…"} or {"execute": "…"}
//
// Data have types, as those that Kanister hands to its templates. keys and values of sprig come in the order of the keys here, since
// Go has none.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sort"
	"strconv"
	"text/template"
	"time"

	"github.com/Masterminds/sprig"
)

type SecretType string

type ObjectMeta struct {
	Name        string            `json:"name,omitempty"`
	Namespace   string            `json:"namespace,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Generation  int64             `json:"generation,omitempty"`
}

type Secret struct {
	ObjectMeta `json:"metadata,omitempty"`
	Immutable  *bool             `json:"immutable,omitempty"`
	Data       map[string][]byte `json:"data,omitempty"`
	StringData map[string]string `json:"stringData,omitempty"`
	Type       SecretType        `json:"type,omitempty"`
}

type KeyPair struct {
	ID     string
	Secret string
}

type Location struct {
	Type   SecretType `json:"type"`
	Bucket string     `json:"bucket"`
	Prefix string     `json:"prefix"`
}

type Credential struct {
	Type    SecretType
	KeyPair *KeyPair
	Secret  *Secret
}

type Profile struct {
	Location      Location
	Credential    Credential
	SkipSSLVerify bool
}

type typed struct {
	T string          `json:"t"`
	V json.RawMessage `json:"v"`
}

func as[A any](raw json.RawMessage) A {
	var value A
	if err := json.Unmarshal(raw, &value); err != nil {
		log.Fatal(err)
	}
	return value
}

func integer(raw json.RawMessage) int64 {
	value, err := strconv.ParseInt(as[string](raw), 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func text(raw json.RawMessage) string {
	value, err := base64.StdEncoding.DecodeString(as[string](raw))
	if err != nil {
		log.Fatal(err)
	}
	return string(value)
}

func decodeAll[A any](raw json.RawMessage, one func(typed) A) []A {
	if string(raw) == "null" {
		return nil
	}
	values := []A{}
	for _, value := range as[[]typed](raw) {
		values = append(values, one(value))
	}
	return values
}

func decodeMap[A any](raw json.RawMessage, one func(typed) A) map[string]A {
	if string(raw) == "null" {
		return nil
	}
	values := map[string]A{}
	for key, value := range as[map[string]typed](raw) {
		values[key] = one(value)
	}
	return values
}

func stringOf(value typed) string { return text(value.V) }

func bytesOf(value typed) []byte {
	if string(value.V) == "null" {
		return nil
	}
	return []byte(text(value.V))
}

func meta(fields map[string]typed) ObjectMeta {
	return ObjectMeta{
		Name:       stringOf(fields["Name"]),
		Namespace:  stringOf(fields["Namespace"]),
		Labels:     decodeMap(fields["Labels"].V, stringOf),
		Generation: integer(fields["Generation"].V),
	}
}

func secret(raw json.RawMessage) Secret {
	fields := as[map[string]typed](raw)
	return Secret{
		ObjectMeta: meta(fields),
		Data:       decodeMap(fields["Data"].V, bytesOf),
		Type:       SecretType(stringOf(fields["Type"])),
	}
}

func profile(raw json.RawMessage) *Profile {
	fields := as[map[string]typed](raw)
	made := Profile{
		Location:   Location{Type: "s3Compliant", Bucket: stringOf(fields["Bucket"]), Prefix: "p"},
		Credential: Credential{Type: "keyPair"},
	}
	if id, ok := fields["ID"]; ok {
		made.Credential.KeyPair = &KeyPair{ID: stringOf(id), Secret: stringOf(fields["Secret"])}
	}
	return &made
}

func decode(value typed) any {
	switch value.T {
	case "nil":
		return nil
	case "bool":
		return as[bool](value.V)
	case "int":
		return int(integer(value.V))
	case "int64":
		return integer(value.V)
	case "uint8":
		return uint8(integer(value.V))
	case "float":
		return as[float64](value.V)
	case "string":
		return stringOf(value)
	case "named":
		return SecretType(stringOf(value))
	case "bytes":
		return bytesOf(value)
	case "list":
		return decodeAll(value.V, decode)
	case "strings":
		return decodeAll(value.V, stringOf)
	case "map":
		return decodeMap(value.V, decode)
	case "stringMap":
		return decodeMap(value.V, stringOf)
	case "time":
		return time.Unix(integer(value.V), 0).UTC()
	case "secret":
		return secret(value.V)
	case "profile":
		return profile(value.V)
	}
	log.Fatalf("unknown type %s", value.T)
	return nil
}

// What Go would run out of memory with is an error here, as it is in ours.
const most = 100_000

func bounded(counts ...int) error {
	for _, count := range counts {
		if count > most || count < -most {
			return fmt.Errorf("too many: %d", count)
		}
	}
	return nil
}

func functions() template.FuncMap {
	all := sprig.TxtFuncMap()
	until := all["until"].(func(int) []int)
	all["until"] = func(count int) ([]int, error) {
		if err := bounded(count); err != nil {
			return nil, err
		}
		return until(count), nil
	}
	untilStep := all["untilStep"].(func(int, int, int) []int)
	all["untilStep"] = func(start, stop, step int) ([]int, error) {
		if err := bounded(start, stop); err != nil {
			return nil, err
		}
		return untilStep(start, stop, step), nil
	}
	for _, name := range []string{"repeat", "indent", "nindent"} {
		fill := all[name].(func(int, string) string)
		all[name] = func(count int, text string) (string, error) {
			if err := bounded(count * max(len(text), 1)); err != nil {
				return "", err
			}
			return fill(count, text), nil
		}
	}
	all["keys"] = func(maps ...map[string]any) []string {
		all := []string{}
		for _, one := range maps {
			keys := []string{}
			for key := range one {
				keys = append(keys, key)
			}
			sort.Strings(keys)
			all = append(all, keys...)
		}
		return all
	}
	all["values"] = func(one map[string]any) []any {
		keys := []string{}
		for key := range one {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		values := []any{}
		for _, key := range keys {
			values = append(values, one[key])
		}
		return values
	}
	return all
}

type question struct {
	Template   string `json:"template"`
	Data       typed  `json:"data"`
	MissingKey string `json:"missingKey"`
}

type answer struct {
	Text    string `json:"text"`
	Parse   string `json:"parse,omitempty"`
	Execute string `json:"execute,omitempty"`
}

var known = functions()

func render(asked question) (said answer) {
	defer func() {
		if panicked := recover(); panicked != nil {
			said = answer{Execute: fmt.Sprint(panicked)}
		}
	}()
	source, err := base64.StdEncoding.DecodeString(asked.Template)
	if err != nil {
		log.Fatal(err)
	}
	parsed, err := template.New("config").Option("missingkey=" + asked.MissingKey).Funcs(known).Parse(string(source))
	if err != nil {
		return answer{Parse: err.Error()}
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, decode(asked.Data)); err != nil {
		return answer{Execute: err.Error()}
	}
	return answer{Text: base64.StdEncoding.EncodeToString(out.Bytes())}
}

// A template may loop for ever: then it is left alone, and ends with the process.
func renderInTime(asked question) answer {
	rendered := make(chan answer, 1)
	go func() { rendered <- render(asked) }()
	select {
	case one := <-rendered:
		return one
	case <-time.After(10 * time.Second):
		return answer{Execute: "it takes too long"}
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	buffered := bufio.NewWriter(os.Stdout)
	defer func() { _ = buffered.Flush() }()
	out := json.NewEncoder(buffered)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(renderInTime(asked)); err != nil {
			log.Fatal(err)
		}
	}
}
