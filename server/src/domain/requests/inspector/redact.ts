/**
 * Redacts what a client sent or got before it is stored. Only values that are known to be harmless are kept: the field has to be
 * listed here, in an object that is listed here, and its value has to look as it should. Form answers and template variables have
 * fields of any name, so nothing below them is kept. `redactionRule` in the contract says the same to people.
 */
import { type BodyState, storedBodyMax } from '@parley/contract/console/inspector'
import type { ErrorReply } from '@parley/contract/error-reply'
import { errorCatalogue } from '@parley/contract/errors'
import { eventTypes } from '@parley/contract/events'
import { inboundTypes } from '@parley/contract/inbound'
import { messageStatuses } from '@parley/contract/message'
import { sendTypes } from '@parley/contract/send'
import { templateCategories, templateStatuses } from '@parley/contract/template'
import { hasSecret, withoutSecrets } from '../secrets.ts'

export interface RedactedText {
  text: string
  state: BodyState
}

export interface Kept {
  /** Objects whose fields may be kept, by the name of their field; the body itself has none. All others are contents. */
  objects: ReadonlySet<string>
  isWord(name: string, value: string): boolean
  /** Fields with a number that describes the request, not a person. */
  counts: ReadonlySet<string>
  keepsFlagsAndTimes: boolean
}

const setOf = (names: string): Set<string> => new Set(names.split(' '))

const types: ReadonlySet<string> = new Set(sendTypes)
const languageCode = /^[a-z]{2,3}(_[A-Z]{2})?$/

/** Of a request body, which has what the client put there. */
export const inRequests: Kept = {
  objects: setOf(' messages template image video audio document sticker params arguments'),
  isWord: (name, value) => (name === 'type' && types.has(value)) || (name === 'language' && languageCode.test(value)),
  counts: new Set(),
  keepsFlagsAndTimes: false,
}

/** Fields whose value is one of a few words, or a list of them. */
const words = setOf(
  'object type status code category language direction order scope scopes required_scope granted_scopes events',
)

/** Of a response, which has our own words outside of its contents. */
export const inResponses: Kept = {
  objects: setOf(' data message error errors details history template key result structuredContent'),
  isWord: (name, value) => words.has(name) && word.test(value),
  counts: setOf('code credits balance total limit index size attempts retry_after remaining'),
  keepsFlagsAndTimes: true,
}

const filterWords: ReadonlySet<string> = new Set([
  ...[...sendTypes, ...inboundTypes, ...eventTypes, ...messageStatuses],
  ...[...templateCategories, ...templateStatuses, 'asc', 'desc'],
])

/** Of a query string, which has what the client put there. */
const inQueries: Kept = {
  objects: new Set(),
  isWord: (name, value) =>
    (words.has(name) && filterWords.has(value)) || (name === 'language' && languageCode.test(value)),
  counts: setOf('limit wait'),
  keepsFlagsAndTimes: true,
}

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
export function redactJson(value: unknown, kept: Kept): RedactedText {
  const out = { text: '', kept }
  write(value, '', '', false, out)
  return out.text.length > storedBodyMax
    ? { text: out.text.slice(0, storedBodyMax).toWellFormed(), state: 'truncated' }
    : { text: out.text, state: 'stored' }
}

interface Output {
  text: string
  kept: Kept
}

/** Stops at the limit. A list has the name of its field. Below contents, everything is contents. */
function write(value: unknown, name: string, parent: string, isContents: boolean, out: Output): void {
  if (Array.isArray(value)) {
    out.text += '['
    for (let index = 0; index < value.length && out.text.length <= storedBodyMax; index++) {
      if (index > 0) out.text += ','
      write(value[index], name, parent, isContents, out)
    }
    out.text += ']'
  } else if (typeof value === 'object' && value !== null) {
    out.text += '{'
    const hasContents = isContents || !out.kept.objects.has(name)
    let fields = 0
    for (const field in value) {
      if (out.text.length > storedBodyMax) break
      const safeName = redactName(field)
      const isHidden = safeName !== field
      out.text += `${fields++ > 0 ? ',' : ''}${JSON.stringify(isHidden ? `${safeName} ${fields}` : field)}:`
      write((value as Record<string, unknown>)[field], field, name, hasContents || isHidden, out)
    }
    out.text += '}'
  } else out.text += JSON.stringify(redactValue(value, name, parent, isContents ? null : out.kept) ?? null)
}

