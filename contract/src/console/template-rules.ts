/**
 * WhatsApp's rules for templates, so that people see what is wrong while they write. WhatsApp checks them again, and reviews
 * the content.
 */
import { templateCategories } from '../template.ts'
import { checkButtons, checkCodeButton } from './template-button-rules.ts'
import {
  asArray,
  asObject,
  examplesOf,
  headerFormats,
  isNumber,
  partOf,
  upper,
  variablesIn,
  withoutVariables,
} from './template-draft.ts'
import { lengthOf, problem, type TemplateProblem, textOf } from './template-problem.ts'

export type { TemplateProblem }

type Written = { name: string; language: string; category: string; components: readonly unknown[] }

/** Every problem of a draft, in the order of its parts. Empty if WhatsApp's written rules allow it. */
export function checkTemplate(draft: Written): TemplateProblem[] {
  const { components } = draft
  const isCode = upper(draft.category) === 'AUTHENTICATION'
  return [
    ...checkName(draft),
    ...checkParts(components),
    ...(isCode ? checkCodeTemplate(components) : [...checkTexts(components), ...checkButtons(components)]),
  ]
}

export const nameMax = 512
export const bodyMax = 1024
export const headerMax = 60
export const footerMax = 60

function checkName({ name, language, category }: Written): TemplateProblem[] {
  const found: TemplateProblem[] = []
  if (name === '') found.push(problem('name', 'Enter a name.'))
  else if (!/^[a-z0-9_]+$/.test(name))
    found.push(problem('name', 'Use only lower-case letters a–z, digits and underscores in the name.'))
  if (name.length > nameMax) found.push(problem('name', `Shorten the name to at most ${nameMax} characters.`))
  if (!/^[a-z]{2,3}(_[A-Z]{2,3})?$/.test(language))
    found.push(problem('language', 'Enter the language as a code such as en_US, es or pt_BR.'))
  if (!(templateCategories as readonly string[]).includes(upper(category)))
    found.push(problem('category', `Choose a category: ${templateCategories.join(', ')}.`))
  return found
}

const partNames = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS']

function checkParts(components: readonly unknown[]): TemplateProblem[] {
  const types = components.map((each) => upper(asObject(each)?.type))
  const twice = partNames.filter((name) => types.filter((type) => type === name).length > 1)
  const foreign = types.filter((type) => !partNames.includes(type))
  return [
    ...twice.map((name) => problem(name.toLowerCase(), `Remove one: a template has only one part of type ${name}.`)),
    ...foreign.map((type) =>
      problem(
        'components',
        `Remove the part ${type || 'without a type'}, or make this template in Meta’s WhatsApp Manager.`,
      ),
    ),
    ...(types.includes('BODY') ? [] : [problem('body.text', 'Enter the text of the body.')]),
  ]
}

function checkTexts(components: readonly unknown[]): TemplateProblem[] {
  const header = asObject(partOf(components, 'HEADER'))
  const body = asObject(partOf(components, 'BODY'))
  const footer = asObject(partOf(components, 'FOOTER'))
  const names = [...variablesIn(header?.text), ...variablesIn(body?.text)]
  const isMixed = names.some(isNumber) && !names.every(isNumber)
  return [
    ...(header ? checkHeader(header) : []),
    ...(body ? checkBody(body) : []),
    ...(isMixed
      ? [problem('body.text', 'Number all variables of the header and the body, or give all of them names.')]
      : []),
    ...(footer ? checkFooter(footer) : []),
  ]
}

function checkHeader(header: Record<string, unknown>): TemplateProblem[] {
  const format = upper(header.format)
  if (!(headerFormats as readonly string[]).includes(format))
    return [problem('header.format', `Choose a format for the header: ${headerFormats.join(', ')}.`)]
  if (format === 'LOCATION') return []
  if (format !== 'TEXT') {
    const sample = asArray(asObject(header.example)?.header_handle)[0]
    const message = `Add a sample ${format.toLowerCase()}. WhatsApp reviews it with the template.`
    return typeof sample === 'string' && sample !== '' ? [] : [problem('header.example', message)]
  }
  const text = textOf(header.text)
  const found = checkText('header', header, headerMax)
  if (variablesIn(text).length > 1) found.push(problem('header.text', 'Keep one variable: a header can have only one.'))
  if (/[\n\r*]|\p{Emoji_Presentation}/u.test(text))
    found.push(problem('header.text', 'Remove line breaks, asterisks and emoji from the header.'))
  return found
}

