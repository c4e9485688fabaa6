// Package sessiontest is an OpenID Connect issuer for tests: it runs in the test's process, signs
// with a real key, and can misbehave.
package sessiontest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// The client that the issuer knows.
const (
	ClientID     = "commander"
	ClientSecret = "not a secret"
)

// Person is who signs in.
type Person struct {
	Subject, Email, Name string
	EmailVerified        bool
}

// Issuer is the provider. Its fields may be changed between sign-ins.
type Issuer struct {
	*httptest.Server

	mu      sync.Mutex // protects what follows
	person  Person
	claims  map[string]any
	refusal string
	down    bool
	codes   map[string]url.Values // what was asked for, by code
	key     *rsa.PrivateKey
}

// New starts an issuer that goes with the test.
func New(t testing.TB, person Person) *Issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatalf("make the issuer's key: %v", err)
	}
	i := &Issuer{person: person, key: key, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /auth", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	i.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.down {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

// CABundle is the PEM of the authority behind the issuer's certificate.
func (i *Issuer) CABundle() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})
}

// Is changes who signs in.
func (i *Issuer) Is(person Person) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.person = person
}

// Claim makes the issuer say something else in its next tokens.
func (i *Issuer) Claim(name string, value any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.claims = map[string]any{name: value}
}

// Refuse makes the issuer answer sign-ins with an error.
func (i *Issuer) Refuse(reason string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refusal = reason
}

// Down takes the issuer away, or brings it back.
func (i *Issuer) Down(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/auth", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1",
		"n": encode(i.key.N.Bytes()), "e": encode(big.NewInt(int64(i.key.E)).Bytes()),
	}}})
}

// authorize takes the person's consent for granted.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	back, err := url.Parse(query.Get("redirect_uri"))
	if err != nil || query.Get("client_id") != ClientID || query.Get("code_challenge_method") != "S256" || query.Get("response_type") != "code" {
		http.Error(w, "this is no request for a code with PKCE", http.StatusBadRequest)
		return
	}
	out := url.Values{"state": {query.Get("state")}}
	if i.refusal != "" {
		out.Set("error", i.refusal)
	} else {
		code := rand.Text()
		i.codes[code] = query
		out.Set("code", code)
	}
	back.RawQuery = out.Encode()
	http.Redirect(w, r, back.String(), http.StatusSeeOther)
}

// token trades a code, once, for who shows that they asked for it.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	code := r.PostFormValue("code")
	asked, known := i.codes[code]
	delete(i.codes, code)
	client, secret, basic := r.BasicAuth()
	if !basic {
		client, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	decoded, _ := url.QueryUnescape(secret)
	if !known || client != ClientID || decoded != ClientSecret || encode(sum[:]) != asked.Get("code_challenge") ||
		r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	claims := map[string]any{
		"iss": i.URL, "sub": i.person.Subject, "aud": ClientID, "nonce": asked.Get("nonce"),
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		"email": i.person.Email, "email_verified": i.person.EmailVerified, "name": i.person.Name,
	}
	maps.Copy(claims, i.claims)
	answer(w, map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "id_token": i.sign(claims)})
}

func (i *Issuer) sign(claims map[string]any) string {
	header, _ := json.Marshal(map[string]string{"alg": "RS256", "kid": "1", "typ": "JWT"})
	body, _ := json.Marshal(claims)
	text := strings.Join([]string{encode(header), encode(body)}, ".")
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		return "" // no token: the sign-in fails and the test says so
	}
	return text + "." + encode(signature)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // an error here is a client that went away
}
