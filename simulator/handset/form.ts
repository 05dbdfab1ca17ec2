import type { Flow } from './api.ts'
import { isObject, type Json, listAt, objectAt, textAt } from './json.ts'
import type { FileInput } from './samples.ts'

/** What a person enters in a form: words, a choice or several, a yes, or files. */
export type Value = string | string[] | boolean | FileInput[]

export interface Screen {
  id: string
  title: string
  terminal: boolean
  parts: Json[]
  /** What the screen was given by the one before, or by the business. */
  data: Json
}

export type Step =
  | { kind: 'screen'; screen: Screen }
  | { kind: 'done'; values: Json; files: Record<string, FileInput[]> }

/** A form on its way through its screens: it resolves `${form.…}`, `${data.…}` and `${screen.….form.…}`. */
export class FormRun {
  readonly #flow: Flow
  readonly #entered = new Map<string, Record<string, Value>>()

  constructor(flow: Flow) {
    this.#flow = flow
  }

  get length(): number {
    return listAt(this.#flow.json, 'screens').length
  }

  first(screen: string, data: Json): Screen {
    const wanted = screen || textAt(this.#flow.json, 'screens', 0, 'id')
    return this.#screen(wanted, data) ?? { id: wanted, title: this.#flow.name, terminal: true, parts: [], data }
  }

  /** What was entered on a screen before, when somebody comes back to it. */
  entered(screen: Screen): Record<string, Value> {
    return this.#entered.get(screen.id) ?? {}
  }

  /** Follows an action with what was entered: to the next screen, or out of the form with its answer. */
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
    const whole = /^\$\{([\w.]+)\}$/.exec(value)
    if (whole) return this.#look(whole[1] ?? '', screen, values)
    return value.replaceAll(/\$\{([\w.]+)\}/g, (_, path: string) => String(this.#look(path, screen, values) ?? ''))
  }

  #look(path: string, screen: Screen, values: Record<string, Value>): unknown {
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

/** The parts of a screen in order; a Form only groups them. */
function flat(part: Json): Json[] {
  const inner = listAt(part, 'children').filter(isObject).flatMap(flat)
  const groups = ['SingleColumnLayout', 'Form', '']
  return groups.includes(textAt(part, 'type')) ? inner : [part, ...inner]
}

const isFiles = (value: unknown): value is FileInput[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => isObject(one) && typeof one.base64 === 'string')
