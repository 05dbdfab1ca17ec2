import {
  type ButtonDraft,
  type ComponentDraft,
  type DraftButtonType,
  draftOf,
  exampleFor,
  examplesOf,
  type HeaderFormat,
  partOf,
  type TemplateDraft,
  variablesIn,
} from '@parley/contract/console/template-draft'

/** What the editor's fields contain. The parts are named as in the paths of `checkTemplate`. */
export interface EditorValues {
  account: string | null
  name: string
  language: string
  category: TemplateDraft['category']
  /** `sample`: the handle of an example file; the URL of it in a stored template. */
  header: { format: HeaderFormat | 'NONE'; text: string; examples: Examples; sample: string }
  /** `advises`: in an authentication template, not to share the code. */
  body: { text: string; examples: Examples; advises: boolean }
  /** `minutes`: in an authentication template, after how many the code expires. */
  footer: { text: string; minutes: string }
  /** Of all categories. `isUsed` says which of them the template has. */
  buttons: readonly ButtonValues[]
}

/** By the name of the variable. */
export type Examples = Readonly<Record<string, string>>

export interface ButtonValues {
  /** Stays the same when buttons are moved. */
  key: number
  type: DraftButtonType
  text: string
  url: string
  /** Of a link: the value of its variable. Of a code: the code. */
  example: string
  phone: string
  flowId: string
  screen: string
  otp: NonNullable<ButtonDraft['otp_type']>
  packageName: string
  signature: string
}

export const emptyValues: EditorValues = {
  account: null,
  name: '',
  language: 'en_US',
  category: 'UTILITY',
  header: { format: 'NONE', text: '', examples: {}, sample: '' },
  body: { text: '', examples: {}, advises: true },
  footer: { text: '', minutes: '' },
  buttons: [],
}

export const newButton = (type: DraftButtonType, buttons: readonly ButtonValues[]): ButtonValues => ({
  key: Math.max(0, ...buttons.map(({ key }) => key)) + 1,
  type,
  text: '',
  url: '',
  example: '',
  phone: '',
  flowId: '',
  screen: '',
  otp: 'COPY_CODE',
  packageName: '',
  signature: '',
})

/** Whether a template of the category has the button. An authentication template has one, which copies the code; no other has it. */
export const isUsed = ({ type }: ButtonValues, category: EditorValues['category']): boolean =>
  (type === 'OTP') === (category === 'AUTHENTICATION')

/** The values with another category. Buttons that it cannot have are kept, in case the person changes it back. */
export function withCategory(values: EditorValues, category: EditorValues['category']): EditorValues {
  const { buttons } = values
  const isMissing = category === 'AUTHENTICATION' && !buttons.some((button) => isUsed(button, category))
  return { ...values, category, buttons: isMissing ? [...buttons, newButton('OTP', buttons)] : buttons }
}

/** The fields for a template that exists. */
export function valuesOfTemplate(template: Parameters<typeof draftOf>[0]): EditorValues {
  const { name, language, category, components } = draftOf(template)
  const header = partOf(components, 'HEADER')
  const body = partOf(components, 'BODY')
  const footer = partOf(components, 'FOOTER')
  return {
    ...emptyValues,
    name,
    language,
    category,
    header: {
      format: header?.format ?? (header ? 'TEXT' : 'NONE'),
      text: header?.text ?? '',
      examples: examplesOf('header', header),
      sample: header?.example?.header_handle?.[0] ?? '',
    },
    body: {
      text: body?.text ?? '',
      examples: examplesOf('body', body),
      advises: body?.add_security_recommendation ?? true,
    },
    footer: { text: footer?.text ?? '', minutes: String(footer?.code_expiration_minutes ?? '') },
    buttons: (partOf(components, 'BUTTONS')?.buttons ?? []).map((button, index) => ({
      ...newButton(button.type, []),
      key: index + 1,
      text: button.text ?? '',
      url: button.url ?? '',
      example: exampleOfButton(button),
      phone: button.phone_number ?? '',
      flowId: button.flow_id === undefined ? '' : String(button.flow_id),
      screen: button.navigate_screen ?? '',
      otp: button.otp_type ?? 'COPY_CODE',
      packageName: button.supported_apps?.[0]?.package_name ?? '',
      signature: button.supported_apps?.[0]?.signature_hash ?? '',
    })),
  }
}

/** WhatsApp stores the whole link as the example; people enter the value of the variable. */
function exampleOfButton({ example, url = '' }: ButtonDraft): string {
  const text = (Array.isArray(example) ? example[0] : example) ?? ''
  const start = url.split('{{')[0] ?? ''
  return start !== '' && text.startsWith(start) ? text.slice(start.length) : text
}

/** The template that the fields describe. */
export function draftOfValues(values: EditorValues): TemplateDraft {
  const { name, language, category } = values
  return { name: name.trim(), language, category, components: componentsOf(values) }
}

