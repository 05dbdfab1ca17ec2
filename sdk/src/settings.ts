/** The base URL without a trailing slash. Throws if it is not valid. */
export function readBaseUrl(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string' || baseUrl === '') {
    throw new TypeError(
      'baseUrl is missing: pass the URL of your Parley installation, for example "https://parley.example.com".',
    )
  }
  const url = parse(baseUrl)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`baseUrl is "${baseUrl}", but it must start with https:// (or http://) and a host.`)
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError('baseUrl must not contain a user name, a query or a fragment. Pass the API key in `key`.')
  }
  const path = url.pathname.replace(/\/+$/, '')
  if (/\/v1$/.test(path)) {
    throw new TypeError(`baseUrl is "${baseUrl}", but it must not include /v1: the client adds it.`)
  }
  return url.origin + path
}

/** Checks the form of a key. Only the service knows whether it is valid. */
export function readKey(key: unknown): string {
  if (typeof key !== 'string' || key === '') {
    throw new TypeError('key is missing: pass an API key. It starts with "prl_live_".')
  }
  if (/^bearer\s/i.test(key)) throw new TypeError('key must be only the key, without "Bearer".')
  if (key.startsWith('whsec_')) {
    throw new TypeError('key is the signing secret of a webhook ("whsec_…"). An API key starts with "prl_live_".')
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError('key contains a space, a line break or another invalid character. Copy the key again.')
  }
  return key
}

/** The characters that the service accepts; some others are not even allowed in a header. */
export function readIdempotencyKey(key: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters without spaces.')
}

/** An ID as a segment of a path. An empty one would request the list, and dots would be removed from the URL. */
export function pathSegment(id: string): string {
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id)) throw new TypeError('The ID is missing, or it is not an ID.')
  return encodeURIComponent(id)
}

function parse(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
