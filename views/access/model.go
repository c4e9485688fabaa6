// Package access shows how a person gets in, and what they see when they may not.
package access

import "commander/views/i18n"

// SignIn is the page before the identity provider.
type SignIn struct {
	Back   string       // local address to return to
	Notice i18n.Message // why the person is here again: signed out, session ended, sign-in failed
	Failed bool         // the notice is bad news
}

// NoAccess is shown to a person who is signed in and has no role anywhere.
type NoAccess struct {
	Name, Email string
	Subject     string // what an administrator needs to grant a role
}
