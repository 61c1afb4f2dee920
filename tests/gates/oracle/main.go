// What Go says, for tests to compare with: JSON lines in, JSON lines out, one for each.
//
//	oracle kstatus    an object -> the status that kstatus computes
//	oracle jsonpath   {"path": "{.a}", "object": {}} -> what kubectl's JSONPath finds in it
//
// kstatus comes from the copy of sigs.k8s.io/cli-utils that Flux maintains and Helm waits with. Its rules are those of the original
// but for suspended Jobs, which the original calls Current; Janus waits for Jobs until they are complete in any case.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
)

type kstatusAnswer struct {
	Status string `json:"status"`
	Said   string `json:"said"`
}

func kstatus(line []byte) any {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(line); err != nil {
		return kstatusAnswer{"Error", err.Error()}
	}
	result, err := status.Compute(object)
	if err != nil {
		return kstatusAnswer{"Error", err.Error()}
	}
	return kstatusAnswer{string(result.Status), result.Message}
}

type jsonpathQuestion struct {
	Path   string          `json:"path"`
	Object json.RawMessage `json:"object"`
}

type jsonpathAnswer struct {
	Error  string   `json:"error,omitempty"`
	Values []string `json:"values"`
}

// The values are printed as `kubectl wait` prints them to compare them.
func findAll(line []byte) ([]string, error) {
	var question jsonpathQuestion
	object := &unstructured.Unstructured{}
	path := jsonpath.New("oracle").AllowMissingKeys(true)
	if err := errors.Join(json.Unmarshal(line, &question), object.UnmarshalJSON(question.Object)); err != nil {
		return nil, err
	}
	if err := path.Parse(question.Path); err != nil {
		return nil, err
	}
	lists, err := path.FindResults(object.UnstructuredContent())
	if err != nil {
		return nil, err
	}
	values := []string{}
	for _, list := range lists {
		for _, value := range list {
			values = append(values, fmt.Sprintf("%v", value.Interface()))
		}
	}
	return values, nil
}

func kubectlJSONPath(line []byte) any {
	values, err := findAll(line)
	if err != nil {
		return jsonpathAnswer{Error: err.Error()}
	}
	return jsonpathAnswer{Values: values}
}

func answerAll(answer func([]byte) any, questions io.Reader, answers io.Writer) error {
	lines := bufio.NewScanner(questions)
	lines.Buffer(nil, 1<<24)
	encoder := json.NewEncoder(answers)
	for lines.Scan() {
		if err := encoder.Encode(answer(lines.Bytes())); err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	subjects := map[string]func([]byte) any{"kstatus": kstatus, "jsonpath": kubectlJSONPath}
	if len(os.Args) != 2 || subjects[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: oracle kstatus|jsonpath")
		os.Exit(2)
	}
	if err := answerAll(subjects[os.Args[1]], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
