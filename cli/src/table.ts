import { styled } from './style.ts'

/** No column becomes narrower than this. */
const narrowest = 8

/**
 * Aligned columns under their headings, or the line `empty` if there are no rows. In a terminal, long cells are cut so that a
 * row fits into one line; files and pipes get all of it.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
  columns: number | undefined = process.stdout.isTTY ? process.stdout.columns : undefined,
): string[] {
  if (rows.length === 0) return [empty]
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  if (columns) narrow(widths, columns)
  const line = (cells: readonly string[]) =>
    fit(
      cells
        .map((cell, column) => fit(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
      columns ?? Number.POSITIVE_INFINITY,
    )
  return [styled('dim', line(headings)), ...rows.map(line)]
}

/** Takes from the widest columns until a row fits. The first column is the ID, which has to stay whole to be of use. */
function narrow(widths: number[], columns: number): void {
  const used = () => widths.reduce((sum, width) => sum + width, 2 * (widths.length - 1))
  while (used() > columns) {
    const widest = Math.max(...widths.slice(1))
    if (widest <= narrowest) return
    widths[widths.lastIndexOf(widest)] = widest - 1
  }
}

const fit = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`)

/** The same shape as a list in the API. */
export const jsonList = (data: readonly unknown[]) => ({
  object: 'list',
  data,
  total: data.length,
  has_more: false,
  next_cursor: null,
})
