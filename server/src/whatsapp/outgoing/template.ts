/** Builds WhatsApp's `template` object. The variables must have passed `check-variables.ts`. */
import type { SendTemplate } from '@parley/contract/send'
import { type JsonObject, readArray, readObject } from '../read-json.ts'
import { readLocalized } from './localized.ts'
import { type ButtonType, type NetworkTemplate, type Slot, templateFlow, templateSlots } from './variables.ts'

export function buildTemplate(template: NetworkTemplate, send: SendTemplate, flowToken: string | null): JsonObject {
  const values: JsonObject = send.variables ?? {}
  const filled = templateSlots(template).filter((slot) => Object.hasOwn(values, slot.key))
  const components = [
    ...componentsOf(
      filled.filter((slot) => slot.card === null),
      values,
    ),
    ...flowComponents(template, send, flowToken),
    ...carousel(
      filled.filter((slot) => slot.card !== null),
      values,
    ),
    ...tapTarget(send),
  ]
  return {
    name: template.name,
    language: { code: template.language },
    ...(components.length > 0 && { components }),
  }
}

function componentsOf(slots: readonly Slot[], values: JsonObject): JsonObject[] {
  const component = (kind: Slot['part']['kind'], type: string): JsonObject[] => {
    const own = slots.filter((slot) => slot.part.kind === kind)
    return own.length === 0 ? [] : [{ type, parameters: own.map((slot) => parameter(slot, values[slot.key])) }]
  }
  return [
    ...component('header', 'header'),
    ...component('offer', 'limited_time_offer'),
    ...component('body', 'body'),
    ...buttonComponents(slots, values),
  ]
}

function buttonComponents(slots: readonly Slot[], values: JsonObject): JsonObject[] {
  const components = new Map<number, JsonObject & { parameters: JsonObject[] }>()
  for (const { key, type, part } of slots) {
    if (part.kind !== 'button') continue
    const { index, subType } = part
    const component = components.get(index) ?? buttonOf(subType, index)
    component.parameters.push(
      type === 'minutes' ? { type: 'ttl_minutes', ttl_minutes: values[key] } : buttonParameter(subType, values[key]),
    )
    components.set(index, component)
  }
  return [...components.values()]
}

const buttonOf = (subType: string, index: number, parameters: JsonObject[] = []) => ({
  type: 'button',
  sub_type: subType,
  index: String(index),
  parameters,
})

function parameter(slot: Slot, value: unknown): JsonObject {
  const name = 'parameterName' in slot.part ? slot.part.parameterName : null
  switch (slot.type) {
    case 'text': {
      const named = name !== null && { parameter_name: name }
      const localized = readLocalized(value)
      if (localized) return { type: localized.type, ...named, [localized.type]: localized.value }
      return { type: 'text', ...named, text: value }
    }
    case 'timestamp': {
      const time = { expiration_time_ms: Date.parse(String(value)) }
      return { type: 'limited_time_offer', limited_time_offer: time }
    }
    case 'location': {
      const { latitude, longitude, ...rest } = readObject(value) ?? {}
      return { type: 'location', location: { latitude: decimal(latitude), longitude: decimal(longitude), ...rest } }
    }
    default:
      return { type: slot.type, [slot.type]: typeof value === 'string' ? { link: value } : value }
  }
}

function buttonParameter(subType: ButtonType, value: unknown): JsonObject {
  switch (subType) {
    case 'url':
      return { type: 'text', text: value }
    case 'copy_code':
      return { type: 'coupon_code', coupon_code: value }
    case 'quick_reply':
    case 'voice_call':
      return { type: 'payload', payload: value }
    case 'catalog':
      return { type: 'action', action: { thumbnail_product_retailer_id: value } }
    case 'mpm':
      return { type: 'action', action: productsAction(value) }
  }
}

function productsAction(value: unknown): JsonObject {
  const products = readObject(value)
  return {
    thumbnail_product_retailer_id: products?.thumbnail_product_retailer_id,
    sections: readArray(products?.sections)
      .map(readObject)
      .map((section) => ({
        title: section?.title,
        product_items: readArray(section?.product_retailer_ids).map((id) => ({ product_retailer_id: id })),
      })),
  }
}

/** Always includes the token, so that the submission can be matched. WhatsApp rejects empty data, so it is omitted. */
function flowComponents(template: NetworkTemplate, send: SendTemplate, flowToken: string | null): JsonObject[] {
  const flow = templateFlow(template)
  if (flow === null) return []
  const token = send.flow?.token ?? flowToken
  const data = send.flow?.data ?? {}
  const action = {
    ...(token !== null && { flow_token: token }),
    ...(Object.keys(data).length > 0 && { flow_action_data: data }),
  }
  return Object.keys(action).length === 0 ? [] : [buttonOf('flow', flow.button_index, [{ type: 'action', action }])]
}

function tapTarget({ tap_target_configuration: target }: SendTemplate): JsonObject[] {
  const type = 'tap_target_configuration'
  return target === undefined ? [] : [{ type, parameters: [{ type, tap_target_configuration: target }] }]
}

function carousel(slots: readonly Slot[], values: JsonObject): JsonObject[] {
  const indexes = [...new Set(slots.map((slot) => slot.card))].sort((left, right) => Number(left) - Number(right))
  if (indexes.length === 0) return []
  const cards = indexes.map((index) => ({
    card_index: index,
    components: componentsOf(
      slots.filter((slot) => slot.card === index),
      values,
    ),
  }))
  return [{ type: 'carousel', cards }]
}

/** Coordinates are sent as decimal text, never as `1e-7`. */
export function decimal(value: unknown): string {
  const text = Number(value).toFixed(12).replace(/0+$/, '').replace(/\.$/, '')
  return text === '-0' ? '0' : text
}
