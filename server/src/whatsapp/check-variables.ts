import type { FieldError, FieldErrorCode } from '@parley/contract/field-errors'
import type { SendTemplate } from '@parley/contract/send'
import { type JsonObject, readArray, readObject } from './read-json.ts'
import { type NetworkTemplate, type Slot, templateFlow, templateSlots } from './variables.ts'

/**
 * Every fault of the values given for a template, each named, before anything is spent: missing, unknown, of the wrong
 * kind, or text the network would refuse.
 */
export function checkVariables(template: NetworkTemplate, send: SendTemplate): FieldError[] {
  const values: JsonObject = send.variables ?? {}
  const slots = new Map(templateSlots(template).map((slot) => [slot.key, slot]))
  const missing = [...slots.values()]
    .filter((slot) => slot.required && !Object.hasOwn(values, slot.key))
    .map((slot) => fault(slot.key, 'missing', `The template needs the variable "${slot.key}".`))
  const wrong = Object.entries(values).flatMap(([key, value]): FieldError[] => {
    const slot = slots.get(key)
    if (slot === undefined) return [fault(key, 'unknown', `The template has no variable "${key}".`)]
    return checkValue(slot, value)
  })
  return [...missing, ...wrong, ...checkLengths(template, values), ...checkFlow(template, send)]
}

function checkValue(slot: Slot, value: unknown): FieldError[] {
  switch (slot.type) {
    case 'text':
      return checkText(slot, value)
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
    case 'product':
      return checkWords(slot.key, value, ['catalog_id', 'product_retailer_id'], [])
    case 'products':
      return checkProducts(slot.key, value)
  }
}

function checkText({ key, maxLength }: Slot, value: unknown): FieldError[] {
  if (typeof value !== 'string') return [fault(key, 'wrong_type', `"${key}" must be a string.`)]
  if (value.trim() === '') return [fault(key, 'too_short', `"${key}" must not be empty.`)]
  if ([...value].length > maxLength) {
    return [fault(key, 'too_long', `"${key}" must be at most ${maxLength} characters.`)]
  }
  if (/[\n\r\t]| {5}/.test(value)) {
    const message = `"${key}" may hold no line break, no tab and no more than four spaces in a row.`
    return [fault(key, 'not_one_line', message)]
  }
  return []
}

function checkMedia(key: string, value: unknown, more: string[]): FieldError[] {
  if (typeof value === 'string') return checkLink(key, value)
  const file = readObject(value)
  if (file === null) return [fault(key, 'wrong_type', `"${key}" must be a link, or an object with "id" or "link".`)]
  if ((file.id === undefined) === (file.link === undefined)) {
    return [fault(key, 'invalid', `"${key}" takes either "id" or "link".`)]
  }
  const faults = checkWords(key, file, [], ['id', 'link', ...more])
  return typeof file.link === 'string' && faults.length === 0 ? checkLink(`${key}.link`, file.link) : faults
}

function checkLink(key: string, link: string): FieldError[] {
  if (link.length > maxWordLength) return [tooLong(key)]
  const good = /^https?:\/\/\S+$/.test(link) && URL.canParse(link)
  return good ? [] : [fault(key, 'invalid', `"${key}" must be a link that starts with http:// or https://.`)]
}

function checkLocation(key: string, value: unknown): FieldError[] {
  const place = readObject(value)
  if (place === null) return [fault(key, 'wrong_type', `"${key}" must be an object with "latitude" and "longitude".`)]
  const { latitude, longitude, ...rest } = place
  return [
    ...checkCoordinate(`${key}.latitude`, latitude, 90),
    ...checkCoordinate(`${key}.longitude`, longitude, 180),
    ...checkWords(key, rest, [], ['name', 'address']),
  ]
}

