package store

// Statement and Counting are what a query asks the database for, for tests that look at plans.
func (q ClusterQuery) Statement() (string, []any, error) { return q.statement() }

// Counting is the statement that counts what a query finds.
func (q ClusterQuery) Counting() (string, []any, error) { return q.counting() }
