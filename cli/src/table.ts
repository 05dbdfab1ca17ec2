import { styled } from './style.ts'

/** Aligned columns under their headings, or the line `empty` if there are no rows. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], empty: string): string[] {
  if (rows.length === 0) return [empty]
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [styled('dim', line(headings)), ...rows.map(line)]
}

/** The same shape as a list in the API. */
export const jsonList = (data: readonly unknown[]) => ({
  object: 'list',
  data,
  total: data.length,
  has_more: false,
  next_cursor: null,
})
