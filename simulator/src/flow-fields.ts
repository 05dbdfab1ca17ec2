import { arrayIn, isObject, type Json, textIn } from './json.ts'

export interface FlowField {
  screen: string
  name: string
  type: string
  label: string
  required: boolean
}

/** What a flow's form asks for, screen by screen: whatever has a name of its own. */
export function fieldsOf(flow: Json): FlowField[] {
  return (arrayIn(flow, 'screens') ?? []).flatMap((screen) => {
    const layout = isObject(screen) ? screen.layout : undefined
    return namedParts(layout).map((part) => ({
      screen: textIn(screen, 'id') ?? '',
      name: textIn(part, 'name') ?? '',
      type: textIn(part, 'type') ?? '',
      label: textIn(part, 'label') ?? '',
      required: isObject(part) && part.required === true,
    }))
  })
}

function namedParts(part: unknown): unknown[] {
  const own = textIn(part, 'name') !== undefined && textIn(part, 'type') !== 'Form' ? [part] : []
  return [...own, ...(arrayIn(part, 'children') ?? []).flatMap(namedParts)]
}
