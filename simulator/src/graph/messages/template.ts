import { arrayIn, isObject, type Json, objectIn, scalarIn, textIn, toText } from '../../json.ts'
import { GraphError, refuse } from '../../network/errors.ts'
import { findTemplate, type Template } from '../../world.ts'
import { type Check, checkCoordinates, checkMedia } from './check.ts'
import { checkButtons } from './template-buttons.ts'
import { checkParamText, fill, variablesOf } from './template-text.ts'

/** A template message names an approved template and must have exactly the parameters of its variables. */
export function checkTemplate(check: Check, content: unknown): void {
  const template = sendableTemplate(check, content)
  const components = arrayIn(content, 'components') ?? []
  const sent = components.filter(isObject)
  if (sent.length !== components.length) refuse(131009, "template['components'] must be a list of objects")
  for (const component of sent)
    if (!componentTypes.includes(typeOf(component)))
      refuse(100, `Unexpected component type '${toText(component.type)}'`)
  checkParts(check, template, template.components, sent)
  checkTapTarget(sent.find((component) => typeOf(component) === 'tap_target_configuration'))
}

/** A page that opens when the message is tapped. */
function checkTapTarget(sent: Json | undefined): void {
  if (!sent) return
  const [parameter] = arrayIn(sent, 'parameters') ?? []
  const [target] = arrayIn(parameter, 'tap_target_configuration') ?? []
  if (!textIn(target, 'title') || !URL.canParse(textIn(target, 'url') ?? ''))
    refuse(131008, "tap_target_configuration: 'url' and 'title' are mandatory")
}

const componentTypes = [
  'header',
  'body',
  'button',
  'limited_time_offer',
  'carousel',
  'footer',
  'tap_target_configuration',
]

/** The template of the message, if it can be sent. */
function sendableTemplate(check: Check, content: unknown): Template {
  const name = textIn(content, 'name')
  const language = textIn(objectIn(content, 'language'), 'code')
  if (!name) return refuse(131008, "Parameter 'name' is mandatory for type 'template'")
  if (!language) return refuse(131008, "Parameter 'language' is mandatory for type 'template'")
  const template = findTemplate(check.world, check.number.wabaId, name, language)
  if (template?.status === 'PAUSED') refuse(132015)
  if (template?.status === 'DISABLED') refuse(132016)
  if (template?.status !== 'APPROVED') return refuse(132001, `template name (${name}) does not exist in ${language}`)
  return template
}

/** Checks the components of a template or of a carousel card. */
function checkParts(check: Check, template: Template, defined: Json[], sent: Json[]): void {
  const find = (type: string) => defined.find((component) => typeOf(component) === type)
  const given = (type: string) => sent.find((component) => typeOf(component) === type)
  checkHeader(check, template, find('header'), given('header'))
  checkTexts(template, 'body', find('body'), given('body'), bodyMax(defined))
  checkButtons(
    template,
    arrayIn(find('buttons'), 'buttons') ?? [],
    sent.filter((c) => typeOf(c) === 'button'),
  )
  checkOffer(find('limited_time_offer'), given('limited_time_offer'))
  checkCarousel(check, template, find('carousel'), given('carousel'))
}

/** A template with only a body may have a longer text. */
function bodyMax(defined: Json[]): number {
  return defined.length === 1 ? 32_768 : 1024
}

function checkHeader(check: Check, template: Template, defined: Json | undefined, sent: Json | undefined): void {
  const format = (textIn(defined, 'format') ?? '').toUpperCase()
  if (!defined || format === 'TEXT') checkTexts(template, 'header', defined, sent, 60)
  else checkHeaderObject(check, format, sent)
}

function checkHeaderObject(check: Check, format: string, sent: Json | undefined): void {
  const parameters = arrayIn(sent, 'parameters') ?? []
  const [parameter] = parameters
  const received = (textIn(parameter, 'type') ?? 'unknown').toUpperCase()
  if (received !== format) refuse(132012, `header: Format mismatch, expected ${format}, received ${received}`)
  if (parameters.length > 1) countMismatch('header', parameters.length, 1)
  const value = objectIn(parameter, format.toLowerCase())
  if (!value) refuse(131008, `header: parameter of type ${format} has no '${format.toLowerCase()}'`)
  const path = "template['components'][0]['parameters'][0]"
  if (format === 'LOCATION') checkCoordinates(value, 'location')
  else if (format === 'PRODUCT') {
    if (!scalarIn(value, 'product_retailer_id')) refuse(131008, "header: 'product_retailer_id' is mandatory")
  } else {
    const kind = format === 'GIF' ? 'video' : (format.toLowerCase() as 'image' | 'video' | 'document')
    checkMedia(check, kind, value, `${path}['${kind}']`)
  }
}

