/** A SHA-256 hash in lower-case hex. Webhooks have it in base64, the API in hex. Anything else is null. */
export function sha256Hex(text: string | null): string | null {
  if (text === null) return null
  if (/^[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase()
  if (!/^[A-Za-z0-9+/]{43}=?$/.test(text)) return null
  return Buffer.from(text, 'base64').toString('hex')
}
