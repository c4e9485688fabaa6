package paths

// Reasons why a person is at the sign-in page again.
const (
	SignInFailed    = "failed"
	SignInExpired   = "expired"
	SignInSignedOut = "signed-out"
)

// SignInAfter is the sign-in page that says why a person is there again.
func SignInAfter(why, back string) string {
	if back == "" {
		return with(RouteSignIn, "why", why)
	}
	return with(RouteSignIn, "return", back) + "&why=" + why
}
