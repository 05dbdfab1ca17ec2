import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import type { SendTemplate } from '@parley/contract/send'
import { type JsonObject, readArray, readObject } from '../read-json.ts'
import { checkCoordinate } from './check-coordinate.ts'
import { readLocalized, shownText } from './localized.ts'
import { hasOneTimeCode, type NetworkTemplate, type Slot, templateFlow, templateSlots } from './variables.ts'

/**
 * Lists every error of a template's variables: missing, unknown, of the wrong type, or text that WhatsApp would reject.
 * It runs before any credits are spent.
 */
export function checkVariables(template: NetworkTemplate, send: SendTemplate): FieldError[] {
  const values: JsonObject = send.variables ?? {}
  const slots = new Map(templateSlots(template).map((slot) => [slot.key, slot]))
  const missing = [...slots.values()]
    .filter((slot) => slot.required && !Object.hasOwn(values, slot.key))
    .map((slot) => fieldError(slot.key, 'missing', `The template variable "${slot.key}" is required.`))
  const wrong = Object.entries(values).flatMap(([key, value]): FieldError[] => {
    const slot = slots.get(key)
    if (slot === undefined) return [fieldError(key, 'unknown', `The template has no variable "${key}".`)]
    return checkValue(slot, value, template)
  })
  return [...missing, ...wrong, ...checkLengths(template, values), ...checkFlow(template, send)]
}

function checkValue(slot: Slot, value: unknown, template: NetworkTemplate): FieldError[] {
  switch (slot.type) {
    case 'text':
      return takesLocalized(slot, template) && readObject(value) !== null
        ? checkLocalized(slot, value)
        : checkText(slot, value)
    case 'image':
    case 'video':
    case 'gif':
      return checkMedia(slot.key, value, [])
    case 'document':
      return checkMedia(slot.key, value, ['filename'])
    case 'location':
      return checkLocation(slot.key, value)
    case 'timestamp':
      return checkTime(slot.key, value)
    case 'minutes':
      return checkInteger(slot.key, value, 1, 43_200)
    case 'product':
      return checkStrings(slot.key, value, ['catalog_id', 'product_retailer_id'], [])
    case 'products':
      return checkProducts(slot.key, value)
  }
}

/** An amount or a date is allowed in the header and the body. A one-time code is always text. */
const takesLocalized = ({ part }: Slot, template: NetworkTemplate): boolean =>
  (part.kind === 'header' || part.kind === 'body') && !hasOneTimeCode(template)

function checkLocalized(slot: Slot, value: unknown): FieldError[] {
  const { key } = slot
  const localized = readLocalized(value)
  if (localized === null) {
    return [fieldError(key, 'invalid', `"${key}" must be a string, {"currency": {…}} or {"date_time": {…}}.`)]
  }
  const at = `${key}.${localized.type}`
  const { fallback_value: fallback, ...parts } = localized.value
  return [
    ...(fallback === undefined
      ? [missingError(`${at}.fallback_value`)]
      : checkText({ ...slot, key: `${at}.fallback_value` }, fallback)),
    ...(localized.type === 'currency' ? checkAmount(at, parts) : checkDate(at, parts)),
  ]
}

const missingError = (at: string): FieldError => fieldError(at, 'missing', `"${at}" is required.`)

const unknownErrors = (at: string, names: readonly string[]): FieldError[] =>
  names.map((name) => fieldError(`${at}.${name}`, 'unknown', `"${at}.${name}" is not a known field.`))

const dateParts: ReadonlyMap<string, readonly [min: number, max: number]> = new Map([
  ['day_of_week', [1, 7]],
  ['year', [1, 9999]],
  ['month', [1, 12]],
  ['day_of_month', [1, 31]],
  ['hour', [0, 23]],
  ['minute', [0, 59]],
])
const weekdays: readonly unknown[] = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY']
const calendars: readonly unknown[] = ['GREGORIAN', 'SOLAR_HIJRI']

