import { createHmac } from 'node:crypto'

/**
 * JSON as Meta writes it: slashes escaped, everything beyond ASCII as \uXXXX in lower-case hex.
 * The signature covers these bytes, so a receiver that parses and prints again cannot verify it.
 */
export function escapedJson(value: unknown): Buffer {
  const text = JSON.stringify(value)
    .replaceAll('/', '\\/')
    .replaceAll(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return Buffer.from(text, 'ascii')
}

export function signatureHeaders(secret: string, body: Buffer): Record<string, string> {
  return {
    'x-hub-signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  }
}
