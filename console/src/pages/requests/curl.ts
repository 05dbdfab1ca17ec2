import type { RequestDetail } from '@parley/contract/console/requests'
import { curlCommand, shellQuote } from '../../lib/shell.ts'

type Repeated = Pick<RequestDetail, 'method' | 'route' | 'target' | 'request_body'>

/** A curl command that repeats the request, with the key in a variable of the shell. Redacted values are placeholders. */
export function toCurl(publicUrl: string, { method, route, target, request_body: body }: Repeated): string {
  const url = publicUrl + (target ?? (route.startsWith('/') ? route.replaceAll(/:(\w+)/g, 'REDACTED') : '/REDACTED'))
  const options = ['-H "Authorization: Bearer $PARLEY_API_KEY"']
  if (body?.state === 'file') options.push(`-F ${shellQuote('file=@<file>')}`)
  else if (body || (target === null && hasBody(method))) {
    options.push(
      `-H ${shellQuote('Content-Type: application/json')}`,
      `--data-raw ${shellQuote(textOf(body?.text ?? null))}`,
    )
  }
  return curlCommand(url, options, methodOption(method))
}

/** What has to be filled in before the command can run; null if nothing has to. */
export function curlGaps({ method, target, request_body: body }: Repeated): string | null {
  const gaps = [
    target === null ? 'the path and the query string' : target.includes('REDACTED') && 'REDACTED in the URL',
    body?.state === 'file' && 'the file',
    body?.state === 'truncated' && 'the rest of the body, which was cut',
    body?.text?.includes('[redacted') && 'the redacted values',
    ((body && body.state !== 'file' && body.text === null) || (target === null && hasBody(method))) && 'the body',
  ].filter((gap): gap is string => Boolean(gap))
  return gaps.length === 0 ? null : `Fill in ${new Intl.ListFormat('en').format(gaps)}.`
}

const hasBody = (method: string): boolean => ['POST', 'PUT', 'PATCH'].includes(method)

function methodOption(method: string): string {
  if (method === 'GET') return ''
  if (method === 'HEAD') return '-I'
  return `-X ${/^[A-Z]+$/.test(method) ? method : shellQuote(method)}`
}

function textOf(text: string | null): string {
  if (text === null) return '<body>'
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
