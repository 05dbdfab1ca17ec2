/**
 * Examples to copy that verify a delivery without a library. A test of the service signs deliveries and runs those that it
 * can.
 */
export const typescript = `import { createHmac, timingSafeEqual } from 'node:crypto'

// Throws unless the delivery is genuine and fresh.
// rawBody is the unparsed request body.
export function verifyDelivery(rawBody: Buffer, header: string | undefined, secret: string): void {
  if (!secret) throw new Error('The signing secret is not set')
  const parts = (header ?? '').split(',').map((part) => part.trim().split('=', 2))
  const { t = '' } = Object.fromEntries(parts)
  // Two while a new secret is being introduced.
  const signatures = parts.flatMap(([name, value = '']) =>
    name === 'v1' && /^[0-9a-f]{64}$/.test(value) ? [Buffer.from(value, 'hex')] : [],
  )
  if (!/^\\d{1,15}$/.test(t) || signatures.length === 0) throw new Error('Service-Signature is malformed')
  if (Math.abs(Date.now() / 1000 - Number(t)) > 300) throw new Error('The delivery is too old')
  const expected = createHmac('sha256', secret).update(\`\${t}.\`).update(rawBody).digest()
  if (!signatures.some((signature) => timingSafeEqual(expected, signature))) {
    throw new Error('The signature does not match')
  }
}
`

export const typescriptUse = `import { createServer } from 'node:http'
import { verifyDelivery } from './verify-delivery.ts'

createServer(async (request, response) => {
  const rawBody = Buffer.concat(await Array.fromAsync(request))
  try {
    const signature = request.headers['service-signature']?.toString()
    verifyDelivery(rawBody, signature, process.env.PARLEY_WEBHOOK_SECRET ?? '')
  } catch {
    return response.writeHead(400).end()
  }
  response.writeHead(204).end() // respond first, then process the event
  const event = JSON.parse(rawBody.toString())
  console.log(event.id, event.type)
}).listen(3000)
`

export const python = `import hashlib
import hmac
import re
import time


def verify_delivery(raw_body: bytes, header: str, secret: str) -> None:
    """Raises ValueError unless the delivery is genuine and fresh.

    raw_body is the unparsed request body: request.get_data() in Flask, request.body in Django,
    await request.body() in FastAPI.
    """
    if not secret:
        raise ValueError("the signing secret is not set")
    parts = [part.strip().partition("=")[::2] for part in (header or "").split(",")]
    t = dict(parts).get("t", "")
    signatures = [value for name, value in parts if name == "v1"]  # two while a new secret is being introduced
    if not re.fullmatch(r"[0-9]{1,15}", t):
        raise ValueError("Service-Signature is malformed")
    if abs(time.time() - int(t)) > 300:
        raise ValueError("the delivery is too old")
    signed = t.encode() + b"." + raw_body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    if not any(hmac.compare_digest(expected.encode(), each.encode()) for each in signatures):
        raise ValueError("the signature does not match")
`

export const php = `<?php

/** Throws unless the delivery is genuine and fresh. */
function verify_delivery(string $rawBody, string $header, string $secret): void
{
    if ($secret === '') {
        throw new LogicException('The signing secret is not set');
    }
    $t = '';
    $signatures = []; // two while a new secret is being introduced
    foreach (explode(',', $header) as $part) {
        [$name, $value] = array_pad(explode('=', trim($part), 2), 2, '');
        if ($name === 't') {
            $t = $value;
        } elseif ($name === 'v1') {
            $signatures[] = $value;
        }
    }
    if (!ctype_digit($t)) {
        throw new RuntimeException('Service-Signature is malformed');
    }
    if (abs(time() - (int) $t) > 300) {
        throw new RuntimeException('The delivery is too old');
    }
    $expected = hash_hmac('sha256', $t . '.' . $rawBody, $secret);
    foreach ($signatures as $signature) {
        if (hash_equals($expected, $signature)) {
            return;
        }
    }
    throw new RuntimeException('The signature does not match');
}

$rawBody = (string) file_get_contents('php://input');
try {
    $signature = $_SERVER['HTTP_SERVICE_SIGNATURE'] ?? '';
    verify_delivery($rawBody, $signature, (string) getenv('PARLEY_WEBHOOK_SECRET'));
} catch (RuntimeException) {
    http_response_code(400);
    exit;
}
http_response_code(204);
`

export const go = `package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// VerifyDelivery returns an error unless the delivery is genuine and fresh.
// rawBody is the result of io.ReadAll(r.Body), header is r.Header.Get("Service-Signature").
func VerifyDelivery(rawBody []byte, header, secret string) error {
	if secret == "" {
		return errors.New("the signing secret is not set")
	}
	var t string
	var signatures []string // two while a new secret is being introduced
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			t = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		return errors.New("Service-Signature is malformed")
	}
	if age := time.Now().Unix() - seconds; age > 300 || age < -300 {
		return errors.New("the delivery is too old")
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(rawBody)
	for _, signature := range signatures {
		got, err := hex.DecodeString(signature)
		if err == nil && hmac.Equal(mac.Sum(nil), got) {
			return nil
		}
	}
	return errors.New("the signature does not match")
}
`

export const ruby = `require "openssl"

# Raises unless the delivery is genuine and fresh.
# raw_body is the unparsed request body: request.raw_post in Rails, request.body.read in Sinatra.
def verify_delivery(raw_body, header, secret)
  raise ArgumentError, "The signing secret is not set" if secret.to_s.empty?

  parts = header.to_s.split(",").map { |part| part.strip.split("=", 2) }
  t = parts.to_h { |name, value| [name, value] }["t"].to_s
  # Two while a new secret is being introduced.
  signatures = parts.filter_map { |name, value| value if name == "v1" && value.to_s.match?(/\\A\\h{64}\\z/) }
  raise "Service-Signature is malformed" unless t.match?(/\\A\\d{1,15}\\z/) && signatures.any?
  raise "The delivery is too old" if (Time.now.to_i - t.to_i).abs > 300

  expected = OpenSSL::HMAC.hexdigest("SHA256", secret, "#{t}.".b + raw_body.b)
  matches = signatures.any? { |each| OpenSSL.fixed_length_secure_compare(expected, each) }
  raise "The signature does not match" unless matches
end

# In Rails:
# signature = request.headers["Service-Signature"]
# verify_delivery(request.raw_post, signature, ENV.fetch("PARLEY_WEBHOOK_SECRET"))
`

const sdkName = '@parley/sdk'

export const sdk = `import express from 'express'
import { parleyWebhook } from '${sdkName}/express' // also fastify, hono, fetch

const app = express()
app.post(
  '/hooks/parley',
  parleyWebhook(process.env.PARLEY_WEBHOOK_SECRET!, async (event) => {
    if (event.type === 'message.received') console.log(event.data.from, event.data.text)
  }),
)
app.use(express.json()) // after the webhook, which needs the raw body
app.listen(3000)
`
