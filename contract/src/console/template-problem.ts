/**
 * `path` is the field: `name`, `language`, `category`, `header.text`, `header.example.1`, `body.text`,
 * `body.example.first_name`, `footer.text`, `buttons`, or `buttons.0.url`.
 */
export interface TemplateProblem {
  path: string
  message: string
}

export const problem = (path: string, message: string): TemplateProblem => ({ path, message })

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** In characters as people count them, not in UTF-16 units. */
export const lengthOf = (text: string): number => [...text].length
