package postgres

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
)

// Place is where a server's folder can be: the wanted place if the account of RunAs reaches it,
// else one of the same owner's under /var/lib that is always the same for the wanted place.
func Place(wanted string) (string, error) {
	wanted, err := filepath.Abs(wanted)
	if err != nil {
		return "", fmt.Errorf("find place for PostgreSQL: %w", err)
	}
	account, err := RunAs()
	if err != nil {
		return "", err
	}
	if account.Reaches(filepath.Dir(wanted)) {
		return wanted, nil
	}
	hash := sha256.Sum256([]byte(wanted))
	return fmt.Sprintf("/var/lib/commander-postgres/%x/%s", hash[:6], filepath.Base(wanted)), nil
}
