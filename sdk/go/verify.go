// Package parley verifies Parley's webhooks. It is one file without dependencies: copy it into your project. Go 1.19 or later.
//
//	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
//	if err == nil {
//		err = parley.Verify(body, r.Header.Get("Service-Signature"), os.Getenv("PARLEY_WEBHOOK_SECRET"))
//	}
//	if err != nil {
//		http.Error(w, err.Error(), http.StatusBadRequest)
//		return
//	}
//	w.WriteHeader(http.StatusNoContent) // respond first, then process the event
package parley

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The reasons why a delivery is invalid.
var (
	ErrMissingHeader     = errors.New("missing_header: the header Service-Signature is missing")
	ErrMalformedHeader   = errors.New("malformed_header: the header Service-Signature is malformed, expected t=<seconds>,v1=<hex>")
	ErrTimestampTooOld   = errors.New("timestamp_too_old: the delivery was signed too long ago")
	ErrTimestampInFuture = errors.New("timestamp_in_future: the delivery was signed in the future, check the clock of this machine")
	ErrNoMatch           = errors.New("no_match: the signature does not match the body and the secret")
	// ErrNoSecret is an error of the receiver, not of the delivery.
	ErrNoSecret = errors.New("the signing secret is not set")
)

// Tolerance is how far the time of a delivery may differ from now.
const Tolerance = 300 * time.Second

// More than a sender needs, and few enough that checking each is cheap.
const maxSignatures = 8

var (
	timeForm      = regexp.MustCompile(`^t=([0-9]{1,12})$`)
	signatureForm = regexp.MustCompile(`^v1=([0-9a-f]{64})$`)
)

// Verify returns nil if the delivery is genuine and recent. rawBody is the unparsed body: JSON that was parsed and
// serialized again does not match. header is the value of Service-Signature. While you rotate the secret, pass both.
func Verify(rawBody []byte, header string, secrets ...string) error {
	return VerifyAt(time.Now(), Tolerance, rawBody, header, secrets...)
}

// VerifyAt is Verify at another time, with another tolerance.
func VerifyAt(now time.Time, tolerance time.Duration, rawBody []byte, header string, secrets ...string) error {
	if len(secrets) == 0 {
		return ErrNoSecret
	}
	for _, secret := range secrets {
		if secret == "" {
			return ErrNoSecret
		}
	}
	if header == "" {
		return ErrMissingHeader
	}
	var times []string
	var signatures [][]byte
	for _, part := range strings.Split(header, ",") {
		part = strings.TrimSpace(part)
		if match := timeForm.FindStringSubmatch(part); match != nil {
			times = append(times, match[1])
		} else if match := signatureForm.FindStringSubmatch(part); match != nil {
			// The form allows hex only.
			signature, _ := hex.DecodeString(match[1])
			signatures = append(signatures, signature)
		}
	}
	if len(times) != 1 || len(signatures) == 0 || len(signatures) > maxSignatures {
		return ErrMalformedHeader
	}
	seconds, err := strconv.ParseInt(times[0], 10, 64)
	if err != nil {
		return ErrMalformedHeader
	}
	// Compared in seconds: a Duration overflows after 292 years.
	age, allowed := now.Unix()-seconds, int64(tolerance/time.Second)
	if age > allowed {
		return ErrTimestampTooOld
	}
	if age < -allowed {
		return ErrTimestampInFuture
	}
	// There are two signatures during a staged rotation. One of them has to match.
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(times[0] + "."))
		mac.Write(rawBody)
		expected := mac.Sum(nil)
		for _, signature := range signatures {
			if hmac.Equal(expected, signature) {
				return nil
			}
		}
	}
	return ErrNoMatch
}
