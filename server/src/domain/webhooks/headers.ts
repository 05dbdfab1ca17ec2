/** The headers that a person adds to the attempts of an endpoint. Their values may be secrets, so they are stored encrypted. */
import { type HeaderInput, headersMax } from '@parley/contract/console/webhooks'
import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import { refuseParam } from '../../lib/refuse.ts'
import { open, type SecretKeys, seal } from '../../lib/seal.ts'
import { type Header, webhookHeadersContext } from '../deliveries/engine/attempt/targets.ts'
import type { Settings } from './webhooks.sql.ts'

const nameMax = 100
const valueMax = 2_000

/** Every attempt has these, or may have them in a later version. */
const ownPrefixes = ['service-', 'webhook-']
const own = ['accept-encoding', 'user-agent']

/** They describe the request itself or its connection. Another value could make two requests of one, or send it elsewhere. */
const ofRequest = ['connection', 'date', 'expect', 'host', 'http2-settings', 'keep-alive', 'te', 'trailer', 'upgrade']
const ofRequestPrefixes = ['content-', 'proxy-', 'sec-', 'transfer-']

/** They tell the receiver another origin or method than the real one, or open the metadata services of clouds. */
const misleading = [
  'forwarded',
  'metadata',
  'metadata-flavor',
  'via',
  'x-google-metadata-request',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-real-ip',
  'x-rewrite-url',
]
const misleadingPrefixes = ['x-aws-ec2-metadata-', 'x-forwarded-']

const refused = new Set([...own, ...ofRequest, ...misleading])
const refusedPrefixes = [...ownPrefixes, ...ofRequestPrefixes, ...misleadingPrefixes]

/** A `token` of RFC 9110. */
const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Visible ASCII, with spaces and tabs inside. */
const valuePattern = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/

/** Trims names and values. Names are in lower case, as HTTP does not distinguish them. */
export const toHeaders = (headers: readonly HeaderInput[]): HeaderInput[] =>
  headers.map(({ name, value }) => ({ name: name.trim().toLowerCase(), value: value?.trim() ?? null }))

/** What is wrong with headers. A value of null stays as it is, so its name must be one of `current`. */
export function headerErrors(headers: readonly HeaderInput[], current: readonly string[]): FieldError[] {
  const errors: FieldError[] = []
  if (headers.length > headersMax) {
    const message = `At most ${headersMax} headers are allowed.`
    errors.push({ param: 'headers', code: 'too_many', message })
  }
  for (const [index, { name, value }] of headers.entries()) {
    const add = (field: string, code: FieldErrorCode, message: string) =>
      errors.push({ param: `headers.${index}.${field}`, code, message })
    if (name.length > nameMax) add('name', 'too_long', `The name of a header must be at most ${nameMax} characters.`)
    else if (!tokenPattern.test(name)) {
      add('name', 'invalid', 'The name of a header has letters, digits and hyphens, for example Authorization.')
    } else if (refused.has(name) || refusedPrefixes.some((prefix) => name.startsWith(prefix))) {
      add('name', 'invalid', `The header "${name}" cannot be set: the service or the connection sets it.`)
    } else if (headers.findIndex((each) => each.name === name) < index) {
      add('name', 'invalid', `The header "${name}" is there twice.`)
    }
    if (value === null) {
      if (!current.includes(name)) add('value', 'missing', `Enter a value for the header "${name}".`)
    } else if (value.length > valueMax) {
      add('value', 'too_long', `The value of a header must be at most ${valueMax} characters.`)
    } else if (!valuePattern.test(value)) {
      add(
        'value',
        value === '' ? 'too_short' : 'invalid',
        'The value of a header has 1 or more visible ASCII characters.',
      )
    }
  }
  return errors
}

/** Encrypts headers. A value of null is taken from the current ones. */
export function sealHeaders(
  keys: () => SecretKeys,
  id: string,
  headers: readonly HeaderInput[],
  currentSealed: string | null,
): Pick<Settings, 'headerNames' | 'headersSealed'> {
  if (headers.length === 0) return { headerNames: null, headersSealed: null }
  const kept = headers.some(({ value }) => value === null) ? openHeaders(keys(), id, currentSealed) : []
  const text = JSON.stringify(
    headers.map(({ name, value }): Header => {
      const current = value ?? kept.find(([keptName]) => keptName === name)?.[1]
      return [name, current ?? refuseParam('headers', 'missing', `Enter a value for the header "${name}".`)]
    }),
  )
  const headersSealed = seal(keys(), text, webhookHeadersContext(id))
  return { headerNames: headers.map(({ name }) => name), headersSealed }
}

/** Empty if they cannot be decrypted: then their values have to be entered again. */
function openHeaders(keys: SecretKeys, id: string, sealed: string | null): Header[] {
  if (sealed === null) return []
  try {
    return JSON.parse(open(keys, sealed, webhookHeadersContext(id))) as Header[]
  } catch {
    return []
  }
}
