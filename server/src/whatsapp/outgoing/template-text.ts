import { type JsonObject, readArray, readObject } from '../read-json.ts'
import { shownText } from './localized.ts'

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
