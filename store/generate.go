package store

// sqlc makes *.sql.go and *_gen.go of sqlc.yaml, migrations and queries; this notes from what.
//go:generate env COMMANDER_GENERATE=1 go test -count=1 -run TestGeneratedCodeIsCurrent .
