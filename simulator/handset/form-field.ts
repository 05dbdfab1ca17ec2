import { el } from './dom.ts'
import { labelled } from './field.ts'
import { filePicker } from './file-picker.ts'
import type { Value } from './form.ts'
import { labelOf } from './form-label.ts'
import { type Json, listAt, textAt } from './json.ts'
import type { FileInput } from './samples.ts'

export interface FormField {
  name: string
  view: HTMLElement
  /** What was entered; undefined when it will not do, which the field then says. */
  read: () => Value | undefined
}

/** A part of a screen that takes something in; undefined for one that only shows. Its words are already resolved. */
export function formField(part: Json, before: Value | undefined): FormField | undefined {
  const name = textAt(part, 'name')
  switch (textAt(part, 'type')) {
    case 'TextInput':
    case 'TextArea':
    case 'DatePicker':
      return { name, ...wordField(part, typeof before === 'string' ? before : '') }
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

type Taking = Omit<FormField, 'name'>

const kinds: Record<string, string> = {
  email: 'email',
  number: 'number',
  password: 'password',
  passcode: 'password',
  phone: 'tel',
}

function wordField(part: Json, before: string): Taking {
  const type = textAt(part, 'type')
  const kind = kinds[textAt(part, 'input-type')] ?? (type === 'DatePicker' ? 'date' : 'text')
  const control = type === 'TextArea' ? el('textarea', { rows: 3 }) : el('input', { type: kind, autocomplete: 'off' })
  control.value = before
  const { view, complain } = labelled(labelOf(part), control, textAt(part, 'helper-text'))
  return {
    view,
    read() {
      const text = control.value.trim()
      const problem = wordProblem(part, text)
      complain(problem)
      return problem === undefined ? text : undefined
    },
  }
}

function wordProblem(part: Json, text: string): string | undefined {
  const label = textAt(part, 'label')
  if (text === '') return part.required === true ? `${label} is needed.` : undefined
  if (textAt(part, 'input-type') === 'email' && !/^\S+@\S+\.\S+$/.test(text))
    return `${label} looks like name@example.com.`
  const [min, max] = [Number(part['min-chars'] ?? 0), Number(part['max-chars'] ?? part['max-length'] ?? Infinity)]
  if (text.length < min) return `${label} has at least ${min} characters.`
  if (text.length > max) return `${label} has at most ${max} characters.`
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

function dropdown(part: Json, before: string): Taking {
  const options = choicesOf(part).map(({ id, title }) => el('option', { value: id, selected: id === before }, title))
  const control = el('select', {}, el('option', { value: '' }, 'Choose…'), ...options)
  const { view, complain } = labelled(labelOf(part), control, textAt(part, 'helper-text'))
  return {
    view,
    read() {
      const problem = part.required === true && control.value === '' ? 'Choose one.' : undefined
      complain(problem)
      return problem === undefined ? control.value : undefined
    },
  }
}

let groups = 0

function choices(part: Json, before: Value | undefined): Taking {
  const many = textAt(part, 'type') !== 'RadioButtonsGroup'
  const group = `group-${++groups}`
  const chosen = Array.isArray(before) ? before : [before]
  const boxes = choicesOf(part).map(({ id, title, description }) => {
    const box = el('input', { type: many ? 'checkbox' : 'radio', name: group, value: id })
    box.checked = chosen.some((one) => one === id)
    const words = el('span', {}, el('strong', {}, title), description && el('span', {}, description))
    return { box, view: el('label', { class: 'option' }, box, words) }
  })
  const words = el('p', { class: 'field-words' }, textAt(part, 'description'))
  const view = el(
    'fieldset',
    { class: 'field' },
    el('legend', {}, labelOf(part)),
    boxes.map((one) => one.view),
    words,
  )
  return {
    view,
    read() {
      const ids = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value)
      const lacks = part.required === true && ids.length === 0
      words.textContent = lacks ? 'Choose at least one.' : textAt(part, 'description')
      view.classList.toggle('wrong', lacks)
      return lacks ? undefined : many ? ids : (ids[0] ?? '')
    },
  }
}

function consent(part: Json, before: boolean): Taking {
  const box = el('input', { type: 'checkbox' })
  box.checked = before
  const words = el('p', { class: 'field-words' })
  const view = el(
    'div',
    { class: 'field' },
    el('label', { class: 'option' }, box, el('span', {}, labelOf(part))),
    words,
  )
  return {
    view,
    read() {
      const lacks = part.required === true && !box.checked
      words.textContent = lacks ? 'This is needed to go on.' : ''
      view.classList.toggle('wrong', lacks)
      return lacks ? undefined : box.checked
    },
  }
}
