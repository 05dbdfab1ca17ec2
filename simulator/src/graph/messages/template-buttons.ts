import { arrayIn, isObject, type Json, lengthOf, objectIn, scalarIn, textIn } from '../../json.ts'
import { refuse } from '../../network/errors.ts'
import type { Template } from '../../world.ts'
import { checkTtl } from './interactive-objects.ts'
import { checkParamText, variablesOf } from './template-text.ts'

/** The parameter that a button takes when sending: its sub_type and whether it is required. */
interface ButtonRule {
  subType: string
  /** The most parameters. */
  max?: number
  label: string
  required: boolean
  check: (parameter: unknown, template: Template) => void
}

/** A button is addressed by its index among all buttons of the template, as a number or a string. */
export function checkButtons(template: Template, defined: unknown[], sent: Json[]): void {
  const given = new Map<string, Json>()
  for (const component of sent) {
    // Meta's samples of a call button have no index.
    const callButton = defined.findIndex((button) => ruleOf(button)?.subType === 'voice_call')
    const isCall = textIn(component, 'sub_type')?.toLowerCase() === 'voice_call' && callButton !== -1
    const index = scalarIn(component, 'index') ?? (isCall ? String(callButton) : undefined)
    if (index === undefined) refuse(131008, "buttons: 'index' is mandatory")
    if (!defined[Number(index)]) refuse(131009, `buttons: Button at index ${index} does not exist in the template`)
    given.set(String(Number(index)), component)
  }
  defined.forEach((button, index) => {
    checkButton(template, ruleOf(button), index, given.get(String(index)))
  })
}

function checkButton(template: Template, rule: ButtonRule | undefined, index: number, sent: Json | undefined): void {
  if (!rule) {
    if (sent) refuse(131009, `buttons: Button at index ${index} takes no parameters`)
    return
  }
  const parameters = arrayIn(sent, 'parameters') ?? []
  if (parameters.length === 0) {
    if (rule.required) refuse(131008, `buttons: Button at index ${index} of type ${rule.label} requires a parameter`)
    return
  }
  const subType = (textIn(sent, 'sub_type') ?? '').toLowerCase()
  if (subType !== rule.subType)
    refuse(
      132012,
      `buttons: Format mismatch at index ${index}, expected ${rule.subType.toUpperCase()}, received ${subType.toUpperCase() || 'UNKNOWN'}`,
    )
  const { max = 1 } = rule
  if (parameters.length > max)
    refuse(
      132000,
      `buttons: number of localizable_params (${parameters.length}) does not match the expected number of params (${max})`,
    )
  for (const parameter of parameters) rule.check(parameter, template)
}

function ruleOf(button: unknown): ButtonRule | undefined {
  switch ((textIn(button, 'type') ?? '').toUpperCase()) {
    case 'URL':
      return variablesOf(textIn(button, 'url') ?? '').length > 0
        ? { subType: 'url', label: 'Url', required: true, check: checkUrl }
        : undefined
    case 'COPY_CODE':
      return { subType: 'copy_code', label: 'CopyCode', required: true, check: checkCoupon }
    case 'QUICK_REPLY':
      return {
        subType: 'quick_reply',
        label: 'QuickReply',
        required: false,
        check: (parameter) => checkPayload(parameter),
      }
    case 'FLOW':
      return { subType: 'flow', label: 'Flow', required: false, check: checkFlow }
    case 'CATALOG':
      return { subType: 'catalog', label: 'Catalog', required: false, check: checkAction }
    case 'MPM':
      return { subType: 'mpm', label: 'Mpm', required: true, check: checkAction }
    case 'VOICE_CALL':
      return { subType: 'voice_call', label: 'VoiceCall', required: false, max: 2, check: checkCall }
    default:
      return undefined
  }
}

function checkUrl(parameter: unknown, template: Template): void {
  expectType(parameter, 'text')
  const text = checkParamText(isObject(parameter) ? parameter.text : undefined)
  if (template.category === 'AUTHENTICATION' && lengthOf(text) > 15)
    refuse(131009, 'buttons: a one-time code is at most 15 characters long')
}

function checkCoupon(parameter: unknown): void {
  expectType(parameter, 'coupon_code')
  const code = checkParamText(isObject(parameter) ? parameter.coupon_code : undefined)
  if (lengthOf(code) > 20) refuse(131009, 'buttons: coupon_code is at most 20 characters long')
}

function checkPayload(parameter: unknown, max = 256): void {
  expectType(parameter, 'payload')
  const payload = textIn(parameter, 'payload') ?? ''
  if (lengthOf(payload) < 1 || lengthOf(payload) > max)
    refuse(131009, `buttons: payload length invalid. Min length: 1, Max length: ${max}`)
}

function checkCall(parameter: unknown): void {
  if (textIn(parameter, 'type') === 'ttl_minutes') checkTtl(isObject(parameter) ? parameter.ttl_minutes : undefined)
  else checkPayload(parameter, 512)
}

function checkFlow(parameter: unknown): void {
  checkAction(parameter)
  const data = objectIn(parameter, 'action')?.flow_action_data
  if (data !== undefined && (!isObject(data) || Object.keys(data).length === 0))
    refuse(131009, 'buttons: flow_action_data must be a non-empty object')
}

function checkAction(parameter: unknown): void {
  expectType(parameter, 'action')
  if (!objectIn(parameter, 'action')) refuse(131008, "buttons: 'action' is mandatory")
}

function expectType(parameter: unknown, type: string): void {
  const received = textIn(parameter, 'type') ?? 'unknown'
  if (received !== type)
    refuse(132012, `buttons: Format mismatch, expected ${type.toUpperCase()}, received ${received.toUpperCase()}`)
}
