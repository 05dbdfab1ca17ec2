import { refuse } from '../../network/errors.ts'

const maxVariables = 1000

/** The variables of a text: 1 to the highest number for positional ones, else the distinct names. */
export function variablesOf(text: string): string[] {
  const names = [...text.matchAll(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g)].map((match) => match[1] ?? '')
  if (names.length > 0 && names.every((name) => /^\d+$/.test(name)))
    return Array.from({ length: Math.min(maxVariables, Math.max(...names.map(Number))) }, (_, index) =>
      String(index + 1),
    )
  return [...new Set(names)]
}

/** Replaces the variables with their values. */
export function fill(text: string, names: string[], values: string[]): string {
  return text.replaceAll(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g, (match, name: string) => {
    const index = names.indexOf(name)
    return index < 0 ? match : (values[index] ?? match)
  })
}

export function checkParamText(text: unknown): string {
  if (typeof text !== 'string' || text === '') return refuse(132018, 'Param text cannot be empty')
  if (/[\n\r\t]| {5,}/.test(text)) refuse(132018)
  return text
}
