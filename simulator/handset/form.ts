import type { Flow } from './api.ts'
import { isObject, type Json, listAt, objectAt, textAt } from './json.ts'
import type { FileInput } from './samples.ts'

/** A value of a form field: text, one or more choices, a checkbox or files. */
export type Value = string | string[] | boolean | FileInput[]

export interface Screen {
  id: string
  title: string
  terminal: boolean
  parts: Json[]
  /** Data passed by the previous screen or by the business. */
  data: Json
}

export type Step =
  | { kind: 'screen'; screen: Screen }
  | { kind: 'done'; values: Json; files: Record<string, FileInput[]> }

/** Runs a form through its screens and resolves `${form.…}`, `${data.…}` and `${screen.….form.…}`. */
export class FormSession {
  readonly #flow: Flow
  readonly #entered = new Map<string, Record<string, Value>>()

  constructor(flow: Flow) {
    this.#flow = flow
  }

  get length(): number {
    return listAt(this.#flow.json, 'screens').length
  }

  first(screen: string, data: Json): Screen {
    const id = screen || textAt(this.#flow.json, 'screens', 0, 'id')
    return this.#screen(id, data) ?? { id, title: this.#flow.name, terminal: true, parts: [], data }
  }

  /** The values entered on a screen earlier, for going back to it. */
  entered(screen: Screen): Record<string, Value> {
    return this.#entered.get(screen.id) ?? {}
  }

  /** Runs an action with the entered values: goes to the next screen, or finishes the form with its response. */
  follow(action: Json, screen: Screen, values: Record<string, Value>): Step {
    this.#entered.set(screen.id, values)
    const payload = this.resolve(action.payload ?? {}, screen, values) as Json
    const next =
      textAt(action, 'name') === 'navigate'
        ? this.#screen(textAt(action, 'next', 'name'), payload)
        : textAt(action, 'name') === 'complete' || screen.terminal
          ? undefined
          : this.#after(screen, payload)
    if (next) return { kind: 'screen', screen: next }
    const files: Record<string, FileInput[]> = {}
    const plain: Json = {}
    for (const [name, value] of Object.entries(payload)) {
      if (isFiles(value)) files[name] = value
      else plain[name] = value
    }
    return { kind: 'done', values: plain, files }
  }

  resolve(value: unknown, screen: Screen, values: Record<string, Value>): unknown {
    if (Array.isArray(value)) return value.map((one) => this.resolve(one, screen, values))
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.resolve(one, screen, values)]))
    if (typeof value !== 'string') return value
    const reference = /^\$\{([\w.]+)\}$/.exec(value)
    if (reference) return this.#lookUp(reference[1] ?? '', screen, values)
    return value.replaceAll(/\$\{([\w.]+)\}/g, (_, path: string) => String(this.#lookUp(path, screen, values) ?? ''))
  }

  #lookUp(path: string, screen: Screen, values: Record<string, Value>): unknown {
    const [from = '', ...rest] = path.split('.')
    const roots: Record<string, unknown> = {
      form: values,
      data: screen.data,
      screen: Object.fromEntries([...this.#entered].map(([id, form]) => [id, { form }])),
    }
    return rest.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), roots[from])
  }

  #after(screen: Screen, data: Json): Screen | undefined {
    const ids = listAt(this.#flow.json, 'screens').map((one) => textAt(one, 'id'))
    const next = ids[ids.indexOf(screen.id) + 1]
    return next === undefined ? undefined : this.#screen(next, { ...screen.data, ...data })
  }

  #screen(id: string, given: Json): Screen | undefined {
    const found = listAt(this.#flow.json, 'screens').find((one) => textAt(one, 'id') === id)
    if (!isObject(found)) return undefined
    const examples = Object.entries(objectAt(found, 'data')).flatMap(([name, one]) =>
      isObject(one) && '__example__' in one ? [[name, one.__example__] as const] : [],
    )
    const parts = flat(objectAt(found, 'layout'))
    return {
      id,
      title: textAt(found, 'title'),
      terminal: found.terminal === true,
      parts,
      data: { ...Object.fromEntries(examples), ...given },
    }
  }
}

/** The components of a screen in order. Layouts and forms only group them. */
function flat(part: Json): Json[] {
  const inner = listAt(part, 'children').filter(isObject).flatMap(flat)
  const groups = ['SingleColumnLayout', 'Form', '']
  return groups.includes(textAt(part, 'type')) ? inner : [part, ...inner]
}

const isFiles = (value: unknown): value is FileInput[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => isObject(one) && typeof one.base64 === 'string')
