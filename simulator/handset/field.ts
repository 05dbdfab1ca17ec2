import { el, type Props } from './dom.ts'

let fields = 0

export interface Field<T> {
  view: HTMLElement
  /** The value; undefined if it is invalid, and then the field shows the problem. */
  read: () => T | undefined
}

/** A control with its label and a hint or error below it. */
export function labelledField(label: string, control: HTMLElement, hint = '') {
  const id = `field-${++fields}`
  const hintView = el('p', { class: 'field-words', id: `${id}-words` }, hint)
  control.id ||= id
  control.setAttribute('aria-describedby', hintView.id)
  const view = el('div', { class: 'field' }, el('label', { for: control.id }, label), control, hintView)
  const showProblem = (problem: string | undefined) => {
    hintView.textContent = problem ?? hint
    view.classList.toggle('wrong', problem !== undefined)
    control.setAttribute('aria-invalid', String(problem !== undefined))
  }
  return { view, showProblem }
}

export function textField(label: string, props: Props, check: (text: string) => string | undefined): Field<string> {
  const control = el('input', { type: 'text', autocomplete: 'off', ...props })
  const { view, showProblem } = labelledField(label, control)
  return {
    view,
    read() {
      const problem = check(control.value.trim())
      showProblem(problem)
      return problem === undefined ? control.value.trim() : undefined
    },
  }
}

export function numberField(label: string, name: string, value: string, min: number, max: number): Field<number> {
  const isValid = (text: string) => text !== '' && Number(text) >= min && Number(text) <= max
  const field = textField(label, { name, value, inputmode: 'decimal' }, (text) =>
    isValid(text) ? undefined : `${label} must be a number from ${min} to ${max}.`,
  )
  return {
    view: field.view,
    read: () => {
      const text = field.read()
      return text === undefined ? undefined : Number(text)
    },
  }
}
