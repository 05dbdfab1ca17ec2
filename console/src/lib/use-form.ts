import { type RefObject, useRef, useState } from 'react'
import { ApiError, errorMessage } from './api.ts'
import { askToDiscard } from './leave-guard.ts'
import type { Action } from './use-action.ts'

/** Error messages by field. `form` holds messages that belong to no field. */
export type Errors<Values> = Partial<Record<keyof Values | 'form', string | undefined>>

export interface Form<Values> {
  values: Values
  set(changes: Partial<Values>): void
  errors: Errors<Values>
  isPending: boolean
  /** Checks and sends the values, after applying `changes`. */
  submit(changes?: Partial<Values>): void
  reset(): void
  /** Whether the values differ from the initial values, or from those sent last. */
  isChanged: boolean
  /** Asks before edits are lost. True if there are none. */
  mayDiscard(): Promise<boolean>
  /** Shows errors and focuses the first invalid field. */
  showErrors(errors: Errors<Values>): void
  /** Props for a field: `text` if its onChange receives an event, `field` if it receives the value. */
  text(name: TextName<Values>): TextProps
  field<Name extends keyof Values>(name: Name): FieldProps<Values[Name]>
  /** Ref of the form element, in which the first invalid field is focused. */
  element: RefObject<HTMLFormElement | null>
}

type TextName<Values> = { [Name in keyof Values]: Values[Name] extends string ? Name : never }[keyof Values]

interface TextProps {
  value: string
  error: string | undefined
  onChange(event: { currentTarget: { value: string } }): void
}

export interface FieldProps<Value> {
  value: Value
  error: string | undefined
  onChange(value: Value): void
}

interface Options<Values, Input, Result> {
  /** Initial values. The names are those of the API's parameters, so that its errors are shown at the right field. */
  first: Values
  /** Checks in the browser, before the request. */
  check?: (values: Values) => Errors<Values>
  action: Action<Input, Result>
  input: (values: Values) => Input
  onDone?: (result: Result, values: Values) => void
  /** A message for an error; undefined shows the message of the API. */
  explain?: (error: unknown) => Errors<Values> | undefined
}

/** The state of a form: values, errors and submission. `Form` and `FormDialog` render it. */
export function useForm<Values extends object, Input, Result>(options: Options<Values, Input, Result>): Form<Values> {
  const { first, check, action, input, onDone, explain } = options
  const [values, setValues] = useState(first)
  const [errors, setErrors] = useState<Errors<Values>>({})
  const element = useRef<HTMLFormElement>(null)
  const saved = useRef(first)
  // For callbacks: they run before the next render.
  const latest = useRef(values)
  latest.current = values
  const set = (changes: Partial<Values>) => {
    setValues((before) => ({ ...before, ...changes }))
    const cleared = Object.fromEntries([...Object.keys(changes), 'form'].map((name) => [name, undefined]))
    setErrors((before) => ({ ...before, ...cleared }))
  }
  const showErrors = (found: Errors<Values>) => {
    setErrors(found)
    requestAnimationFrame(() => element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
  }
  const submit = (changes: Partial<Values> = {}) => {
    const sent = { ...values, ...changes }
    const found = check?.(sent) ?? {}
    if (Object.values(found).some(Boolean)) return showErrors(found)
    setErrors({})
    action.run(input(sent), {
      onDone: (result) => {
        // First, because `onDone` may leave the page.
        saved.current = sent
        setErrors({})
        onDone?.(result, sent)
      },
      onError: (error) => showErrors(explain?.(error) ?? errorsOf(error, sent)),
    })
  }
  const reset = () => {
    saved.current = first
    latest.current = first
    setValues(first)
    setErrors({})
  }
  const mayDiscard = async () => {
    if (isSame(latest.current, saved.current)) return true
    const may = await askToDiscard()
    if (may) saved.current = latest.current
    return may
  }
  return {
    values,
    set,
    errors,
    isPending: action.isPending,
    submit,
    reset,
    isChanged: !isSame(values, saved.current),
    mayDiscard,
    showErrors,
    element,
    text: (name) => ({
      value: String(values[name]),
      error: errors[name],
      onChange: (event) => set({ [name]: event.currentTarget.value } as Partial<Values>),
    }),
    field: (name) => ({
      value: values[name],
      error: errors[name],
      onChange: (value) => set({ [name]: value } as unknown as Partial<Values>),
    }),
  }
}

/** Spaces around a text are not an edit. */
const isSame = (left: unknown, right: unknown) => textOf(left) === textOf(right)
const textOf = (values: unknown) =>
  JSON.stringify(values, (_name, value) => (typeof value === 'string' ? value.trim() : value))

/** The errors of a response by field; the rest belongs to the form. */
export function errorsOf<Values extends object>(error: unknown, values: Values): Errors<Values> {
  if (!(error instanceof ApiError)) return { form: errorMessage(error) } as Errors<Values>
  const { param, message, errors } = error
  const problems = errors.length > 0 ? errors : [{ param: param ?? 'form', message }]
  const found: Record<string, string> = {}
  for (const problem of problems) {
    const name = Object.keys(values).find((each) => `${problem.param}.`.startsWith(`${each}.`)) ?? 'form'
    found[name] = [found[name], problem.message].filter(Boolean).join(' ')
  }
  return found as Errors<Values>
}
