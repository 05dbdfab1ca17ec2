import { performAction } from './actions.ts'
import type { Message } from './api.ts'
import type { CardButton } from './card.ts'
import { button, type Child, el } from './dom.ts'
import { FormSession, type Screen, type Value } from './form.ts'
import { formField } from './form-field.ts'
import { icon } from './icons.ts'
import { isObject, type Json, objectAt, textAt } from './json.ts'
import { openSheet, type Sheet } from './sheet.ts'
import { state } from './state.ts'
import { formatted } from './text.ts'
import { toast } from './toast.ts'

/** Opens the form of a message on its first screen, and submits the values after the last screen. */
export function openForm(opening: Extract<CardButton, { kind: 'form' }>, message: Message): void {
  const flow = state.flows.find(({ id, name }) => id === opening.flow || name === opening.flow)
  if (!flow) {
    toast('Form not found in the simulated network.')
    return
  }
  const session = new FormSession(flow)
  openSheet(
    flow.name,
    (sheet) => {
      const visited: Screen[] = [session.first(opening.screen, opening.data)]
      const draw = () => showScreen(sheet, session, visited, finish)
      const finish = (action: Json, screen: Screen, values: Record<string, Value>) => {
        const step = session.follow(action, screen, values)
        if (step.kind === 'screen') {
          visited.push(step.screen)
          return draw()
        }
        sheet.close()
        void performAction(
          'fillForm',
          { message: message.id, values: step.values, files: step.files },
          `Form submission: ${flow.name}`,
        )
      }
      draw()
      return null
    },
    'tall',
  )
}

function showScreen(
  sheet: Sheet,
  session: FormSession,
  visited: Screen[],
  follow: (action: Json, screen: Screen, values: Record<string, Value>) => void,
): void {
  const screen = visited.at(-1)
  if (!screen) return
  const before = session.entered(screen)
  const parts = screen.parts.map((part) => session.resolve(withoutAction(part), screen, before)).filter(isObject)
  const fields = parts.map((part) => formField(part, before[textAt(part, 'name')]))
  const footer = screen.parts.find((part) => textAt(part, 'type') === 'Footer')
  const submit = () => {
    const read = fields.flatMap((field) => (field ? [[field.name, field.read()] as const] : []))
    if (read.some(([, value]) => value === undefined)) {
      focusFirstInvalid(form)
      return
    }
    const values = Object.fromEntries(read) as Record<string, Value>
    follow(objectAt(footer, 'on-click-action'), screen, values)
  }
  const back = () => {
    visited.pop()
    showScreen(sheet, session, visited, follow)
  }
  const form = el(
    'form',
    { class: 'form', novalidate: true },
    parts.map((part, index) => fields[index]?.view ?? staticPart(part)),
    el(
      'div',
      { class: 'form-foot' },
      visited.length > 1 && button({ class: 'secondary' }, back, icon('back', 18), 'Back'),
      el('button', { type: 'submit', class: 'primary' }, textAt(footer, 'label') || 'Send'),
    ),
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    submit()
  })
  sheet.show(screen.title, stepsOf(session.length, visited.length), form)
}

function stepsOf(all: number, now: number): Child {
  if (all < 2) return null
  const dots = [...Array(all).keys()].map((index) => el('span', { class: index < now ? 'done' : '' }))
  return el('div', { class: 'steps', role: 'img', 'aria-label': `Step ${now} of ${all}` }, dots)
}

function staticPart(part: Json): Child {
  const text = textAt(part, 'text')
  switch (textAt(part, 'type')) {
    case 'TextHeading':
      return el('h3', { class: 'form-heading' }, text)
    case 'TextSubheading':
      return el('h4', {}, text)
    case 'TextBody':
    case 'RichText':
      return el('p', {}, ...formatted(text))
    case 'TextCaption':
      return el('p', { class: 'field-words' }, text)
    default:
      return null
  }
}

/** An action is resolved when it runs, not when the screen is rendered. */
function withoutAction({ 'on-click-action': _, ...part }: Json): Json {
  return part
}

function focusFirstInvalid(form: HTMLElement): void {
  form.querySelector<HTMLElement>('.wrong :is(input:not(.hidden-input), textarea, select, button)')?.focus()
}
