import type { FieldError } from '@parley/contract/field-errors'
import { type JsonObject, readArray, readObject } from '../read-json.ts'
import { fieldError } from './field-error.ts'

const at = 'interactive.action.cards'

/** Checks the rules for the cards of a carousel that the schema cannot express. */
export function checkCards(action: JsonObject): FieldError[] {
  const cards = readArray(action.cards).map((card) => readObject(card) ?? {})
  return [
    ...cards.flatMap((card, index) => cardErrors(card, `${at}.${index}`)),
    ...orderErrors(cards),
    ...mixErrors(cards),
  ]
}

function cardErrors(card: JsonObject, path: string): FieldError[] {
  const action = readObject(card.action) ?? {}
  return card.type === 'product' ? productErrors(card, action, path) : mediaErrors(card, action, path)
}

function productErrors(card: JsonObject, action: JsonObject, path: string): FieldError[] {
  return [
    ...['header', 'body'].flatMap((name) => unexpected(card, name, path, 'for a product')),
    ...['name', 'parameters', 'buttons'].flatMap((name) => unexpected(action, name, `${path}.action`, 'for a product')),
    ...['catalog_id', 'product_retailer_id'].flatMap((name) => missing(action, name, `${path}.action`)),
  ]
}

function mediaErrors(card: JsonObject, action: JsonObject, path: string): FieldError[] {
  const inAction = `${path}.action`
  const hasReplies = action.buttons !== undefined
  return [
    ...missing(card, 'header', path),
    ...bodyErrors(card, path),
    ...['catalog_id', 'product_retailer_id'].flatMap((name) => unexpected(action, name, inAction, 'for a link card')),
    ...['name', 'parameters'].flatMap((name) =>
      hasReplies ? unexpected(action, name, inAction, 'together with "buttons"') : missing(action, name, inAction),
    ),
  ]
}

function bodyErrors(card: JsonObject, path: string): FieldError[] {
  const text = readObject(card.body)?.text
  const isValid = typeof text !== 'string' || text.split('\n').length <= 3
  return isValid
    ? []
    : [fieldError(`${path}.body.text`, 'invalid', `"${path}.body.text" must have at most 2 line breaks.`)]
}

/** The indexes are the positions from 0, each once. */
function orderErrors(cards: readonly JsonObject[]): FieldError[] {
  const seen = new Set<unknown>()
  return cards.flatMap(({ card_index: index }, position) => {
    const isValid = !seen.has(index) && Number(index) < cards.length
    seen.add(index)
    const path = `${at}.${position}.card_index`
    return isValid
      ? []
      : [fieldError(path, 'invalid', `The cards must have the indexes 0 to ${cards.length - 1}, each once.`)]
  })
}

function mixErrors(cards: readonly JsonObject[]): FieldError[] {
  const kinds = cards.map(({ type, action }) => `${type} ${readArray(readObject(action)?.buttons).length}`)
  if (new Set(kinds).size <= 1) return []
  return [fieldError(at, 'invalid', `All "${at}" must have the same type, and the same kind and number of buttons.`)]
}

function missing(object: JsonObject, name: string, path: string): FieldError[] {
  return object[name] === undefined ? [fieldError(`${path}.${name}`, 'missing', `"${path}.${name}" is required.`)] : []
}

function unexpected(object: JsonObject, name: string, path: string, why: string): FieldError[] {
  if (object[name] === undefined) return []
  return [fieldError(`${path}.${name}`, 'unexpected', `"${path}.${name}" is not allowed ${why}.`)]
}