function componentsOf(values: EditorValues): ComponentDraft[] {
  const { header, body, footer } = values
  const buttons = values.buttons.filter((button) => isUsed(button, values.category)).map(buttonOf)
  const last: ComponentDraft[] = buttons.length > 0 ? [{ type: 'BUTTONS', buttons }] : []
  if (values.category === 'AUTHENTICATION') {
    return [
      { type: 'BODY', add_security_recommendation: body.advises },
      ...(footer.minutes === '' ? [] : [{ type: 'FOOTER' as const, code_expiration_minutes: Number(footer.minutes) }]),
      ...last,
    ]
  }
  return [
    ...(header.format === 'NONE' ? [] : [headerOf(header, header.format)]),
    { type: 'BODY', text: body.text, ...withExample('body', body) },
    ...(footer.text === '' ? [] : [{ type: 'FOOTER' as const, text: footer.text }]),
    ...last,
  ]
}

function headerOf(header: EditorValues['header'], format: HeaderFormat): ComponentDraft {
  if (format === 'TEXT') return { type: 'HEADER', format, text: header.text, ...withExample('header', header) }
  const sample = header.sample.trim()
  return {
    type: 'HEADER',
    format,
    ...(format !== 'LOCATION' && sample !== '' && { example: { header_handle: [sample] } }),
  }
}

function withExample(part: 'header' | 'body', { text, examples }: { text: string; examples: Examples }) {
  const example = exampleFor(part, text, examples)
  return example && { example }
}

function buttonOf(button: ButtonValues): ButtonDraft {
  const { type, text, example } = button
  switch (type) {
    case 'URL': {
      const url = button.url.trim()
      const filled = example.trim() === '' ? '' : url.replace(/\{\{\s*1\s*\}\}/, example.trim())
      return { type, text, url, ...(variablesIn(url).length > 0 && filled && { example: [filled] }) }
    }
    case 'PHONE_NUMBER':
      return { type, text, phone_number: button.phone.trim() }
    case 'COPY_CODE':
      return { type, example: example.trim() }
    case 'FLOW': {
      const screen = button.screen.trim()
      const opens = screen !== '' && { flow_action: 'navigate', navigate_screen: screen }
      return { type, text, flow_id: button.flowId.trim(), ...opens }
    }
    case 'OTP': {
      const [packageName, signature] = [button.packageName.trim(), button.signature.trim()]
      const app = packageName && signature && [{ package_name: packageName, signature_hash: signature }]
      return {
        type,
        otp_type: button.otp,
        ...(text !== '' && { text }),
        ...(button.otp !== 'COPY_CODE' && app && { supported_apps: app }),
      }
    }
    default:
      return { type, text }
  }
}

/** The components to preview. WhatsApp writes the texts of an authentication template: these are its English texts. */
export function previewComponents({ category, components }: TemplateDraft): unknown[] {
  if (category !== 'AUTHENTICATION') return components
  const minutes = partOf(components, 'FOOTER')?.code_expiration_minutes
  const advice = ' For your security, do not share this code.'
  const isAdvised = partOf(components, 'BODY')?.add_security_recommendation
  return [
    { type: 'BODY', text: `*123456* is your verification code.${isAdvised ? advice : ''}` },
    minutes && { type: 'FOOTER', text: `This code expires in ${minutes} minutes.` },
    partOf(components, 'BUTTONS'),
  ].filter(Boolean)
}

/** The examples, as the values of a message. */
export const previewValues = ({ header, body }: EditorValues): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(header.examples).map(([name, value]) => [`header.${name}`, value])),
  ...Object.fromEntries(Object.entries(body.examples).map(([name, value]) => [`body.${name}`, value])),
  ...(header.sample !== '' && { [`header.${header.format.toLowerCase()}`]: header.sample }),
})

/** The next variable of a text: a number, or a name if the others have names. */
export function nextVariable(text: string): string {
  const names = variablesIn(text)
  const isNamed = names.some((name) => !/^\d+$/.test(name))
  for (let number = 1; ; number++) {
    const name = isNamed ? `variable_${number}` : String(number)
    if (!names.includes(name)) return `{{${name}}}`
  }
}

const editableParts = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS']
const editableButtons = ['QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'COPY_CODE', 'FLOW', 'OTP']

/** Whether the editor has a field for each part. Other templates, such as carousels, are made in WhatsApp Manager. */
export function hasOnlyKnownParts(template: Parameters<typeof draftOf>[0]): boolean {
  const { components } = draftOf(template)
  const buttons = partOf(components, 'BUTTONS')?.buttons ?? []
  return (
    components.every(({ type }) => editableParts.includes(type)) &&
    buttons.every(({ type }) => editableButtons.includes(type))
  )
}
