import type { NewTemplate, TemplateEdit } from '@parley/contract/console/template-draft'
import { checkTemplate, type TemplateProblem } from '@parley/contract/console/template-rules'
import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useState } from 'react'
import { ApiError } from '../../../lib/api.ts'
import type { Action } from '../../../lib/use-action.ts'
import { type Form, useForm } from '../../../lib/use-form.ts'
import { draftOfValues, type EditorValues } from './values.ts'

type Part = keyof EditorValues

export interface Editor {
  form: Form<EditorValues>
  values: EditorValues
  /** What is still missing or wrong, in the order of the parts. */
  problems: readonly TemplateProblem[]
  /** Changes one part. */
  change<Name extends Part>(part: Name, change: Partial<EditorValues[Name]> & object): void
  set(changes: Partial<EditorValues>): void
  /** Props of the field with this path: its error, once the person has been there. */
  at(path: string): { error: string | undefined; onBlur(): void; 'data-path': string }
  /** Marks a field as edited: its errors are shown from then on. */
  touch(path: string): void
  goTo(path: string): void
}

interface Options<Input> {
  first: EditorValues
  action: Action<Input, ConsoleTemplate>
  input: (values: EditorValues) => Input
  onDone: (template: ConsoleTemplate) => void
  /** Shows all errors from the start, for a rejected template. */
  showsAll?: boolean
}

/** The state of the editor. The rules are checked while the person types. */
export function useEditor<Input extends NewTemplate | TemplateEdit>(options: Options<Input>): Editor {
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const [isTried, setTried] = useState(options.showsAll ?? false)
  const [refused, setRefused] = useState<{ problems: TemplateProblem[]; values: EditorValues } | null>(null)
  const form = useForm<EditorValues, Input, ConsoleTemplate>({
    ...options,
    check: (values) =>
      Object.fromEntries(checkTemplate(draftOfValues(values)).map(({ path, message }) => [rootOf(path), message])),
    explain: (error) => {
      const [problems, rest] = problemsOf(error)
      if (problems.length === 0) return undefined
      setRefused({ problems, values: form.values })
      return { form: rest }
    },
  })
  const { values } = form
  // What the server refused applies until that part is edited.
  const current = (refused?.problems ?? []).filter(({ path }) => refused?.values[rootOf(path)] === values[rootOf(path)])
  const problems = [...checkTemplate(draftOfValues(values)), ...current]
  const touch = (path: string) => setTouched((before) => (before.has(path) ? before : new Set([...before, path])))
  return {
    form: {
      ...form,
      submit: () => {
        setTried(true)
        form.submit()
      },
    },
    values,
    problems,
    change: (part, change) => form.set({ [part]: { ...(values[part] as object), ...change } }),
    set: form.set,
    touch,
    at: (path) => ({
      error: isTried || touched.has(path) ? messageAt(problems, path) : undefined,
      onBlur: () => touch(path),
      'data-path': path,
    }),
    goTo: (path) => {
      touch(path)
      focusField(form.element.current, path)
    },
  }
}

const messageAt = (problems: readonly TemplateProblem[], path: string) =>
  problems
    .filter((problem) => problem.path === path)
    .map(({ message }) => message)
    .join('\n') || undefined

const roots = ['account', 'name', 'language', 'category', 'header', 'body', 'footer', 'buttons']
const rootOf = (path: string) => path.split('.')[0] as Part

/** The problems that a response names, and the rest of its message. */
function problemsOf(error: unknown): [problems: TemplateProblem[], rest: string | undefined] {
  if (!(error instanceof ApiError)) return [[], undefined]
  const { param, message, errors } = error
  const all = errors.length > 0 ? errors : [{ param: param ?? '', message }]
  const isKnown = ({ param }: { param: string }) => roots.includes(rootOf(param))
  const rest = all.filter((each) => !isKnown(each)).map(({ message }) => message)
  return [all.filter(isKnown).map(({ param, message }) => ({ path: param, message })), rest.join(' ') || undefined]
}

/** Focuses the field, or the first field in the part, and scrolls to it. */
function focusField(form: HTMLElement | null, path: string): void {
  const found = form?.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`)
  const field = found?.matches('input, textarea, button')
    ? found
    : found?.querySelector<HTMLElement>('input, textarea, button')
  field?.focus()
  field?.scrollIntoView({ block: 'center' })
}
