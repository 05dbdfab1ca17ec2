import { type RefObject, useRef, useState } from 'react'
import { ApiError, wordsOf } from './api.ts'
import type { Action } from './use-action.ts'

/** What is wrong, by field; `form` is what belongs to no field. */
export type Errors<Values> = Partial<Record<keyof Values | 'form', string | undefined>>

export interface Form<Values> {
  values: Values
  set(changes: Partial<Values>): void
  errors: Errors<Values>
  isPending: boolean
  /** Checks and sends the values, with `changes` that were made just now. */
  submit(changes?: Partial<Values>): void
  reset(): void
  /** Shows what is wrong. */
  refuse(errors: Errors<Values>): void
  /** The props of a field whose onChange gives an event, and of one whose onChange gives the value. */
  text(name: TextName<Values>): TextProps
  field<Name extends keyof Values>(name: Name): FieldProps<Values[Name]>
  /** Of the form element; the first field at fault is focused in it. */
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
  /** What the fields hold at first. They are named as the service names its parameters: its errors then find them. */
  first: Values
  /** What can be told without asking the service. */
  check?: (values: Values) => Errors<Values>
  action: Action<Input, Result>
  input: (values: Values) => Input
  onDone?: (result: Result, values: Values) => void
  /** Own words for an error; undefined leaves it to what the service said. */
  explain?: (error: unknown) => Errors<Values> | undefined
}

/** The state of a form: its values, what is wrong with them, and sending them. `Form` and `FormDialog` draw it. */
export function useForm<Values extends object, Input, Result>(options: Options<Values, Input, Result>): Form<Values> {
  const { first, check, action, input, onDone, explain } = options
  const [values, setValues] = useState(first)
  const [errors, setErrors] = useState<Errors<Values>>({})
  const element = useRef<HTMLFormElement>(null)
  const set = (changes: Partial<Values>) => {
    setValues((before) => ({ ...before, ...changes }))
    const cleared = Object.fromEntries([...Object.keys(changes), 'form'].map((name) => [name, undefined]))
    setErrors((before) => ({ ...before, ...cleared }))
  }
  const refuse = (found: Errors<Values>) => {
    setErrors(found)
    requestAnimationFrame(() => element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
  }
  const submit = (changes: Partial<Values> = {}) => {
    const sent = { ...values, ...changes }
    const found = check?.(sent) ?? {}
    if (Object.values(found).some(Boolean)) return refuse(found)
    setErrors({})
    action.run(input(sent), {
      onDone: (result) => onDone?.(result, sent),
      onError: (error) => refuse(explain?.(error) ?? errorsOf(error, sent)),
    })
  }
  const reset = () => {
    setValues(first)
    setErrors({})
  }
  return {
    values,
    set,
    errors,
    isPending: action.isPending,
    submit,
    reset,
    refuse,
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

/** What the service found, at the fields it names; the rest belongs to the form. */
export function errorsOf<Values extends object>(error: unknown, values: Values): Errors<Values> {
  if (!(error instanceof ApiError)) return { form: wordsOf(error) } as Errors<Values>
  const { param, message, errors } = error
  const faults = errors.length > 0 ? errors : [{ param: param ?? 'form', message }]
  const found: Record<string, string> = {}
  for (const fault of faults) {
    const name = Object.keys(values).find((each) => `${fault.param}.`.startsWith(`${each}.`)) ?? 'form'
    found[name] = [found[name], fault.message].filter(Boolean).join(' ')
  }
  return found as Errors<Values>
}