/** The parts of a date are optional: WhatsApp shows the fallback. */
function checkDate(at: string, { calendar, ...parts }: JsonObject): FieldError[] {
  const wrong = [...dateParts].flatMap(([name, [min, max]]): FieldError[] => {
    const value = parts[name]
    if (value === undefined || (name === 'day_of_week' && weekdays.includes(value))) return []
    return checkInteger(`${at}.${name}`, value, min, max)
  })
  if (calendar !== undefined && !calendars.includes(calendar))
    wrong.push(fieldError(`${at}.calendar`, 'invalid', `"${at}.calendar" must be one of ${calendars.join(', ')}.`))
  return [
    ...wrong,
    ...unknownErrors(
      at,
      Object.keys(parts).filter((name) => !dateParts.has(name)),
    ),
  ]
}

function checkInteger(key: string, value: unknown, min: number, max: number): FieldError[] {
  const text = `"${key}" must be an integer from ${min} to ${max}.`
  if (!Number.isInteger(value)) return [fieldError(key, 'wrong_type', text)]
  return Number(value) >= min && Number(value) <= max ? [] : [fieldError(key, 'out_of_range', text)]
}

function checkAmount(at: string, { code, amount_1000: amount, ...rest }: JsonObject): FieldError[] {
  const wrongCode = `"${at}.code" must be a currency code of three capital letters, for example EUR.`
  const wrongAmount = `"${at}.amount_1000" must be an integer: the amount multiplied by 1000.`
  const errors: FieldError[] = []
  if (code === undefined) errors.push(missingError(`${at}.code`))
  else if (typeof code !== 'string' || !/^[A-Z]{3}$/.test(code))
    errors.push(fieldError(`${at}.code`, 'invalid', wrongCode))
  if (amount === undefined) errors.push(missingError(`${at}.amount_1000`))
  else if (!Number.isSafeInteger(amount)) errors.push(fieldError(`${at}.amount_1000`, 'wrong_type', wrongAmount))
  return [...errors, ...unknownErrors(at, Object.keys(rest))]
}

function checkText({ key, maxLength }: Slot, value: unknown): FieldError[] {
  if (typeof value !== 'string') return [fieldError(key, 'wrong_type', `"${key}" must be a string.`)]
  if (value.trim() === '') return [fieldError(key, 'too_short', `"${key}" must not be empty.`)]
  if ([...value].length > maxLength) {
    return [fieldError(key, 'too_long', `"${key}" must be at most ${maxLength} characters.`)]
  }
  if (/[\n\r\t]| {5}/.test(value)) {
    const message = `"${key}" must not contain line breaks, tabs or more than four consecutive spaces.`
    return [fieldError(key, 'line_break', message)]
  }
  return []
}

function checkMedia(key: string, value: unknown, extraFields: string[]): FieldError[] {
  if (typeof value === 'string') return checkLink(key, value)
  const file = readObject(value)
  if (file === null)
    return [fieldError(key, 'wrong_type', `"${key}" must be a link, or an object with "id" or "link".`)]
  if ((file.id === undefined) === (file.link === undefined)) {
    return [fieldError(key, 'invalid', `"${key}" must have either "id" or "link".`)]
  }
  const errors = checkStrings(key, file, [], ['id', 'link', ...extraFields])
  return typeof file.link === 'string' && errors.length === 0 ? checkLink(`${key}.link`, file.link) : errors
}

function checkLink(key: string, link: string): FieldError[] {
  if (link.length > maxStringLength) return [tooLong(key)]
  const isValid = /^https?:\/\/\S+$/.test(link) && URL.canParse(link)
  return isValid ? [] : [fieldError(key, 'invalid', `"${key}" must be a link that starts with http:// or https://.`)]
}

