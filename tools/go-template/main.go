// Command go-template renders Go text/templates for the control plane (decision E1): JSON lines in, JSON lines out.
// It is built to WASM (wasip1), so that real Go templates run inside Node without Go on the machine.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// request is one template with its variables.
type request struct {
	Name string         `json:"name"`
	Text string         `json:"text"`
	Vars map[string]any `json:"vars"`
}

// response holds the rendered text, or the error as text/template words it: name, line and column included.
type response struct {
	Content string `json:"content"`
	Error   string `json:"error,omitempty"`
}

// unhermetic are sprig's functions whose result depends on clock, chance or machine, beyond those that
// HermeticTxtFuncMap leaves out already. The same template and variables must give the same bytes everywhere.
var unhermetic = []string{
	"ago", "toDate", "mustToDate", "unixEpoch", "duration", "durationRound", "mustDateModify", "must_date_modify",
	"shuffle", "randInt", "bcrypt", "htpasswd", "encryptAES", "decryptAES",
	"genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert",
	"genSignedCertWithKey", "buildCustomCert",
}

// funcs are what a template may call: Go's own are there without being named.
var funcs = functions()

func functions() template.FuncMap {
	funcs := sprig.HermeticTxtFuncMap()
	for _, name := range unhermetic {
		delete(funcs, name)
	}
	funcs["StringsJoin"] = stringsJoin
	// sprig gives these in the random order of Go's maps
	funcs["keys"] = sortedKeys
	funcs["values"] = sortedValues
	return funcs
}

func sortedKeys(dicts ...map[string]any) []string {
	keys := []string{}
	for _, dict := range dicts {
		keys = append(keys, slices.Sorted(maps.Keys(dict))...)
	}
	return keys
}

func sortedValues(dict map[string]any) []any {
	values := []any{}
	for _, key := range sortedKeys(dict) {
		values = append(values, dict[key])
	}
	return values
}

// stringsJoin is strings.Join for lists that came as JSON: real chains' templates call it.
func stringsJoin(list any, separator string) (string, error) {
	switch items := list.(type) {
	case []string:
		return strings.Join(items, separator), nil
	case []any:
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = fmt.Sprint(item)
		}
		return strings.Join(texts, separator), nil
	default:
		return "", fmt.Errorf("StringsJoin needs a list, got %T", list)
	}
}

func render(r request) response {
	parsed, err := template.New(r.Name).Funcs(funcs).Option("missingkey=error").Parse(r.Text)
	if err != nil {
		return response{Error: err.Error()}
	}
	var out strings.Builder
	if err := parsed.Execute(&out, r.Vars); err != nil {
		return response{Error: err.Error()}
	}
	return response{Content: out.String()}
}

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	in.UseNumber()
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	for in.More() {
		var r request
		if err := in.Decode(&r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := encoder.Encode(render(r)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
