/**
 * The two signatures that a delivery carries. The service's own: `Service-Signature: t=<seconds>,v1=<hex>`, over
 * `<seconds>.<body>`, keyed with the secret as it is shown. That of Standard Webhooks: `webhook-signature: v1,<base64>`, over
 * `<id>.<seconds>.<body>`, keyed with the bytes that the secret's base64 stands for.
 */

/** A signature as it came, ready to be held against a body and a secret. */
export interface Claim {
  header: string
  seconds: number
  /** What is signed, up to the body. */
  head: string
  signatures: Uint8Array<ArrayBuffer>[]
  keyOf(secret: string): Uint8Array<ArrayBuffer> | null
}

/** More than any sender has need of, and few enough that holding each against a large body costs little. */
const maxSignatures = 8

export function readServiceSignature(value: string): Claim | null {
  const parts = value.split(',').map((part) => part.trim())
  const times = parts.flatMap((part) => /^t=(\d{1,12})$/.exec(part)?.[1] ?? [])
  const signatures = parts.flatMap((part) => bytesOfHex(/^v1=([0-9a-f]{64})$/.exec(part)?.[1]) ?? [])
  const [seconds] = times
  if (seconds === undefined || times.length > 1 || !isFew(signatures)) return null
  const keyOf = (secret: string) => new TextEncoder().encode(secret)
  return { header: 'Service-Signature', seconds: Number(seconds), head: `${seconds}.`, signatures, keyOf }
}

export function readStandardSignature(id: string, timestamp: string, value: string): Claim | null {
  const signatures = value.split(' ').flatMap((part) => {
    const [, base64] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(part) ?? []
    return bytesOfBase64(base64) ?? []
  })
  if (!/^\d{1,12}$/.test(timestamp) || !isFew(signatures)) return null
  const keyOf = (secret: string) => bytesOfBase64(secret.replace(/^whsec_/, ''))
  return {
    header: 'webhook-signature',
    seconds: Number(timestamp),
    head: `${id}.${timestamp}.`,
    signatures,
    keyOf,
  }
}

/** Whether one of the secrets made one of the signatures. WebCrypto's own verification compares in constant time. */
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

function isFew({ length }: readonly unknown[]): boolean {
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