/** Text variables of a header or body, positional or named. */
function checkTexts(
  template: Template,
  part: 'header' | 'body',
  defined: Json | undefined,
  sent: Json | undefined,
  max: number,
): void {
  const text = textIn(defined, 'text') ?? ''
  const variables = variablesOf(text)
  const parameters = arrayIn(sent, 'parameters') ?? []
  const isNamed = template.parameterFormat === 'NAMED'
  if (isNamed && parameters.length > 0) checkNames(variables, parameters)
  if (parameters.length !== variables.length) countMismatch(part, parameters.length, variables.length)
  const values = parameters.map((parameter) => textOf(part, parameter))
  const names = isNamed ? parameters.map((parameter) => textIn(parameter, 'parameter_name') ?? '') : variables
  const filled = fill(text, names, values)
  if ([...filled].length > max) refuse(132005, `${part}: translated text is longer than ${max} characters`)
}

function checkNames(variables: string[], parameters: unknown[]): void {
  const names = parameters.map((parameter) => textIn(parameter, 'parameter_name'))
  if (names.some((name) => !name)) throw new GraphError(100, { details: 'Parameter name is missing or empty' })
  const unknown = names.find((name) => !variables.includes(name ?? ''))
  if (unknown) throw new GraphError(100, { details: `Parameter name ${unknown} does not exist in the template` })
  if (new Set(names).size !== names.length) throw new GraphError(100, { details: 'Parameter name is repeated' })
}

function textOf(part: string, parameter: unknown): string {
  const type = textIn(parameter, 'type') ?? 'unknown'
  if (type === 'text') return checkParamText(isObject(parameter) ? parameter.text : undefined)
  if (type === 'currency' || type === 'date_time') {
    const value = objectIn(parameter, type)
    if (
      type === 'currency' &&
      (!/^[A-Z]{3}$/.test(textIn(value, 'code') ?? '') || !Number.isInteger(value?.amount_1000))
    )
      refuse(131008, `${part}: a currency parameter needs 'code' and 'amount_1000'`)
    return checkParamText(textIn(value, 'fallback_value'))
  }
  return refuse(132012, `${part}: Format mismatch, expected TEXT, received ${type.toUpperCase()}`)
}

function countMismatch(part: string, received: number, expected: number): never {
  return refuse(
    132000,
    `${part}: number of localizable_params (${received}) does not match the expected number of params (${expected})`,
  )
}

function checkOffer(defined: Json | undefined, sent: Json | undefined): void {
  const offer = objectIn(defined, 'limited_time_offer')
  if (offer?.has_expiration !== true) return
  const [parameter] = arrayIn(sent, 'parameters') ?? []
  const at = objectIn(parameter, 'limited_time_offer')?.expiration_time_ms
  if (typeof at !== 'number') refuse(131008, "limited_time_offer: 'expiration_time_ms' is mandatory")
}

function checkCarousel(check: Check, template: Template, defined: Json | undefined, sent: Json | undefined): void {
  const cards = arrayIn(defined, 'cards') ?? []
  const given = arrayIn(sent, 'cards') ?? []
  if (given.length !== cards.length)
    refuse(132012, `carousel: expected ${cards.length} cards, received ${given.length}`)
  for (const [index, card] of cards.entries()) {
    const match = given.find((candidate) => scalarIn(candidate, 'card_index') === String(index))
    if (!match) refuse(131008, `carousel: card with card_index ${index} is missing`)
    const components = (arrayIn(card, 'components') ?? []).filter(isObject)
    checkParts(check, template, components, (arrayIn(match, 'components') ?? []).filter(isObject))
  }
}

function typeOf(component: Json): string {
  return (textIn(component, 'type') ?? '').toLowerCase()
}
