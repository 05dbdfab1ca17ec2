import { el, type Props } from './dom.ts'

let fields = 0

export interface Field<T> {
  view: HTMLElement
  /** What was entered; undefined when it will not do, which the field then says. */
  read: () => T | undefined
}

/** A label, a control and a place for what is wrong with it. */
export function labelled(label: string, control: HTMLElement, hint = '') {
  const id = `field-${++fields}`
  const words = el('p', { class: 'field-words', id: `${id}-words` }, hint)
  control.id ||= id
  control.setAttribute('aria-describedby', words.id)
  const view = el('div', { class: 'field' }, el('label', { for: control.id }, label), control, words)
  const complain = (problem: string | undefined) => {
    words.textContent = problem ?? hint
    view.classList.toggle('wrong', problem !== undefined)
    control.setAttribute('aria-invalid', String(problem !== undefined))
  }
  return { view, complain }
}

export function textField(label: string, props: Props, check: (text: string) => string | undefined): Field<string> {
  const control = el('input', { type: 'text', autocomplete: 'off', ...props })
  const { view, complain } = labelled(label, control)
  return {
    view,
    read() {
      const problem = check(control.value.trim())
      complain(problem)
      return problem === undefined ? control.value.trim() : undefined
    },
  }
}

export function numberField(label: string, name: string, value: string, min: number, max: number): Field<number> {
  const isFine = (text: string) => text !== '' && Number(text) >= min && Number(text) <= max
  const field = textField(label, { name, value, inputmode: 'decimal' }, (text) =>
    isFine(text) ? undefined : `${label} is a number from ${min} to ${max}.`,
  )
  return {
    view: field.view,
    read: () => {
      const text = field.read()
      return text === undefined ? undefined : Number(text)
    },
  }
}
