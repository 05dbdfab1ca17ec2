import type { Json } from '../json.ts'
import type { Network } from '../network.ts'
import { switchesFor } from '../switches.ts'
import type { Phone, PhoneNumber } from '../world.ts'
import type { Update } from './envelope.ts'

/** Queues a message or status webhook. While an agent handles the conversation, it is a `standby` webhook. */
export function notifyMessages(network: Network, number: PhoneNumber, phone: Phone, value: Json): void {
  if (phone.withAgent?.includes(number.id)) notifyStandby(network, number, phone, value)
  else notifyNumber(network, number, phone, 'messages', withMetadata(number, value))
}

export function notifyStandby(network: Network, number: PhoneNumber, phone: Phone, value: Json): void {
  notifyNumber(network, number, phone, 'standby', withMetadata(number, { standby: value }))
}

export function withMetadata(number: PhoneNumber, value: Json): Json {
  return {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: number.phoneNumber, phone_number_id: number.id },
    ...value,
  }
}

/** Queues a webhook about a number for every app subscribed to its account and the field. */
export function notifyNumber(
  network: Network,
  number: PhoneNumber,
  phone: Phone | null,
  field: string,
  value: Json,
): void {
  const switches = switchesFor(network.world, number, phone)
  for (const appId of appsFor(network, number.wabaId, field)) {
    const update = makeUpdate(network, appId, number.wabaId, field, value, switches.duplicateWebhooks)
    update.numberId = number.id
    network.queue.push(update, { reorder: switches.reorderWebhooks, delayMs: switches.delayWebhooksMs })
  }
}

/** Queues a webhook about the account itself, such as its templates, numbers and flows, for every subscribed app. */
export function notifyAccount(network: Network, wabaId: string, field: string, value: unknown): void {
  const { duplicateWebhooks } = switchesFor(network.world)
  for (const appId of appsFor(network, wabaId, field))
    network.queue.push(makeUpdate(network, appId, wabaId, field, value, duplicateWebhooks))
}

/** True while the queue of an app subscribed to the account is full. */
export function isBackedUp(network: Network, wabaId: string): boolean {
  return appsOf(network, wabaId).some((appId) => network.queue.isFull(appId))
}

function appsOf(network: Network, wabaId: string): string[] {
  return Object.keys(network.world.wabas.get(wabaId)?.subscriptions ?? {})
}

/** The apps that get the webhooks of a field: they are subscribed to the account and to the field. */
function appsFor(network: Network, wabaId: string, field: string): string[] {
  return appsOf(network, wabaId).filter((appId) => network.world.apps.get(appId)?.fields?.includes(field) ?? true)
}

function makeUpdate(
  network: Network,
  appId: string,
  wabaId: string,
  field: string,
  value: unknown,
  twice: boolean,
): Update {
  const time = Math.floor(network.timers.now().getTime() / 1000)
  return { appId, wabaId, numberId: null, field, value, time, twice }
}
