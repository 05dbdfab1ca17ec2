export type Cell = string | number | boolean | null

/** Writes rows as CSV (RFC 4180), each with its line ending. */
export const csvLines = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => `${row.map(csvCell).join()}\r\n`).join('')

/**
 * Spreadsheets run text that starts with = + - @, a tab or a carriage return as a formula (CSV injection). An
 * apostrophe in front makes it text. Numbers are not changed.
 */
export function csvCell(value: Cell): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
