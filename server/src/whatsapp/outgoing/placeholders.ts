import { type JsonObject, readArray, readObject } from '../read-json.ts'
import { shownText } from './localized.ts'

/** A placeholder in the text of a template: `{{1}}` or `{{first_name}}`. */
export interface Placeholder {
  name: string
  /** Starts at 1; null for a named placeholder. */
  position: number | null
}

const maxPositions = 100

/** `{{1}} … {{2}} … {{1}}` has two: numbered placeholders count up to the highest, named ones count once each. */
export function placeholdersIn(text: unknown): Placeholder[] {
  if (typeof text !== 'string') return []
  const names = [...new Set(Array.from(text.matchAll(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g), (match) => match[1] ?? ''))]
  const numbers = names.map((name) => (/^\d{1,3}$/.test(name) ? Number(name) : null))
  if (names.length > 0 && numbers.every((number) => number !== null && number > 0)) {
    const count = Math.min(maxPositions, Math.max(...numbers.map(Number)))
    return Array.from({ length: count }, (_, index) => ({ name: String(index + 1), position: index + 1 }))
  }
  return names.map((name) => ({ name, position: null }))
}

/** The example of a URL button is the whole URL. This returns only the part that replaces the placeholder. */
export function suffixOf(url: unknown, example: string | null): string | null {
  if (typeof url !== 'string' || example === null) return example
  const [before = '', after = ''] = url.split(/\{\{\s*\w+\s*\}\}/)
  const matches = example.length > before.length + after.length && example.startsWith(before) && example.endsWith(after)
  return matches ? example.slice(before.length, example.length - after.length) : example
}

/** The body of a template with its variables filled in; null if it has no body. */
export function filledBody(components: readonly unknown[], variables: JsonObject): string | null {
  const body = readArray(components)
    .map(readObject)
    .find((component) => String(component?.type).toUpperCase() === 'BODY')
  if (typeof body?.text !== 'string') return null
  return body.text.replaceAll(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g, (placeholder, name: string) => {
    return shownText(variables[`body.${name}`]) ?? placeholder
  })
}
