// Argo CD's own code, for tests to compare with: JSON lines in, JSON lines out, one for each.
//
//	argo-cd health   {"config", "object"} -> {"status", "message"}, or null where Argo CD has no health check
//	argo-cd actions  {"config", "object"} -> {"action": "is disabled"}
//	argo-cd act      {"config", "object", "action"} -> the object that Argo CD writes
//	argo-cd differs  {"config", "ignore", "target", "live"} -> whether Argo CD calls them out of sync
//	argo-cd sync     {"config", "kubeconfig", "namespace", "revision", "objects"} -> what a sync made of each object
//
// "config" is the data of the ConfigMap argocd-cm; "ignore" is spec.ignoreDifferences of an Application.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/cache"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/common"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/hook"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/tracing"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/argo/diff"
	"github.com/argoproj/argo-cd/v3/util/argo/normalizers"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/argo-cd/v3/util/settings"
	"github.com/go-logr/logr"
	"github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "argocd"

type overrides = map[string]v1alpha1.ResourceOverride

var known = map[string]overrides{}

// What Argo CD reads out of its ConfigMap. It takes a tenth of a second, so once for each.
func overridesIn(ctx context.Context, config map[string]string) (overrides, error) {
	key, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	if found, isKnown := known[string(key)]; isKnown {
		return found, nil
	}
	labels := map[string]string{"app.kubernetes.io/part-of": "argocd"}
	client := fake.NewClientset(
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "argocd-cm", Namespace: namespace, Labels: labels}, Data: config},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "argocd-secret", Namespace: namespace, Labels: labels}},
	)
	found, err := settings.NewSettingsManager(ctx, client, namespace).GetResourceOverrides()
	known[string(key)] = found
	return found, err
}

type question struct {
	Config     map[string]string                    `json:"config"`
	Object     *unstructured.Unstructured           `json:"object"`
	Action     string                               `json:"action"`
	Ignore     []v1alpha1.ResourceIgnoreDifferences `json:"ignore"`
	Target     *unstructured.Unstructured           `json:"target"`
	Live       *unstructured.Unstructured           `json:"live"`
	Kubeconfig string                               `json:"kubeconfig"`
	Namespace  string                               `json:"namespace"`
	Revision   string                               `json:"revision"`
	Objects    []*unstructured.Unstructured         `json:"objects"`
}

func healthOf(_ context.Context, found overrides, asked question) (any, error) {
	return health.GetResourceHealth(asked.Object, lua.ResourceHealthOverrides(found))
}

func actionsOf(_ context.Context, found overrides, asked question) (any, error) {
	machine := lua.VM{ResourceOverrides: found}
	scripts, err := machine.GetResourceActionDiscovery(asked.Object)
	if err != nil {
		return nil, err
	}
	actions, err := machine.ExecuteResourceActionDiscovery(asked.Object, scripts)
	if err != nil {
		return nil, err
	}
	answer := map[string]bool{}
	for _, action := range actions {
		answer[action.Name] = action.Disabled
	}
	return answer, nil
}

func act(_ context.Context, found overrides, asked question) (any, error) {
	machine := lua.VM{ResourceOverrides: found}
	action, err := machine.GetResourceAction(asked.Object, asked.Action)
	if err != nil {
		return nil, err
	}
	impacted, err := machine.ExecuteResourceAction(asked.Object, action.ActionLua, nil)
	if err != nil {
		return nil, err
	}
	if len(impacted) != 1 || impacted[0].K8SOperation != lua.PatchOperation {
		return nil, fmt.Errorf("%d objects are impacted, and not one that is patched", len(impacted))
	}
	return impacted[0].UnstructuredObj, nil
}

func differs(_ context.Context, found overrides, asked question) (any, error) {
	config, err := diff.NewDiffConfigBuilder().
		WithDiffSettings(asked.Ignore, found, false, normalizers.IgnoreNormalizerOpts{}).
		WithTracking("", "annotation").
		WithNoCache().
		Build()
	if err != nil {
		return nil, err
	}
	result, err := diff.StateDiff(asked.Live, asked.Target, config)
	if err != nil {
		return nil, err
	}
	return result.Modified, nil
}

type synced struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Status  string `json:"status"`
	Hook    string `json:"hook"`
	Phase   string `json:"phase"`
	Message string `json:"message"`
}

type everything struct{}

func (everything) IsExcludedResource(_, _, _ string) bool { return false }

func syncAll(ctx context.Context, found overrides, asked question) (any, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(asked.Kubeconfig))
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst, config.WarningHandler = 100, 200, rest.NoWarnings{}
	checks := lua.ResourceHealthOverrides(found)
	cluster := cache.NewClusterCache(config,
		cache.SetNamespaces([]string{asked.Namespace}),
		cache.SetSettings(cache.Settings{ResourceHealthOverride: checks, ResourcesFilter: everything{}}),
		cache.SetLogr(logr.Discard()),
		cache.SetPopulateResourceInfoHandler(func(*unstructured.Unstructured, bool) (any, bool) { return nil, true }),
	)
	if err := cluster.EnsureSynced(); err != nil {
		return nil, err
	}
	defer cluster.Invalidate()
	kubectl := &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}
	isHook := func(resource *cache.Resource) bool { return resource.Resource != nil && hook.IsHook(resource.Resource) }

	// As the application controller does it: look at the cluster, go on from the state of the last time.
	var phase common.OperationPhase
	var message string
	var results []common.ResourceSyncResult
	started := metav1.Now()
	for !phase.Completed() {
		live, err := cluster.GetManagedLiveObjs(asked.Objects, isHook)
		if err != nil {
			return nil, err
		}
		step, cleanup, err := sync.NewSyncContext(
			asked.Revision, sync.Reconcile(asked.Objects, live, asked.Namespace, cluster), config, config, kubectl, asked.Namespace,
			sync.WithInitialState(phase, message, results, started),
			sync.WithHealthOverride(checks),
			sync.WithLogr(logr.Discard()),
		)
		if err != nil {
			return nil, err
		}
		step.Sync()
		phase, message, results = step.GetState()
		cleanup()
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %s", phase, message)
		case <-time.After(500 * time.Millisecond):
		}
	}
	answer := []synced{}
	for _, result := range results {
		answer = append(answer, synced{
			result.ResourceKey.Name, result.ResourceKey.Kind,
			string(result.Status), string(result.HookType), string(result.HookPhase), result.Message,
		})
	}
	return answer, nil
}

type subject = func(context.Context, overrides, question) (any, error)

func answer(of subject, line []byte) any {
	ctx, done := context.WithTimeout(context.Background(), 100*time.Second)
	defer done()
	var asked question
	err := json.Unmarshal(line, &asked)
	if err == nil {
		var found overrides
		if found, err = overridesIn(ctx, asked.Config); err == nil {
			var answered any
			if answered, err = of(ctx, found, asked); err == nil {
				return map[string]any{"answer": answered}
			}
		}
	}
	return map[string]any{"error": err.Error()}
}

func answerAll(of subject, questions io.Reader, answers io.Writer) error {
	lines := bufio.NewScanner(questions)
	lines.Buffer(nil, 1<<24)
	encoder := json.NewEncoder(answers)
	for lines.Scan() {
		if err := encoder.Encode(answer(of, lines.Bytes())); err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	subjects := map[string]subject{
		"health": healthOf, "actions": actionsOf, "act": act, "differs": differs, "sync": syncAll,
	}
	if len(os.Args) != 2 || subjects[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: argo-cd health|actions|act|differs|sync")
		os.Exit(2)
	}
	logrus.SetOutput(io.Discard)
	if err := answerAll(subjects[os.Args[1]], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