function checkCoordinate(key: string, value: unknown, limit: number): FieldError[] {
  if (value === undefined) return [fault(key, 'missing', `"${key}" is required.`)]
  if (typeof value !== 'number') return [fault(key, 'wrong_type', `"${key}" must be a number.`)]
  return Math.abs(value) <= limit ? [] : [fault(key, 'out_of_range', `"${key}" must be from -${limit} to ${limit}.`)]
}

function checkProducts(key: string, value: unknown): FieldError[] {
  const products = readObject(value)
  if (products === null) return [fault(key, 'wrong_type', `"${key}" must be an object.`)]
  const sections = readArray(products.sections).map(readObject)
  const good =
    typeof products.thumbnail_product_retailer_id === 'string' &&
    sections.length > 0 &&
    sections.every((section) => typeof section?.title === 'string' && isListOfIds(section.product_retailer_ids))
  const shape = '{thumbnail_product_retailer_id, sections: [{title, product_retailer_ids}]}'
  return good ? [] : [fault(key, 'invalid', `"${key}" must have the form ${shape}.`)]
}

function isListOfIds(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((id) => typeof id === 'string' && id !== '')
}

/** An object of short strings: all of `needed`, any of `allowed`, nothing else. */
function checkWords(key: string, value: unknown, needed: string[], allowed: string[]): FieldError[] {
  const object = readObject(value)
  if (object === null) return [fault(key, 'wrong_type', `"${key}" must be an object.`)]
  const missing = needed
    .filter((name) => object[name] === undefined)
    .map((name) => fault(`${key}.${name}`, 'missing', `"${key}.${name}" is required.`))
  const wrong = Object.entries(object).flatMap(([name, word]): FieldError[] => {
    const at = `${key}.${name}`
    if (![...needed, ...allowed].includes(name)) return [fault(at, 'unknown', `"${at}" is not a known field.`)]
    if (typeof word !== 'string') return [fault(at, 'wrong_type', `"${at}" must be a string.`)]
    if (word === '') return [fault(at, 'too_short', `"${at}" must not be empty.`)]
    return word.length > maxWordLength ? [tooLong(at)] : []
  })
  return [...missing, ...wrong]
}

/** The text as the recipient would see it has a limit of its own, wider for a template that is nothing but a body. */
function checkLengths(template: NetworkTemplate, values: JsonObject): FieldError[] {
  return template.components.map(readObject).flatMap((component): FieldError[] => {
    const kind = String(component?.type).toLowerCase()
    if ((kind !== 'body' && kind !== 'header') || typeof component?.text !== 'string') return []
    const limit = kind === 'header' ? 60 : template.components.length === 1 ? 32_768 : 1024
    const text = component.text.replace(/\{\{\s*(\w+)\s*\}\}/g, (hole, name) => {
      const value = values[`${kind}.${name}`]
      return typeof value === 'string' ? value : hole
    })
    if (text === component.text || [...text].length <= limit) return []
    const message = `With these values the ${kind} has ${[...text].length} characters; the network takes ${limit}.`
    return [{ param: 'template.variables', code: 'too_long', message }]
  })
}

function checkFlow(template: NetworkTemplate, send: SendTemplate): FieldError[] {
  if (send.flow === undefined || templateFlow(template) !== null) return []
  return [{ param: 'template.flow', code: 'unknown', message: 'The template has no form button.' }]
}

function checkTime(key: string, value: unknown): FieldError[] {
  if (typeof value !== 'string') return [fault(key, 'wrong_type', `"${key}" must be a string.`)]
  const good = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(value) && !Number.isNaN(Date.parse(value))
  return good ? [] : [fault(key, 'invalid', `"${key}" must be a time in ISO 8601 format.`)]
}

const maxWordLength = 2048

const tooLong = (key: string): FieldError =>
  fault(key, 'too_long', `"${key}" must be at most ${maxWordLength} characters.`)

function fault(key: string, code: FieldErrorCode, message: string): FieldError {
  return { param: `template.variables.${key}`, code, message }
}
