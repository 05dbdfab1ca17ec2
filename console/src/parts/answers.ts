export interface Answer {
  name: string
  text: string
  /** A list of files, which are shown in their own card. */
  isFiles: boolean
}

/** The answers as text, in the order of the form. None if they were removed. */
export function answersOf(response: Readonly<Record<string, unknown>> | null): Answer[] {
  return Object.entries(response ?? {}).map(([name, value]) => ({
    name,
    text: textOf(value),
    isFiles: Array.isArray(value) && value.length > 0 && value.every(isFile),
  }))
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return ''
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (Array.isArray(value)) return value.map((each) => (isFile(each) ? each.file_name : textOf(each))).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const isFile = (value: unknown): value is { file_name: string } =>
  typeof value === 'object' && value !== null && typeof (value as { file_name?: unknown }).file_name === 'string'
