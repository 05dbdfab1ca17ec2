import { refuse } from '../../network/errors.ts'

const mostVariables = 1000

/** The placeholders of a text: by position 1…max, whatever the order they appear in, or the names, each once. */
export function variablesOf(text: string): string[] {
  const names = [...text.matchAll(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g)].map((match) => match[1] ?? '')
  if (names.length > 0 && names.every((name) => /^\d+$/.test(name)))
    return Array.from({ length: Math.min(mostVariables, Math.max(...names.map(Number))) }, (_, index) =>
      String(index + 1),
    )
  return [...new Set(names)]
}

/** The text with its placeholders filled in. */
export function fill(text: string, names: string[], values: string[]): string {
  return text.replaceAll(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g, (whole, name: string) => {
    const index = names.indexOf(name)
    return index < 0 ? whole : (values[index] ?? whole)
  })
}

export function checkParamText(text: unknown): string {
  if (typeof text !== 'string' || text === '') return refuse(132018, 'Param text cannot be empty')
  if (/[\n\r\t]| {5,}/.test(text)) refuse(132018)
  return text
}
