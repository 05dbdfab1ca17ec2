import type { RequestDetail } from '@parley/contract/console/requests'

/** A curl command that repeats the request. Its key and body are not stored, so they are placeholders. */
export function toCurl(
  publicUrl: string,
  { method, route, key }: Pick<RequestDetail, 'method' | 'route' | 'key'>,
): string {
  const path = route.replaceAll(/:(\w+)/g, '{$1}')
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quote(publicUrl + path)}`,
    `-H ${quote(`Authorization: Bearer <${key?.hint ? `key ${key.hint}` : 'your key'}>`)}`,
  ]
  if (['POST', 'PUT', 'PATCH'].includes(method)) {
    lines.push(`-H ${quote('Content-Type: application/json')}`, `-d ${quote('<body>')}`)
  }
  return lines.join(' \\\n  ')
}

/** Quotes for a shell: the path may contain anything. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
