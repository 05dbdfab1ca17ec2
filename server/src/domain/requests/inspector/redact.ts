/**
 * Redacts what a client sent or got before it is stored. Only values that are known to be harmless are kept: a field has to be
 * listed here, and its value has to look as it should. `redactionRule` in the contract says the same to people.
 */
import { type BodyState, storedBodyMax } from '@parley/contract/console/inspector'
import type { ErrorReply } from '@parley/contract/errors'
import { hasSecret, withoutSecrets } from '../secrets.ts'

export interface RedactedText {
  text: string
  state: BodyState
}

/** Fields whose value is one of a few words, or a list of them. */
const words = new Set(
  'object type status code category language direction order scope scopes required_scope granted_scopes events'.split(
    ' ',
  ),
)
/** Fields with a number that describes the request, not a person. */
const counts = new Set('code credits balance total limit index size attempts retry_after remaining wait'.split(' '))

const word = /^[A-Za-z][A-Za-z_.:-]{0,63}$/
const ourId = /^([a-z]{2,4}_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const time = /^\d{4}-\d{2}-\d{2}T[\d:.]{5,15}(Z|[+-]\d{2}:\d{2})$/
const templateName = /^[a-z0-9_]{1,64}$/
/** A part of a phone number or of another number that belongs to a person. */
const manyDigits = /\d{5}/
const ipAddress = /^[0-9a-f.:]{2,45}$/
/** A number of a person has more digits. */
const maxCount = 9_999_999

/** The value as JSON, redacted, and cut after `max` characters. Its cost does not depend on how long the value is. */
export function redactJson(value: unknown, max: number = storedBodyMax): RedactedText {
  const out = { text: '', max }
  write(value, '', '', out)
  return out.text.length > max
    ? { text: out.text.slice(0, max).toWellFormed(), state: 'truncated' }
    : { text: out.text, state: 'stored' }
}

interface Output {
  text: string
  max: number
}

/** Stops at the limit. A list has the name of its field. */
function write(value: unknown, name: string, parent: string, out: Output): void {
  if (Array.isArray(value)) {
    out.text += '['
    for (let index = 0; index < value.length && out.text.length <= out.max; index++) {
      if (index > 0) out.text += ','
      write(value[index], name, parent, out)
    }
    out.text += ']'
  } else if (typeof value === 'object' && value !== null) {
    out.text += '{'
    let fields = 0
    for (const field in value) {
      if (out.text.length > out.max) break
      const safeName = redactName(field)
      const isHidden = safeName !== field
      out.text += `${fields++ > 0 ? ',' : ''}${JSON.stringify(isHidden ? `${safeName} ${fields}` : field)}:`
      write((value as Record<string, unknown>)[field], isHidden ? '' : field, name, out)
    }
    out.text += '}'
  } else out.text += JSON.stringify(redactValue(value, name, parent) ?? null)
}

function redactValue(value: unknown, name: string, parent: string): unknown {
  if (typeof value === 'string') {
    return isShown(value, name, parent) ? value : `[redacted: ${lengthText(value.length)}]`
  }
  if (typeof value === 'number') {
    return counts.has(name) && Math.abs(value) <= maxCount ? value : '[redacted: number]'
  }
  return value
}

const lengthText = (length: number): string => `${length} ${length === 1 ? 'character' : 'characters'}`

function isShown(value: string, name: string, parent: string): boolean {
  if (value === '') return true
  if (hasSecret(value)) return false
  if (words.has(name)) return word.test(value)
  if (name === 'id' || name.endsWith('_id') || name === 'in_reply_to') return ourId.test(value)
  if (name.endsWith('_at') || name === 'since' || name === 'until') return time.test(value)
  if (name === 'name' && parent === 'template') return templateName.test(value) && !manyDigits.test(value)
  return name === 'ip' && ipAddress.test(value)
}

/** Names are written by developers. One that has the characters of something else is not kept. */
function redactName(name: string): string {
  const isPlain = /^[\w.-]{1,64}$/.test(name) && !manyDigits.test(name) && !hasSecret(name)
  return isPlain ? name : '[redacted]'
}

/** The requested path and query string, with the same rule. `pattern` is null if no route matches. */
export function redactTarget(url: string, pattern: string | null, params: unknown, query: unknown): string {
  const path = pattern === null ? redactPath(url.split('?', 1)[0] as string) : fillPath(pattern, params)
  const pairs = Object.entries((query ?? {}) as Record<string, unknown>).flatMap(([name, values]) =>
    [values].flat().map((value) => `${encodeURIComponent(redactName(name))}=${redactParameter(name, value)}`),
  )
  return (pairs.length === 0 ? path : `${path}?${pairs.join('&')}`).slice(0, 1000)
}

const redactedWord = 'REDACTED'

function redactParameter(name: string, value: unknown): string {
  const text = String(value)
  const isCount = counts.has(name) && /^\d{1,7}$/.test(text)
  return isCount || isShown(text, name, '') ? encodeURIComponent(text) : redactedWord
}

function fillPath(pattern: string, params: unknown): string {
  const values = (params ?? {}) as Record<string, unknown>
  return pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = String(values[name] ?? '')
    return ourId.test(value) || /^\d{1,3}$/.test(value) ? value : redactedWord
  })
}

const redactPath = (path: string): string =>
  path
    .split('/')
    .map((segment) =>
      segment === '' || ourId.test(segment) || (word.test(segment) && !hasSecret(segment)) || segment === 'v1'
        ? segment
        : redactedWord,
    )
    .join('/')

/** Field errors that are kept if the response is longer than a stored body. */
const keptErrors = 5

/**
 * An error response of ours. It has no values of the request, but may have names of fields that the client chose, and the JSON
 * parser quotes the body.
 */
export function redactError(json: string): RedactedText {
  const { error } = JSON.parse(json) as ErrorReply
  const { message, param, errors, details, ...rest } = error
  const safe = {
    ...rest,
    message: redactMessage(message, param),
    ...(param !== undefined && { param: redactParam(param) }),
    ...(errors && {
      errors: errors.map((each) => ({
        ...each,
        param: redactParam(each.param),
        message: redactMessage(each.message, each.param),
      })),
    }),
    ...(details && { details: redactDetails(details) }),
  }
  const text = JSON.stringify({ error: safe })
  if (text.length <= storedBodyMax) return { text, state: 'stored' }
  const fewer = { ...safe, errors: safe.errors?.slice(0, keptErrors) ?? [], details: {} }
  return { text: JSON.stringify({ error: fewer }), state: 'truncated' }
}

function redactDetails(details: Record<string, unknown>): Record<string, unknown> {
  const { text, state } = redactJson(details)
  return state === 'stored' ? (JSON.parse(text) as Record<string, unknown>) : {}
}

function redactMessage(message: string, param: string | undefined): string {
  const withoutBody = message.replace(
    /(is not valid JSON: [^"]*)".*" is not valid JSON/s,
    '$1"[redacted]" is not valid JSON',
  )
  const names = param === undefined ? [] : [param, ...param.split('.')]
  let text = withoutBody
  for (const name of names) {
    // Messages repeat the name of the field.
    if (redactParam(name) !== name) text = text.replaceAll(name, redactParam(name))
  }
  return withoutSecrets(text)
}

const redactParam = (param: string): string => param.split('.').map(redactName).join('.')
