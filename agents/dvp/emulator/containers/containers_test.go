package containers

import (
	"net/netip"
	"testing"
)

func TestLastAddress(t *testing.T) {
	t.Parallel()
	for network, want := range map[string]string{"10.66.0.0/16": "10.66.255.254", "10.66.7.32/28": "10.66.7.46", "10.66.7.0/24": "10.66.7.254", "10.66.7.9/30": "", "fd00::/64": ""} {
		got, err := lastOf(netip.MustParsePrefix(network))
		if want == "" && err == nil || want != "" && (err != nil || got.String() != want) {
			t.Errorf("%s: got %v, %v, want %s", network, got, err, want)
		}
	}
}
