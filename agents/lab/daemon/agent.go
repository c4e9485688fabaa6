package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"commander/agents/lab"
	"commander/agents/lab/controlplane"
	"commander/agents/lab/process"
)

// Names of the agent and of its objects in the cluster, as its chart has them.
const (
	agentProcess   = "commander-agent"
	agentNamespace = "d8-commander-agent"
	agentAccount   = "commander-agent"
	agentSecret    = "auth-token"
)

// tokenLimit is how long the controller manager may take to issue the token of the account.
const tokenLimit = time.Minute

func (d *Daemon) ensureAgent(ctx context.Context, id string, want lab.Agent, say func(string)) error {
	if want.CommanderURL == "" || want.Token == "" {
		return problem(lab.Invalid, "an agent needs commanderURL and token")
	}
	c, err := d.running(ctx, id)
	if err != nil {
		return err
	}
	defer c.giveBack()
	if err := d.startAgent(ctx, c, want, say); err != nil {
		return err
	}
	return c.change(func(r *record) { r.Agent = &want })
}

// startAgent gives the agent its account in the cluster and runs it beside the cluster, as a
// Deployment would inside. One that runs with the same arguments and files is left alone.
func (d *Daemon) startAgent(ctx context.Context, c *cluster, want lab.Agent, say func(string)) error {
	if d.Agent == "" {
		return problem(lab.Conflict, "this lab daemon was started without --agent-binary, so it cannot run an agent")
	}
	if _, err := os.Stat(d.Agent); err != nil {
		return fmt.Errorf("find program of the agent: %w", err)
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	token, err := agentIdentity(ctx, client)
	if err != nil {
		return err
	}
	say("account of the agent is ready")
	if err := c.plane.Keeper.Ensure(ctx, agentProcess, c.agentPlan(d.Agent, want, token)); err != nil {
		return err
	}
	say("agent is started")
	return nil
}

// agentPlan writes the files of the agent whenever it starts: the kubeconfig follows the port.
func (c *cluster) agentPlan(program string, want lab.Agent, token string) process.Plan {
	return agentFiles(program, filepath.Join(c.dir, "agent"), want, func() ([]byte, error) { return c.plane.TokenKubeconfig(agentAccount, token) })
}

// agentFiles is the plan of an agent whose files are in a directory of its own.
func agentFiles(program, dir string, want lab.Agent, reach func() ([]byte, error)) process.Plan {
	file := func(name string) string { return filepath.Join(dir, name) }
	return func(bool) (process.Spec, error) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return process.Spec{}, fmt.Errorf("create directory of the agent: %w", err)
		}
		kubeconfig, err := reach()
		if err != nil {
			return process.Spec{}, err
		}
		s := process.Spec{
			Path: program,
			Args: []string{"--commander-url=" + want.CommanderURL, "--token-file=" + file("token"), "--kubeconfig=" + file("kubeconfig")},
			Env:  []string{"GOGC=50"},
		}
		files := map[string]string{"token": want.Token, "kubeconfig": string(kubeconfig)}
		if want.CABundle != "" {
			files["ca.pem"] = want.CABundle
			s.Args = append(s.Args, "--ca-file="+file("ca.pem"))
		}
		for _, name := range []string{"token", "kubeconfig", "ca.pem"} {
			content, ok := files[name]
			if !ok {
				continue
			}
			if err := controlplane.WriteFile(file(name), []byte(content)); err != nil {
				return process.Spec{}, err
			}
			s.Inputs = append(s.Inputs, file(name))
		}
		return s, nil
	}
}

func (d *Daemon) stopAgent(ctx context.Context, id string) error {
	c := d.find(id)
	if c == nil {
		return problem(lab.NotFound, "there is no cluster %s", id)
	}
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.giveBack()
	if err := c.plane.Keeper.Stop(ctx, agentProcess); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(c.dir, "agent")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove files of the agent: %w", err)
	}
	return c.change(func(r *record) { r.Agent = nil })
}

// agentIdentity makes the namespace, account, rights and token of the agent, as far as they are
// missing, and returns the token.
func agentIdentity(ctx context.Context, client kubernetes.Interface) (string, error) {
	meta := metav1.ObjectMeta{Name: agentAccount, Namespace: agentNamespace}
	create := metav1.CreateOptions{}
	_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: agentNamespace}}, create)
	if err == nil || apierrors.IsAlreadyExists(err) {
		_, err = client.CoreV1().ServiceAccounts(agentNamespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, create)
	}
	if err == nil || apierrors.IsAlreadyExists(err) {
		_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "d8:" + agentAccount},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: agentNamespace, Name: agentAccount}},
		}, create)
	}
	if err == nil || apierrors.IsAlreadyExists(err) {
		_, err = client.CoreV1().Secrets(agentNamespace).Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name: agentSecret, Namespace: agentNamespace,
				Annotations: map[string]string{corev1.ServiceAccountNameKey: agentAccount},
			},
			Type: corev1.SecretTypeServiceAccountToken,
		}, create)
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("make account of the agent: %w", err)
	}
	return waitToken(ctx, client)
}

func waitToken(ctx context.Context, client kubernetes.Interface) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, tokenLimit)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		secret, err := client.CoreV1().Secrets(agentNamespace).Get(ctx, agentSecret, metav1.GetOptions{})
		if err == nil && len(secret.Data[corev1.ServiceAccountTokenKey]) > 0 {
			return string(secret.Data[corev1.ServiceAccountTokenKey]), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("wait for the token of the agent's account: %w", errors.Join(ctx.Err(), err))
		case <-ticker.C:
		}
	}
}
