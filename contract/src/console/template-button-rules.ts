/** WhatsApp's rules for the buttons of a template. */
import { asArray, asObject, type ButtonDraft, buttonTypes, partOf, upper, withoutVariables } from './template-draft.ts'
import { lengthOf, problem, type TemplateProblem, textOf } from './template-problem.ts'

export const buttonTextMax = 25
export const buttonsMax = 10
const urlMax = 2000
const phoneMax = 20
const codeMax = 15

/** How many buttons of a kind a template may have. */
export const buttonLimits: Readonly<Record<string, number>> = {
  QUICK_REPLY: 10,
  URL: 2,
  PHONE_NUMBER: 1,
  COPY_CODE: 1,
  FLOW: 1,
}

const buttonNames: Readonly<Record<string, string>> = {
  QUICK_REPLY: 'quick-reply buttons',
  URL: 'URL buttons',
  PHONE_NUMBER: 'phone-number button',
  COPY_CODE: 'copy-code button',
  FLOW: 'form button',
}

export function checkButtons(components: readonly unknown[]): TemplateProblem[] {
  const part = asObject(partOf(components, 'BUTTONS'))
  if (!part) return []
  const buttons = asArray(part.buttons).map((each) => asObject(each) ?? {}) as Partial<ButtonDraft>[]
  const types = buttons.map(({ type }) => upper(type))
  const found: TemplateProblem[] = []
  if (buttons.length === 0) found.push(problem('buttons', 'Add a button, or remove the buttons.'))
  if (buttons.length > buttonsMax)
    found.push(problem('buttons', `Remove buttons: a template has at most ${buttonsMax}.`))
  for (const [type, max] of Object.entries(buttonLimits))
    if (types.filter((each) => each === type).length > max && max < buttonsMax)
      found.push(problem('buttons', `Remove buttons: a template has at most ${max} ${buttonNames[type]}.`))
  const groups = types.filter((type, at) => at === 0 || (type === 'QUICK_REPLY') !== (types[at - 1] === 'QUICK_REPLY'))
  if (groups.length > 2)
    found.push(problem('buttons', 'Place the quick-reply buttons next to each other, before or after the others.'))
  return [...found, ...buttons.flatMap((button, index) => checkButton(button, `buttons.${index}`))]
}

function checkButton(button: Partial<ButtonDraft>, at: string): TemplateProblem[] {
  const type = upper(button.type)
  const found: TemplateProblem[] = []
  const text = textOf(button.text)
  if (!(buttonTypes as readonly string[]).includes(type) || type === 'OTP')
    return [problem(`${at}.type`, `Choose another kind of button: ${Object.keys(buttonLimits).join(', ')}.`)]
  // WhatsApp writes the text of a copy-code button.
  if (text.trim() === '' && type !== 'COPY_CODE') found.push(problem(`${at}.text`, 'Enter the text of the button.'))
  if (lengthOf(text) > buttonTextMax)
    found.push(problem(`${at}.text`, `Shorten the text of the button to at most ${buttonTextMax} characters.`))
  if (/\{\{|\}\}/.test(text)) found.push(problem(`${at}.text`, 'Remove the variable: the text of a button has none.'))
  if (type === 'URL') found.push(...checkUrl(button, at))
  if (type === 'PHONE_NUMBER' && !/^\+?[0-9][0-9 ()-]*$/.test(textOf(button.phone_number)))
    found.push(problem(`${at}.phone_number`, 'Enter the phone number with its country code, such as +15550780001.'))
  if (lengthOf(textOf(button.phone_number)) > phoneMax)
    found.push(problem(`${at}.phone_number`, `Shorten the phone number to at most ${phoneMax} characters.`))
  const example = firstText(button.example)
  if (type === 'COPY_CODE' && (example.trim() === '' || lengthOf(example) > codeMax))
    found.push(problem(`${at}.example`, `Enter an example of the code, at most ${codeMax} characters.`))
  if (type === 'FLOW' && !/^\d+$/.test(String(button.flow_id ?? '')))
    found.push(problem(`${at}.flow_id`, 'Choose the form that the button opens.'))
  return found
}

function checkUrl(button: Partial<ButtonDraft>, at: string): TemplateProblem[] {
  const url = textOf(button.url)
  const found: TemplateProblem[] = []
  const filled = withoutVariables(url, 'x')
  if (!/^https?:\/\/[^\s]+$/.test(filled) || !URL.canParse(filled))
    found.push(problem(`${at}.url`, 'Enter a whole URL, such as https://shop.example/orders.'))
  if (url.length > urlMax) found.push(problem(`${at}.url`, `Shorten the URL to at most ${urlMax} characters.`))
  if (!/\{\{|\}\}/.test(url)) return found
  if (!/^[^{}]+\{\{1\}\}$/.test(url))
    found.push(problem(`${at}.url`, 'Use one variable, {{1}}, and place it at the end of the URL.'))
  if (firstText(button.example).trim() === '')
    found.push(problem(`${at}.example`, 'Enter the URL with an example in place of {{1}}. WhatsApp reviews it.'))
  return found
}

/** The one button of an authentication template. */
export function checkCodeButton(components: readonly unknown[]): TemplateProblem[] {
  const buttons = asArray(asObject(partOf(components, 'BUTTONS'))?.buttons).map(asObject)
  const found: TemplateProblem[] = []
  const [button] = buttons
  if (buttons.length !== 1 || upper(button?.type) !== 'OTP')
    return [problem('buttons', 'Add one button of the type OTP, which copies the code.')]
  const kind = upper(button?.otp_type)
  if (!['COPY_CODE', 'ONE_TAP', 'ZERO_TAP'].includes(kind))
    found.push(problem('buttons.0.otp_type', 'Choose COPY_CODE, ONE_TAP or ZERO_TAP.'))
  if (lengthOf(textOf(button?.text)) > buttonTextMax)
    found.push(problem('buttons.0.text', `Shorten the text of the button to at most ${buttonTextMax} characters.`))
  if ((kind === 'ONE_TAP' || kind === 'ZERO_TAP') && asArray(button?.supported_apps).length === 0)
    found.push(problem('buttons.0.supported_apps', 'Enter the package name and the signature hash of your app.'))
  return found
}

const firstText = (value: unknown): string => textOf(Array.isArray(value) ? value[0] : value)
