/** The bars that a person has marked: the first one, and the one that the pointer or the arrow keys have reached. */
export interface BarRange {
  anchor: number
  end: number
}

export const firstOf = ({ anchor, end }: BarRange): number => Math.min(anchor, end)
export const lastOf = ({ anchor, end }: BarRange): number => Math.max(anchor, end)

/** The range after a key: arrows, Home and End move it, with Shift they extend it. Undefined for other keys. */
export function rangeAfterKey(
  range: BarRange,
  { key, shiftKey }: { key: string; shiftKey: boolean },
  count: number,
): BarRange | undefined {
  const to = { ArrowRight: range.end + 1, ArrowLeft: range.end - 1, Home: 0, End: count - 1 }[key]
  if (to === undefined) return undefined
  const end = Math.max(0, Math.min(count - 1, to))
  return { anchor: shiftKey ? range.anchor : end, end }
}

/** Where to write labels so that they do not overlap: the indexes of bars that have one. */
export function placeLabels(labels: readonly string[], step: number, space: number): number[] {
  const placed: number[] = []
  for (const [index, label] of labels.entries()) {
    const before = placed.at(-1)
    if (label && (before === undefined || (index - before) * step >= space)) placed.push(index)
  }
  return placed
}
