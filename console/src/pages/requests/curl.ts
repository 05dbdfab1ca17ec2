import type { RequestDetail } from '@parley/contract/console/requests'

type Repeated = Pick<RequestDetail, 'method' | 'route' | 'target' | 'request_body'>

/** A curl command that repeats the request, with the key in a variable of the shell. Redacted values are placeholders. */
export function toCurl(publicUrl: string, { method, route, target, request_body: body }: Repeated): string {
  const url = publicUrl + (target ?? route.replaceAll(/:(\w+)/g, 'REDACTED'))
  const lines = [`curl ${optionsFor(method, url)}${quote(url)}`, '-H "Authorization: Bearer $PARLEY_API_KEY"']
  if (body?.state === 'file') lines.push(`-F ${quote('file=@<file>')}`)
  else if (body || (target === null && hasBody(method))) {
    lines.push(`-H ${quote('Content-Type: application/json')}`, `--data-raw ${quote(textOf(body?.text ?? null))}`)
  }
  return lines.join(' \\\n  ')
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

/** curl reads brackets and braces in a URL as a range, unless this option is set. */
function optionsFor(method: string, url: string): string {
  const how = method === 'GET' ? '' : method === 'HEAD' ? '-I ' : `-X ${quote(method)} `
  return /[[\]{}]/.test(url) ? `${how}--globoff ` : how
}

function textOf(text: string | null): string {
  if (text === null) return '<body>'
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Quotes for a shell: inside single quotes, only a single quote has a meaning. */
const quote = (text: string): string => (/^[A-Z]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
