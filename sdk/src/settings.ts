/** The base URL without a slash at its end, or a word about what is wrong with it. */
export function readBaseUrl(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string' || baseUrl === '') {
    throw new TypeError('baseUrl is missing: give the address of the service, such as "https://parley.example.com".')
  }
  const url = parse(baseUrl)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`baseUrl is "${baseUrl}", but it must begin with https:// (or http://) and a host.`)
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError('baseUrl must not carry a user name, a query or a fragment; the key goes in `key`.')
  }
  const path = url.pathname.replace(/\/+$/, '')
  if (/\/v1$/.test(path)) {
    throw new TypeError(`baseUrl is "${baseUrl}", but it must end before /v1: the client adds that itself.`)
  }
  return url.origin + path
}

/** Refuses what cannot be a key. Whether it is one that opens something is for the service to say. */
export function readKey(key: unknown): string {
  if (typeof key !== 'string' || key === '') {
    throw new TypeError('key is missing: give an API key of the service; it begins with "prl_live_".')
  }
  if (/^bearer\s/i.test(key)) throw new TypeError('key must be the key alone, without "Bearer".')
  if (key.startsWith('whsec_')) {
    throw new TypeError('key is the signing secret of a webhook ("whsec_…"); an API key begins with "prl_live_".')
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError('key holds a space, a line break or another character that no key has; was it copied whole?')
  }
  return key
}

/** What the service takes; a header could not even carry some of the rest. */
export function readIdempotencyKey(key: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw new TypeError('idempotencyKey must have 1 to 255 visible ASCII characters, and no space.')
}

function parse(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
