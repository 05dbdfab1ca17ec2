/** A bucket of an S3-compatible store, and the credentials for it. */
export interface S3Settings {
  bucket: string
  /** In front of every key: empty, or with a slash at the end. */
  prefix: string
  /** The URL of the store, without a slash at the end. */
  endpoint: string
  region: string
  /** Where the bucket is named: in the path of a URL, or in front of the host. */
  style: 'path' | 'host'
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | null
  takesNew: boolean
}

const parameters = ['endpoint', 'region', 'style', 'access_key_id', 'secret_access_key']

/**
 * Reads `s3://bucket/prefix?endpoint=…&region=…`. Credentials come from the variables that AWS's own tools use or, if these
 * are unset, from the URL. A fault never repeats a value, because it may contain a secret.
 */
export function readS3Url(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Omit<S3Settings, 'takesNew'> | { fault: string } {
  if (!/^s3:\/\//.test(text) || !URL.canParse(text)) return { fault: 'it is not an s3:// URL' }
  const url = new URL(text)
  const query = url.searchParams
  if (url.username || url.password || url.port || url.hash) return { fault: 'it has more than a bucket and a prefix' }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.hostname)) {
    return { fault: 'the bucket is missing or its name is not valid (3 to 63 of a-z, 0-9, "." and "-")' }
  }
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '')
  // Characters that every store takes, and that mean the same with and without percent-encoding.
  if (!/^[A-Za-z0-9._/-]{0,200}$/.test(prefix) || /(^|\/)\.{0,2}(\/|$)/.test(prefix.replace(/^$/, 'none'))) {
    return { fault: 'the prefix may have up to 200 of A-Z, a-z, 0-9, ".", "_", "-" and "/"' }
  }
  const unknown = [...query.keys()].find((name) => !parameters.includes(name))
  if (unknown !== undefined) return { fault: `it takes ${parameters.join(', ')}, and no other parameters` }
  const region = query.get('region') || env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1'
  if (!/^[A-Za-z0-9-]{1,64}$/.test(region)) return { fault: 'the region is not valid' }
  const endpoint = query.get('endpoint') || `https://s3.${region}.amazonaws.com`
  if (!isEndpoint(endpoint)) return { fault: 'the endpoint is not a URL such as https://s3.example.com' }
  const style = query.get('style') ?? 'path'
  if (style !== 'path' && style !== 'host') return { fault: 'style is neither path nor host' }
  const inEnv = Boolean(env.AWS_ACCESS_KEY_ID || env.AWS_SECRET_ACCESS_KEY)
  const accessKeyId = inEnv ? env.AWS_ACCESS_KEY_ID : query.get('access_key_id')
  const secretAccessKey = inEnv ? env.AWS_SECRET_ACCESS_KEY : query.get('secret_access_key')
  if (!accessKeyId || !secretAccessKey) {
    return { fault: 'it needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY' }
  }
  return {
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint: endpoint.replace(/\/+$/, ''),
    region,
    style,
    accessKeyId,
    secretAccessKey,
    sessionToken: (inEnv && env.AWS_SESSION_TOKEN) || null,
  }
}

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && username + password + search + hash === ''
}
