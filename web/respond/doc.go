// Package respond writes the answers of web handlers: pages and fragments, redirections that
// work with and without script, JSON, and the one edge at which errors become answers.
package respond
