import { arrayIn, isObject, type Json, textIn } from './json.ts'

export interface FlowField {
  screen: string
  name: string
  type: string
  label: string
  required: boolean
}

/** The input fields of a flow, screen by screen: every component that has a name. */
export function fieldsOf(flow: Json): FlowField[] {
  return (arrayIn(flow, 'screens') ?? []).flatMap((screen) => {
    const layout = isObject(screen) ? screen.layout : undefined
    return namedComponents(layout).map((part) => ({
      screen: textIn(screen, 'id') ?? '',
      name: textIn(part, 'name') ?? '',
      type: textIn(part, 'type') ?? '',
      label: textIn(part, 'label') ?? '',
      required: isObject(part) && part.required === true,
    }))
  })
}

function namedComponents(component: unknown): unknown[] {
  const isField = textIn(component, 'name') !== undefined && textIn(component, 'type') !== 'Form'
  return [...(isField ? [component] : []), ...(arrayIn(component, 'children') ?? []).flatMap(namedComponents)]
}
