import { act } from './acts.ts'
import type { Message } from './api.ts'
import type { CardButton } from './card.ts'
import { button, type Child, el } from './dom.ts'
import { FormRun, type Screen, type Value } from './form.ts'
import { formField } from './form-field.ts'
import { icon } from './icons.ts'
import { isObject, type Json, objectAt, textAt } from './json.ts'
import { openSheet, type Sheet } from './sheet.ts'
import { state } from './state.ts'
import { rich } from './text.ts'
import { toast } from './toast.ts'

/** Opens a form where the message says, and sends what was entered when its last screen is done. */
export function openForm(opening: Extract<CardButton, { kind: 'form' }>, message: Message): void {
  const flow = state.flows.find(({ id, name }) => id === opening.flow || name === opening.flow)
  if (!flow) {
    toast('This form is not known to the network.')
    return
  }
  const run = new FormRun(flow)
  openSheet(
    flow.name,
    (sheet) => {
      const visited: Screen[] = [run.first(opening.screen, opening.data)]
      const draw = () => showScreen(sheet, run, visited, finish)
      const finish = (action: Json, screen: Screen, values: Record<string, Value>) => {
        const step = run.follow(action, screen, values)
        if (step.kind === 'screen') {
          visited.push(step.screen)
          return draw()
        }
        sheet.close()
        void act('fillForm', { message: message.id, values: step.values, files: step.files }, `Form: ${flow.name}`)
      }
      draw()
      return null
    },
    'tall',
  )
}

function showScreen(
  sheet: Sheet,
  run: FormRun,
  visited: Screen[],
  follow: (action: Json, screen: Screen, values: Record<string, Value>) => void,
): void {
  const screen = visited.at(-1)
  if (!screen) return
  const before = run.entered(screen)
  const parts = screen.parts.map((part) => run.resolve(withoutAction(part), screen, before)).filter(isObject)
  const fields = parts.map((part) => formField(part, before[textAt(part, 'name')]))
  const footer = screen.parts.find((part) => textAt(part, 'type') === 'Footer')
  const submit = () => {
    const read = fields.flatMap((field) => (field ? [[field.name, field.read()] as const] : []))
    if (read.some(([, value]) => value === undefined)) {
      focusWrong(form)
      return
    }
    const values = Object.fromEntries(read) as Record<string, Value>
    follow(objectAt(footer, 'on-click-action'), screen, values)
  }
  const back = () => {
    visited.pop()
    showScreen(sheet, run, visited, follow)
  }
  const form = el(
    'form',
    { class: 'form', novalidate: true },
    parts.map((part, index) => fields[index]?.view ?? stillPart(part)),
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
  sheet.show(screen.title, stepsOf(run.length, visited.length), form)
}

function stepsOf(all: number, now: number): Child {
  if (all < 2) return null
  const dots = [...Array(all).keys()].map((index) => el('span', { class: index < now ? 'done' : '' }))
  return el('div', { class: 'steps', role: 'img', 'aria-label': `Step ${now} of ${all}` }, dots)
}

function stillPart(part: Json): Child {
  const text = textAt(part, 'text')
  switch (textAt(part, 'type')) {
    case 'TextHeading':
      return el('h3', { class: 'form-heading' }, text)
    case 'TextSubheading':
      return el('h4', {}, text)
    case 'TextBody':
    case 'RichText':
      return el('p', {}, ...rich(text))
    case 'TextCaption':
      return el('p', { class: 'field-words' }, text)
    default:
      return null
  }
}

/** An action is resolved when it is taken, not when the screen is drawn. */
function withoutAction({ 'on-click-action': _, ...part }: Json): Json {
  return part
}

function focusWrong(form: HTMLElement): void {
  form.querySelector<HTMLElement>('.wrong :is(input:not(.hidden-input), textarea, select, button)')?.focus()
}
