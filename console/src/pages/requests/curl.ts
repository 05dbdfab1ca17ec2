import type { RequestDetail } from '@parley/contract/console/requests'

/** The request as one would make it again. Its key and body are not kept, so both are left to fill in. */
export function toCurl(
  publicUrl: string,
  { method, route, key }: Pick<RequestDetail, 'method' | 'route' | 'key'>,
): string {
  const path = route.replaceAll(/:(\w+)/g, '{$1}')
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quote(publicUrl + path)}`,
    `-H ${quote(`Authorization: Bearer <${key?.hint ? `the key ${key.hint}` : 'your key'}>`)}`,
  ]
  if (['POST', 'PUT', 'PATCH'].includes(method)) {
    lines.push(`-H ${quote('Content-Type: application/json')}`, `-d ${quote('<the body>')}`)
  }
  return lines.join(' \\\n  ')
}

/** For a shell, whatever the caller wrote into the path. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
