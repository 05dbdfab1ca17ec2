/** What is wrong with a field. Its path has dots: `text.body`. */
export interface FieldMark {
  param: string
  message: string
  /** The field should exist. Only then it is added. */
  isMissing?: boolean
}

export const pathOf = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)

/** The marks of what is inside of a value; its own is not among them. */
export const marksBelow = (path: string, marks: readonly FieldMark[]): FieldMark[] =>
  marks.filter(({ param }) => path === '' || param.startsWith(`${path}.`))

/** Those of fields that are missing here, and not in one of the values that exist. */
export const missingIn = (paths: readonly string[], marks: readonly FieldMark[]): FieldMark[] =>
  marks.filter(({ param, isMissing }) => isMissing && !paths.some((path) => isAtOrBelow(param, path)))

const isAtOrBelow = (param: string, path: string): boolean => param === path || param.startsWith(`${path}.`)