function checkBody(body: Record<string, unknown>): TemplateProblem[] {
  const text = textOf(body.text)
  const found = checkText('body', body, bodyMax)
  const at = (message: string) => found.push(problem('body.text', message))
  const trimmed = text.trim()
  if (/^\{\{[^{}]*\}\}/.test(trimmed)) at('Write text before the first variable: the body cannot start with one.')
  if (/\{\{[^{}]*\}\}$/.test(trimmed)) at('Write text after the last variable: the body cannot end with one.')
  if (/\{\{[^{}]*\}\}\s*\{\{/.test(trimmed)) at('Write text between variables that follow each other.')
  const variables = variablesIn(text).length
  if (variables > 0 && wordsIn(text) < 2 * variables + 1)
    at(
      `Write at least ${2 * variables + 1} words besides the ${variables === 1 ? 'variable' : `${variables} variables`}, or remove variables.`,
    )
  return found
}

/** Words outside of variables. In a script without spaces every character counts. */
function wordsIn(text: string): number {
  const bare = withoutVariables(text)
  const dense = bare.match(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/gu,
  )
  return (dense?.length ?? 0) + bare.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

function checkText(part: 'header' | 'body', component: Record<string, unknown>, max: number): TemplateProblem[] {
  const text = textOf(component.text)
  const path = `${part}.text`
  if (text.trim() === '') return [problem(path, `Enter the text of the ${part}.`)]
  const found: TemplateProblem[] = []
  if (lengthOf(text) > max) found.push(problem(path, `Shorten the ${part} to at most ${max} characters.`))
  if (/\{\{|\}\}/.test(withoutVariables(text)))
    found.push(problem(path, 'Write every variable as {{1}} or {{first_name}}: two braces on each side.'))
  return [...found, ...checkVariables(part, text, examplesOf(part, component))]
}

function checkVariables(part: 'header' | 'body', text: string, examples: Record<string, string>): TemplateProblem[] {
  const names = variablesIn(text)
  const path = `${part}.text`
  const found: TemplateProblem[] = []
  const numbers = names.filter(isNumber).map(Number)
  const isComplete = numbers.every((number) => number >= 1 && number <= numbers.length)
  if (!isComplete) found.push(problem(path, `Number the variables of the ${part} from {{1}} without gaps.`))
  const unclear = names.find((name) => !isNumber(name) && !/^[a-z0-9_]+$/.test(name))
  if (unclear !== undefined)
    found.push(problem(path, `Write the variable {{${unclear}}} with lower-case letters, digits and underscores.`))
  for (const name of names)
    if (examples[name] === undefined)
      found.push(problem(`${part}.example.${name}`, `Enter an example for {{${name}}}. WhatsApp reviews it.`))
  return found
}

function checkFooter(footer: Record<string, unknown>): TemplateProblem[] {
  const text = textOf(footer.text)
  const found: TemplateProblem[] = []
  if (text.trim() === '') found.push(problem('footer.text', 'Enter the text of the footer, or remove the footer.'))
  if (lengthOf(text) > footerMax)
    found.push(problem('footer.text', `Shorten the footer to at most ${footerMax} characters.`))
  if (/\{\{|\}\}/.test(text)) found.push(problem('footer.text', 'Remove the variables: a footer cannot have any.'))
  return found
}

/** WhatsApp writes the texts of an authentication template; people choose the advice, the expiry and the button. */
function checkCodeTemplate(components: readonly unknown[]): TemplateProblem[] {
  const found: TemplateProblem[] = []
  const body = asObject(partOf(components, 'BODY'))
  const footer = asObject(partOf(components, 'FOOTER'))
  if (partOf(components, 'HEADER'))
    found.push(problem('header', 'Remove the header: an authentication template has none.'))
  if (body?.text !== undefined)
    found.push(problem('body.text', 'Remove the text: WhatsApp writes the body of an authentication template.'))
  if (footer?.text !== undefined)
    found.push(problem('footer.text', 'Remove the text, and set after how many minutes the code expires.'))
  const minutes = footer?.code_expiration_minutes
  if (footer && !(Number.isInteger(minutes) && Number(minutes) >= 1 && Number(minutes) <= 90))
    found.push(problem('footer.code_expiration_minutes', 'Enter 1 to 90 minutes.'))
  return [...found, ...checkCodeButton(components)]
}
