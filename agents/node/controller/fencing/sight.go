package fencing

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	agent "commander/agents/node/fencing"
	"commander/internal/clock"
)

// Sight is what the controller remembers of Leases. It is used by one goroutine at a time.
type Sight struct {
	clock            clock.Clock
	kubelets, agents *agent.Leases
	seeing           map[string]time.Time // since when agents have been able to tell, as far as was seen
}

// NewSight has seen nothing yet.
func NewSight(c clock.Clock) *Sight {
	return &Sight{c, agent.NewLeases(c), agent.NewLeases(c), map[string]time.Time{}}
}

// Observe takes what a good look found: when, by node, kubelets and agents say to have renewed. An
// agent that cannot tell has the zero time, one that never was has none.
func (s *Sight) Observe(kubelets, agents map[string]time.Time) {
	s.kubelets.Observe(kubelets)
	s.agents.Observe(agents)
	now := s.clock.Now()
	for name := range s.seeing {
		if _, there := agents[name]; !there {
			delete(s.seeing, name)
		}
	}
	for name, at := range agents {
		if at.IsZero() || s.agents.Stale(name) {
			delete(s.seeing, name)
		} else if s.seeing[name].IsZero() {
			s.seeing[name] = now
		}
	}
}

// Failed takes note of a look that did not succeed.
func (s *Sight) Failed() {
	s.kubelets.Failed()
	s.agents.Failed()
}

// blind says whether an agent is there that has not been able for long enough to tell who is lost,
// so that who was told would be reset by now.
func (s *Sight) blind(node string, timeout time.Duration) bool {
	if _, there := s.agents.Renewed(node); !there {
		return false
	}
	since, sees := s.seeing[node]
	healthy, is := s.agents.Healthy()
	if healthy.After(since) {
		since = healthy // what was before a gap is not known
	}
	return !sees || !is || s.agents.Stale(node) || s.clock.Now().Sub(since) < agent.ResetWithin(timeout)
}

// View is what is known of a node among the members of its group.
func (s *Sight) View(node *corev1.Node, group *v1.NodeGroup, members []corev1.Node) View {
	v := View{Node: node, Timeout: TimeoutOf(node, group), Others: s.kubelets.OthersFresh(node.Name), Total: len(members), Blind: 1}
	if node.Labels[api.LabelFencingMode] == string(v1.FencingNotify) {
		v.Blind = 0 // nothing is fed
	}
	v.Age, v.Known = s.kubelets.Age(node.Name)
	v.LostFor = s.kubelets.LostFor(node.Name)
	for _, member := range members {
		if s.kubelets.Stale(member.Name) {
			v.Stale++
		}
		if member.Name != node.Name && v.Blind > 0 && s.blind(member.Name, v.Timeout) {
			v.Blind++
		}
	}
	return v
}
