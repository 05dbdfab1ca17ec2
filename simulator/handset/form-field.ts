import { el } from './dom.ts'
import { labelledField } from './field.ts'
import { filePicker } from './file-picker.ts'
import type { Value } from './form.ts'
import { labelOf } from './form-label.ts'
import { type Json, listAt, textAt } from './json.ts'
import type { FileInput } from './samples.ts'

export interface FormField {
  name: string
  view: HTMLElement
  /** The value; undefined if it is invalid, and then the field shows the problem. */
  read: () => Value | undefined
}

/** The input for a component whose `${…}` references are resolved; undefined if the component is not an input. */
export function formField(part: Json, before: Value | undefined): FormField | undefined {
  const name = textAt(part, 'name')
  switch (textAt(part, 'type')) {
    case 'TextInput':
    case 'TextArea':
    case 'DatePicker':
      return { name, ...textInput(part, typeof before === 'string' ? before : '') }
    case 'Dropdown':
      return { name, ...dropdown(part, typeof before === 'string' ? before : '') }
    case 'RadioButtonsGroup':
    case 'ChipsSelector':
    case 'CheckboxGroup':
      return { name, ...choices(part, before) }
    case 'OptIn':
    case 'Switch':
      return { name, ...consent(part, before === true) }
    case 'PhotoPicker':
    case 'DocumentPicker':
      return { name, ...filePicker(part, Array.isArray(before) ? (before as FileInput[]) : []) }
    default:
      return undefined
  }
}

type FieldInput = Omit<FormField, 'name'>

const kinds: Record<string, string> = {
  email: 'email',
  number: 'number',
  password: 'password',
  passcode: 'password',
  phone: 'tel',
}

function textInput(part: Json, before: string): FieldInput {
  const type = textAt(part, 'type')
  const kind = kinds[textAt(part, 'input-type')] ?? (type === 'DatePicker' ? 'date' : 'text')
  const control = type === 'TextArea' ? el('textarea', { rows: 3 }) : el('input', { type: kind, autocomplete: 'off' })
  control.value = before
  const { view, showProblem } = labelledField(labelOf(part), control, textAt(part, 'helper-text'))
  return {
    view,
    read() {
      const text = control.value.trim()
      const problem = textProblem(part, text)
      showProblem(problem)
      return problem === undefined ? text : undefined
    },
  }
}

function textProblem(part: Json, text: string): string | undefined {
  const label = textAt(part, 'label')
  if (text === '') return part.required === true ? `${label} is required.` : undefined
  if (textAt(part, 'input-type') === 'email' && !/^\S+@\S+\.\S+$/.test(text))
    return 'Enter an email address, for example name@example.com.'
  const [min, max] = [Number(part['min-chars'] ?? 0), Number(part['max-chars'] ?? part['max-length'] ?? Infinity)]
  if (text.length < min) return `${label} must have at least ${min} characters.`
  if (text.length > max) return `${label} must have at most ${max} characters.`
  return undefined
}

interface Choice {
  id: string
  title: string
  description: string
}

const choicesOf = (part: Json): Choice[] =>
  listAt(part, 'data-source').map((one) => ({
    id: textAt(one, 'id'),
    title: textAt(one, 'title'),
    description: textAt(one, 'description'),
  }))

function dropdown(part: Json, before: string): FieldInput {
  const options = choicesOf(part).map(({ id, title }) => el('option', { value: id, selected: id === before }, title))
  const control = el('select', {}, el('option', { value: '' }, 'Choose…'), ...options)
  const { view, showProblem } = labelledField(labelOf(part), control, textAt(part, 'helper-text'))
  return {
    view,
    read() {
      const problem = part.required === true && control.value === '' ? 'Choose an option.' : undefined
      showProblem(problem)
      return problem === undefined ? control.value : undefined
    },
  }
}

let groups = 0

function choices(part: Json, before: Value | undefined): FieldInput {
  const many = textAt(part, 'type') !== 'RadioButtonsGroup'
  const group = `group-${++groups}`
  const chosen = Array.isArray(before) ? before : [before]
  const boxes = choicesOf(part).map(({ id, title, description }) => {
    const box = el('input', { type: many ? 'checkbox' : 'radio', name: group, value: id })
    box.checked = chosen.some((one) => one === id)
    const text = el('span', {}, el('strong', {}, title), description && el('span', {}, description))
    return { box, view: el('label', { class: 'option' }, box, text) }
  })
  const hintView = el('p', { class: 'field-words' }, textAt(part, 'description'))
  const view = el(
    'fieldset',
    { class: 'field' },
    el('legend', {}, labelOf(part)),
    boxes.map((one) => one.view),
    hintView,
  )
  return {
    view,
    read() {
      const ids = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value)
      const isMissing = part.required === true && ids.length === 0
      hintView.textContent = isMissing ? 'Choose at least one.' : textAt(part, 'description')
      view.classList.toggle('wrong', isMissing)
      return isMissing ? undefined : many ? ids : (ids[0] ?? '')
    },
  }
}

function consent(part: Json, before: boolean): FieldInput {
  const box = el('input', { type: 'checkbox' })
  box.checked = before
  const hintView = el('p', { class: 'field-words' })
  const view = el(
    'div',
    { class: 'field' },
    el('label', { class: 'option' }, box, el('span', {}, labelOf(part))),
    hintView,
  )
  return {
    view,
    read() {
      const isMissing = part.required === true && !box.checked
      hintView.textContent = isMissing ? 'This is required.' : ''
      view.classList.toggle('wrong', isMissing)
      return isMissing ? undefined : box.checked
    },
  }
}