/** `kept` is null for contents. */
function redactValue(value: unknown, name: string, parent: string, kept: Kept | null): unknown {
  if (typeof value === 'string') {
    return kept && isShown(value, name, parent, kept) ? value : `[redacted: ${lengthText(value.length)}]`
  }
  if (typeof value === 'number') {
    return kept?.counts.has(name) && Math.abs(value) <= maxCount ? value : '[redacted: number]'
  }
  return typeof value === 'boolean' && !kept?.keepsFlagsAndTimes ? '[redacted: boolean]' : value
}

const lengthText = (length: number): string => `${length} ${length === 1 ? 'character' : 'characters'}`

function isShown(value: string, name: string, parent: string, kept: Kept): boolean {
  if (value === '') return true
  if (hasSecret(value)) return false
  if (kept.isWord(name, value)) return true
  if (name === 'id' || name.endsWith('_id') || name === 'in_reply_to') return ourId.test(value)
  if (name.endsWith('_at')) return kept.keepsFlagsAndTimes && time.test(value)
  if (name === 'name' && parent === 'template') return templateName.test(value) && !manyDigits.test(value)
  return name === 'ip' && ipAddress.test(value)
}

/** Developers write field names. A name with other characters is not stored. */
function redactName(name: string): string {
  const isPlain = /^[\w.-]{1,64}$/.test(name) && !manyDigits.test(name) && !hasSecret(name)
  return isPlain ? name : '[redacted]'
}

/** The requested path and query string, with the same rule. `pattern` is null if no route matches: then no part of it is known. */
export function redactTarget(pattern: string | null, params: unknown, query: unknown): string {
  const path = pattern === null ? `/${redactedWord}` : fillPath(pattern, params)
  const pairs = Object.entries((query ?? {}) as Record<string, unknown>).flatMap(([name, values]) =>
    [values].flat().map((value) => `${encodeURIComponent(redactName(name))}=${redactParameter(name, value)}`),
  )
  return (pairs.length === 0 ? path : `${path}?${pairs.join('&')}`).slice(0, 1000)
}

const redactedWord = 'REDACTED'

function redactParameter(name: string, value: unknown): string {
  const text = String(value)
  const isCount = inQueries.counts.has(name) && /^\d{1,4}$/.test(text)
  return isCount || isShown(text, name, '', inQueries) ? encodeURIComponent(text) : redactedWord
}

function fillPath(pattern: string, params: unknown): string {
  const values = (params ?? {}) as Record<string, unknown>
  return pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = String(values[name] ?? '')
    return ourId.test(value) || /^\d{1,3}$/.test(value) ? value : redactedWord
  })
}

/** Field errors that are kept if the response is longer than a stored body. */
const keptErrors = 5

/** An error response of ours. It has no values of the request, but may have names of fields that the client chose. */
export function redactError(json: string): RedactedText {
  const { error } = JSON.parse(json) as ErrorReply
  const { message, param, errors, details, ...rest } = error
  const safe = {
    ...rest,
    // The JSON parser quotes the body.
    message: rest.code === 'invalid_json' ? errorCatalogue.invalid_json.message : redactMessage(message, param),
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
  const { text, state } = redactJson(details, inResponses)
  return state === 'stored' ? (JSON.parse(text) as Record<string, unknown>) : {}
}

function redactMessage(message: string, param: string | undefined): string {
  const names = param === undefined ? [] : [param, ...param.split('.')]
  let text = message
  for (const name of names) {
    // Messages repeat the name of the field.
    if (redactParam(name) !== name) text = text.replaceAll(name, redactParam(name))
  }
  return withoutSecrets(text)
}

const redactParam = (param: string): string => param.split('.').map(redactName).join('.')
