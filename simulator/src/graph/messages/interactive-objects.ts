import { arrayIn, isObject, type Json, lengthOf, objectIn, scalarIn, textIn } from '../../json.ts'
import { refuse } from '../../network/errors.ts'
import type { Check } from './check.ts'

/** A flow message names a flow of this account, by ID or name, and the screen to open. */
export function checkFlowAction(check: Check, action: Json): void {
  const parameters = objectIn(action, 'parameters')
  if (textIn(action, 'name') !== 'flow') refuse(131009, "Action name must be 'flow'")
  if (!parameters) refuse(131008, "Parameter 'parameters' is mandatory for interactive type 'flow'")
  if (scalarIn(parameters, 'flow_message_version') !== '3') refuse(131009, "flow_message_version must be '3'")
  const id = scalarIn(parameters, 'flow_id')
  const name = textIn(parameters, 'flow_name')
  if (!id === !name) refuse(131009, "Exactly one of 'flow_id' and 'flow_name' is required")
  const cta = textIn(parameters, 'flow_cta') ?? ''
  if (lengthOf(cta) < 1 || lengthOf(cta) > 30) refuse(131009, 'flow_cta length invalid. Min length: 1, Max length: 30')
  if (/\p{Extended_Pictographic}/u.test(cta)) refuse(131009, 'flow_cta must not contain emoji')
  checkFlowState(check, id, name, textIn(parameters, 'mode') ?? 'published')
  checkFirstScreen(parameters)
}

function checkFlowState(check: Check, id: string | undefined, name: string | undefined, mode: string): void {
  const flows = [...check.world.flows.values()].filter((flow) => flow.wabaId === check.number.wabaId)
  const flow = flows.find((candidate) => candidate.id === id || candidate.name === name)
  if (!flow) refuse(131009, `Flow ${id ?? name} does not exist in this WhatsApp Business Account`)
  if (flow.status === 'BLOCKED') refuse(132068)
  if (flow.status === 'THROTTLED') refuse(132069)
  if (mode !== 'published' && mode !== 'draft') refuse(131009, "mode must be 'published' or 'draft'")
  if (mode === 'published' && flow.status !== 'PUBLISHED') refuse(131009, `Flow ${flow.id} is not published`)
}

function checkFirstScreen(parameters: Json): void {
  const action = textIn(parameters, 'flow_action') ?? 'navigate'
  const payload = objectIn(parameters, 'flow_action_payload')
  if (action === 'data_exchange') {
    if (payload) refuse(131009, "flow_action_payload must be absent when flow_action is 'data_exchange'")
    return
  }
  if (action !== 'navigate') refuse(131009, "flow_action must be 'navigate' or 'data_exchange'")
  if (payload?.screen !== undefined && !textIn(payload, 'screen'))
    refuse(131009, "flow_action_payload: 'screen' must be the ID of a screen")
  const data = payload?.data
  if (data !== undefined && (!isObject(data) || Object.keys(data).length === 0))
    refuse(131009, "flow_action_payload: 'data' must be a non-empty object")
}

/** Single- and multi-product messages: every product must be in a catalog of this account. */
export function checkProducts(check: Check, action: Json): void {
  const catalog = check.world.catalogs.get(scalarIn(action, 'catalog_id') ?? '')
  if (!catalog || catalog.wabaId !== check.number.wabaId) refuse(131009, 'catalog_id is not a catalog of this business')
  const sections = arrayIn(action, 'sections')
  const items = sections ? sections.flatMap((section) => arrayIn(section, 'product_items') ?? []) : [action]
  if (sections && (sections.length > 10 || items.length < 1 || items.length > 30))
    refuse(131009, 'A product list has 1 to 30 products in up to 10 sections')
  for (const item of items) {
    const sku = scalarIn(item, 'product_retailer_id')
    if (!sku) refuse(131008, "Parameter 'product_retailer_id' is mandatory")
    if (!catalog.products.some((product) => product.retailerId === sku))
      refuse(131009, `Product ${sku} is not in the catalog`)
  }
}

export function checkCallButton(_check: Check, action: Json): void {
  if (textIn(action, 'name') !== 'voice_call') refuse(131009, "Action name must be 'voice_call'")
  const parameters = objectIn(action, 'parameters')
  if (lengthOf(textIn(parameters, 'display_text') ?? '') > 20) refuse(131009, 'display_text is at most 20 characters')
  checkTtl(parameters?.ttl_minutes)
  if (lengthOf(textIn(parameters, 'payload') ?? '') > 512) refuse(131009, 'payload is at most 512 characters long')
}

/** How long a call button can be used. */
export function checkTtl(minutes: unknown): void {
  const isValid = Number.isInteger(minutes) && Number(minutes) >= 1 && Number(minutes) <= 43_200
  if (minutes !== undefined && !isValid) refuse(131009, 'ttl_minutes must be from 1 to 43200')
}

/** An order to pay needs a type, a currency and the total. Its status needs the order or its payment. */
export function checkOrder(name: 'review_and_pay' | 'review_order') {
  return (_check: Check, action: Json): void => {
    if (textIn(action, 'name') !== name) refuse(131009, `Action name must be '${name}'`)
    const parameters = objectIn(action, 'parameters')
    if (!textIn(parameters, 'reference_id')) refuse(131008, "Parameter 'reference_id' is mandatory")
    if (name === 'review_order') {
      const status = objectIn(parameters, 'order') ?? objectIn(parameters, 'payment')
      if (!textIn(status, 'status')) refuse(131008, "Parameter 'status' is mandatory")
      return
    }
    const total = objectIn(parameters, 'total_amount')
    if (!Number.isInteger(total?.value) || !Number.isInteger(total?.offset))
      refuse(131008, "Parameter 'total_amount' needs 'value' and 'offset'")
    for (const key of ['type', 'currency'])
      if (!textIn(parameters, key)) refuse(131008, `Parameter '${key}' is mandatory`)
  }
}
