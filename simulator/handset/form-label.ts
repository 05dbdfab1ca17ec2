import { type Json, textAt } from './json.ts'

/** What a part of a form is called; whoever may skip it is told. */
export const labelOf = (part: Json): string => {
  const label = textAt(part, 'label')
  return part.required === true || textAt(part, 'type').endsWith('Picker') ? label : `${label} (optional)`
}
