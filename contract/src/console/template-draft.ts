/** A template that a person writes, in WhatsApp's own shape. */
import { type Static, Type } from 'typebox'
import { templateCategories } from '../template.ts'

export const headerFormats = ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION'] as const
export type HeaderFormat = (typeof headerFormats)[number]

/** `OTP` is the button of an authentication template, and only of those. */
export const buttonTypes = ['QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'COPY_CODE', 'FLOW', 'OTP'] as const
export type DraftButtonType = (typeof buttonTypes)[number]

interface NamedExample {
  param_name: string
  example: string
}

export interface HeaderDraft {
  type: 'HEADER'
  format: HeaderFormat
  /** Only for the format `TEXT`. */
  text?: string
  /** `header_handle`: the sample of an image, a video or a document, as WhatsApp's upload returned it, or its URL. */
  example?: { header_text?: string[]; header_text_named_params?: NamedExample[]; header_handle?: string[] }
}

export interface BodyDraft {
  type: 'BODY'
  /** Not in an authentication template: WhatsApp writes its text. */
  text?: string
  example?: { body_text?: string[][]; body_text_named_params?: NamedExample[] }
  /** In an authentication template: adds “For your security, do not share this code.” */
  add_security_recommendation?: boolean
}

export interface FooterDraft {
  type: 'FOOTER'
  text?: string
  /** In an authentication template, in place of the text. */
  code_expiration_minutes?: number
}

export interface ButtonDraft {
  type: DraftButtonType
  text?: string
  url?: string
  /** Of a URL button: the whole URL, filled. Of a copy-code button: the code. */
  example?: string | string[]
  phone_number?: string
  flow_id?: string
  flow_action?: string
  navigate_screen?: string
  otp_type?: 'COPY_CODE' | 'ONE_TAP' | 'ZERO_TAP'
  supported_apps?: { package_name: string; signature_hash: string }[]
}

export interface ButtonsDraft {
  type: 'BUTTONS'
  buttons: ButtonDraft[]
}

export type ComponentDraft = HeaderDraft | BodyDraft | FooterDraft | ButtonsDraft

/** Only the types are checked here. `checkTemplate` checks the rest, with a message for each rule. */
const Components = Type.Array(
  Type.Unsafe<ComponentDraft>(
    Type.Object({ type: Type.String({ minLength: 1, maxLength: 64 }) }, { additionalProperties: true }),
  ),
  { maxItems: 10 },
)
const Category = Type.Enum([...templateCategories])

export const TemplateDraft = Type.Object(
  {
    name: Type.String({ maxLength: 2000 }),
    /** WhatsApp's code, such as `en_US` or `es`. */
    language: Type.String({ maxLength: 100 }),
    category: Category,
    components: Components,
  },
  { additionalProperties: false },
)

/** The body of `POST /templates`. */
export const NewTemplate = Type.Object(
  {
    ...TemplateDraft.properties,
    /** The WhatsApp account (WABA ID). It can be left out if the workspace has only one. */
    account: Type.Optional(Type.String({ maxLength: 64 })),
  },
  { additionalProperties: false },
)

/** The body of `PATCH /templates/:id`. The components replace all that the template has. */
export const TemplateEdit = Type.Object(
  { category: Type.Optional(Category), components: Components },
  { additionalProperties: false },
)

export type TemplateDraft = Static<typeof TemplateDraft>
export type NewTemplate = Static<typeof NewTemplate>
export type TemplateEdit = Static<typeof TemplateEdit>

/** The statuses in which WhatsApp accepts an edit. The category of an approved template cannot be changed. */
export const editableStatuses: readonly string[] = ['APPROVED', 'REJECTED', 'PAUSED']

const placeholder = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g

/** The names of the variables in a text, each once, in the order of the text. */
export function variablesIn(text: unknown): string[] {
  if (typeof text !== 'string') return []
  return [...new Set(Array.from(text.matchAll(placeholder), (match) => match[1] ?? ''))]
}

export const withoutVariables = (text: string, by = ' '): string => text.replaceAll(placeholder, by)

export const isNumber = (name: string): boolean => /^\d+$/.test(name)

/** The part of that type; a template has at most one of each. */
export function partOf<T extends ComponentDraft['type']>(
  components: readonly unknown[],
  type: T,
): Extract<ComponentDraft, { type: T }> | undefined {
  return components.find((each) => upper(asObject(each)?.type) === type) as Extract<ComponentDraft, { type: T }>
}

/** The example of a header or a body that has these values, by name. Undefined if the text has no variable. */
export function exampleFor(part: 'header' | 'body', text: string, values: Readonly<Record<string, string>>) {
  const names = variablesIn(text)
  if (names.length === 0) return undefined
  if (names.every(isNumber)) {
    const last = Math.min(100, Math.max(...names.map(Number)))
    const row = Array.from({ length: last }, (_, index) => values[String(index + 1)] ?? '')
    return part === 'body' ? { body_text: [row] } : { header_text: row }
  }
  return { [`${part}_text_named_params`]: names.map((name) => ({ param_name: name, example: values[name] ?? '' })) }
}

/** The examples of a header or a body, by the name of the variable. The opposite of `exampleFor`. */
export function examplesOf(part: 'header' | 'body', component: unknown): Record<string, string> {
  const example = asObject(asObject(component)?.example)
  const given = asArray(example?.[`${part}_text`])
  const row = Array.isArray(given[0]) ? given[0] : given
  const named = asArray(example?.[`${part}_text_named_params`]).map(asObject)
  return Object.fromEntries(
    [
      ...row.map((value: unknown, index: number) => [String(index + 1), value]),
      ...named.map((each) => [String(each?.param_name), each?.example]),
    ].filter(([, value]) => typeof value === 'string' && value.trim() !== ''),
  )
}

/**
 * The draft to edit a stored template. WhatsApp stores its own text and a URL button in an authentication template; the
 * draft has what people choose about them.
 */
export function draftOf(template: {
  name: string
  language: string
  category: string
  components: readonly unknown[]
}): TemplateDraft {
  const { name, language } = template
  const category = template.category as TemplateDraft['category']
  const components = template.components as ComponentDraft[]
  if (category !== 'AUTHENTICATION') return { name, language, category, components: [...components] }
  return { name, language, category, components: components.map(codeComponent) }
}

function codeComponent(component: ComponentDraft): ComponentDraft {
  if (component.type === 'BODY') {
    const advised = component.add_security_recommendation
    return { type: 'BODY', ...(advised !== undefined && { add_security_recommendation: advised }) }
  }
  if (component.type === 'FOOTER') {
    const minutes = component.code_expiration_minutes
    return { type: 'FOOTER', ...(minutes !== undefined && { code_expiration_minutes: minutes }) }
  }
  if (component.type !== 'BUTTONS') return component
  const buttons = component.buttons.map((button): ButtonDraft => {
    const [, kind] = /[?&]otp_type=(COPY_CODE|ONE_TAP|ZERO_TAP)/.exec(button.url ?? '') ?? []
    if (kind === undefined) return button
    return { type: 'OTP', otp_type: kind as 'COPY_CODE', ...(button.text !== undefined && { text: button.text }) }
  })
  return { type: 'BUTTONS', buttons }
}

export const upper = (value: unknown): string => (typeof value === 'string' ? value.toUpperCase() : '')

export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const asObject = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