function checkLocation(key: string, value: unknown): FieldError[] {
  const place = readObject(value)
  if (place === null)
    return [fieldError(key, 'wrong_type', `"${key}" must be an object with "latitude" and "longitude".`)]
  const { latitude, longitude, ...rest } = place
  const missing = (['latitude', 'longitude'] as const)
    .filter((name) => place[name] === undefined)
    .map((name) => missingError(`${key}.${name}`))
  return [
    ...missing,
    ...checkCoordinate(`template.variables.${key}.latitude`, latitude, 90),
    ...checkCoordinate(`template.variables.${key}.longitude`, longitude, 180),
    ...checkStrings(key, rest, [], ['name', 'address']),
  ]
}

function checkProducts(key: string, value: unknown): FieldError[] {
  const products = readObject(value)
  if (products === null) return [fieldError(key, 'wrong_type', `"${key}" must be an object.`)]
  const sections = readArray(products.sections).map(readObject)
  const isValid =
    typeof products.thumbnail_product_retailer_id === 'string' &&
    sections.length > 0 &&
    sections.every((section) => typeof section?.title === 'string' && isListOfIds(section.product_retailer_ids))
  const shape = '{thumbnail_product_retailer_id, sections: [{title, product_retailer_ids}]}'
  return isValid ? [] : [fieldError(key, 'invalid', `"${key}" must have the format ${shape}.`)]
}

function isListOfIds(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((id) => typeof id === 'string' && id !== '')
}

/** Checks an object of short strings: all of `required`, any of `optional`, no other field. */
function checkStrings(key: string, value: unknown, required: string[], optional: string[]): FieldError[] {
  const object = readObject(value)
  if (object === null) return [fieldError(key, 'wrong_type', `"${key}" must be an object.`)]
  const missing = required.filter((name) => object[name] === undefined).map((name) => missingError(`${key}.${name}`))
  const wrong = Object.entries(object).flatMap(([name, text]): FieldError[] => {
    const at = `${key}.${name}`
    if (![...required, ...optional].includes(name)) return [fieldError(at, 'unknown', `"${at}" is not a known field.`)]
    if (typeof text !== 'string') return [fieldError(at, 'wrong_type', `"${at}" must be a string.`)]
    if (text === '') return [fieldError(at, 'too_short', `"${at}" must not be empty.`)]
    return text.length > maxStringLength ? [tooLong(at)] : []
  })
  return [...missing, ...wrong]
}

/** The text with the variables filled in has a limit, which is higher for a template that has only a body. */
function checkLengths(template: NetworkTemplate, values: JsonObject): FieldError[] {
  return template.components.map(readObject).flatMap((component): FieldError[] => {
    const kind = String(component?.type).toLowerCase()
    if ((kind !== 'body' && kind !== 'header') || typeof component?.text !== 'string') return []
    const limit = kind === 'header' ? 60 : template.components.length === 1 ? 32_768 : 1024
    const text = component.text.replace(/\{\{\s*(\w+)\s*\}\}/g, (placeholder, name) => {
      return shownText(values[`${kind}.${name}`]) ?? placeholder
    })
    if (text === component.text || [...text].length <= limit) return []
    const message = `With these values the ${kind} has ${[...text].length} characters. WhatsApp allows at most ${limit}.`
    return [{ param: 'template.variables', code: 'too_long', message }]
  })
}

function checkFlow(template: NetworkTemplate, send: SendTemplate): FieldError[] {
  if (send.flow === undefined || templateFlow(template) !== null) return []
  const message = '"template.flow" is not allowed: the template has no form button.'
  return [{ param: 'template.flow', code: 'unknown', message }]
}

function checkTime(key: string, value: unknown): FieldError[] {
  if (typeof value !== 'string') return [fieldError(key, 'wrong_type', `"${key}" must be a string.`)]
  const isValid = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(value) && !Number.isNaN(Date.parse(value))
  return isValid ? [] : [fieldError(key, 'invalid', 'Enter a date and time such as 2026-11-16T09:00:00Z.')]
}

const maxStringLength = 2048

const tooLong = (key: string): FieldError =>
  fieldError(key, 'too_long', `"${key}" must be at most ${maxStringLength} characters.`)

function fieldError(key: string, code: FieldErrorCode, message: string): FieldError {
  return { param: `template.variables.${key}`, code, message }
}
