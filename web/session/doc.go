// Package session signs people in through an OpenID Connect issuer and knows who they are on
// every later request. Sessions live in the database; the browser holds only a random id.
package session
