export type Cell = string | number | boolean | null

/** Lines of a CSV file (RFC 4180), each with its line end. */
export const csvLines = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => `${row.map(csvCell).join()}\r\n`).join('')

/**
 * A spreadsheet takes text that begins with one of = + - @, a tab or a carriage return for a formula, and would run what
 * a stranger wrote; an apostrophe before it makes it text. Numbers are numbers and stay as they are.
 */
export function csvCell(value: Cell): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
