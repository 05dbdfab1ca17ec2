import { styled } from './style.ts'
import { visible } from './visible.ts'
import { fit, pad, widthOf } from './width.ts'

/** No column becomes narrower than this. */
const narrowest = 8

/**
 * Aligned columns under their headings, or the line `empty` if there are no rows. In a terminal, long cells are cut so that a
 * row fits into one line. If that does not suffice, each row becomes a list of its cells. Files and pipes get all of it.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
  columns: number | undefined = process.stdout.isTTY ? process.stdout.columns : undefined,
): string[] {
  if (rows.length === 0) return [empty]
  const cells = rows.map((row) => headings.map((_, column) => visible(row[column] ?? '')))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => widthOf(row[column] ?? ''))),
  )
  if (columns && !narrow(widths, columns)) return lists(headings, cells)
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => pad(fit(cell, widths[column] ?? 0), widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [styled('dim', line(headings)), ...cells.map(line)]
}

/**
 * Takes from the widest columns until a row fits, and returns whether it does. The first column is the ID, which has to stay
 * whole to be of use.
 */
function narrow(widths: number[], columns: number): boolean {
  const used = () => widths.reduce((sum, width) => sum + width, 2 * (widths.length - 1))
  while (used() > columns) {
    const widest = Math.max(...widths.slice(1))
    if (widest <= narrowest) return false
    widths[widths.lastIndexOf(widest)] = widest - 1
  }
  return true
}

/** One line for each cell that is not empty, and an empty line between rows. The terminal wraps long ones. */
function lists(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...headings.map(({ length }) => length))
  return rows.flatMap((row, index) => [
    ...(index > 0 ? [''] : []),
    ...headings.flatMap((heading, column) =>
      row[column] ? [`${styled('dim', heading.padEnd(width))}  ${row[column]}`] : [],
    ),
  ])
}

/** The same shape as a list in the API. */
export const jsonList = (data: readonly unknown[]) => ({
  object: 'list',
  data,
  total: data.length,
  total_is_exact: true,
  has_more: false,
  next_cursor: null,
})
