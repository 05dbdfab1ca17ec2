import { type Json, textAt } from './json.ts'

/** The label of a form field, marked as optional if it is not required. */
export const labelOf = (part: Json): string => {
  const label = textAt(part, 'label')
  return part.required === true || textAt(part, 'type').endsWith('Picker') ? label : `${label} (optional)`
}
