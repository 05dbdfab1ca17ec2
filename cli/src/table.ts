import { styled } from './style.ts'

/** Rows as aligned columns under their headings; a line of its own when there is none. */
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

/** A list as the API gives lists. */
export const jsonList = (data: readonly unknown[]) => ({
  object: 'list',
  data,
  total: data.length,
  has_more: false,
  next_cursor: null,
})
