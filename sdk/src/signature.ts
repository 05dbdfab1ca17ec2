/**
 * The two signatures of a delivery, both HMAC-SHA256. Parley's: `Service-Signature: t=<seconds>,v1=<hex>`, over
 * `<seconds>.<body>`, with the secret as it is shown as the key. Standard Webhooks: `webhook-signature: v1,<base64>`, over
 * `<id>.<seconds>.<body>`, with the base64-decoded secret as the key.
 */

/** A parsed signature header, to be checked against a body and a secret. */
export interface Claim {
  header: string
  seconds: number
  /** The signed bytes in front of the body. */
  head: string
  signatures: Uint8Array<ArrayBuffer>[]
  keyOf(secret: string): Uint8Array<ArrayBuffer> | null
}

/** More than a sender needs, and few enough that checking each against a large body is cheap. */
const maxSignatures = 8

export function readServiceSignature(value: string): Claim | null {
  const parts = value.split(',').map((part) => part.trim())
  const times = parts.flatMap((part) => /^t=(\d{1,12})$/.exec(part)?.[1] ?? [])
  const signatures = parts.flatMap((part) => bytesOfHex(/^v1=([0-9a-f]{64})$/.exec(part)?.[1]) ?? [])
  const [seconds] = times
  if (seconds === undefined || times.length > 1 || !isAllowedCount(signatures)) return null
  const keyOf = (secret: string) => new TextEncoder().encode(secret)
  return { header: 'Service-Signature', seconds: Number(seconds), head: `${seconds}.`, signatures, keyOf }
}

export function readStandardSignature(id: string, timestamp: string, value: string): Claim | null {
  const signatures = value.split(' ').flatMap((part) => {
    const [, base64] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(part) ?? []
    return bytesOfBase64(base64) ?? []
  })
  if (!/^\d{1,12}$/.test(timestamp) || !isAllowedCount(signatures)) return null
  const keyOf = (secret: string) => bytesOfBase64(secret.replace(/^whsec_/, ''))
  return {
    header: 'webhook-signature',
    seconds: Number(timestamp),
    head: `${id}.${timestamp}.`,
    signatures,
    keyOf,
  }
}

/** Whether one of the signatures matches one of the secrets. Web Crypto compares in constant time. */
export async function isSigned(claim: Claim, body: Uint8Array, secrets: readonly string[]): Promise<boolean> {
  const head = new TextEncoder().encode(claim.head)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  let found = false
  for (const secret of secrets) {
    const bytes = claim.keyOf(secret)
    if (!bytes || bytes.length === 0) continue
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
    for (const signature of claim.signatures) {
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) found = true
    }
  }
  return found
}

function isAllowedCount({ length }: readonly unknown[]): boolean {
  return length > 0 && length <= maxSignatures
}

function bytesOfHex(hex: string | undefined): Uint8Array<ArrayBuffer> | null {
  return hex ? Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)) : null
}

function bytesOfBase64(base64: string | undefined): Uint8Array<ArrayBuffer> | null {
  if (!base64) return null
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  } catch {
    return null
  }
}
