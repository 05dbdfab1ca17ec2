import { newObjectId, newSecret, newToken } from '../ids.ts'
import type { Network } from '../network.ts'
import { phoneFor } from '../phones/phones.ts'
import { ControlError, type Read } from '../shape.ts'
import type { AccessToken, App, Catalog, Flow, PhoneNumber, Template, Waba } from '../world.ts'
import {
  applySwitches,
  type appShape,
  type catalogShape,
  type Dataset,
  type flowShape,
  type numberShape,
  type phoneChangeShape,
  type templateShape,
  type tokenShape,
  type wabaShape,
} from './shapes.ts'

/** Makes the things of the world, filling in what was not said. */
export function createApp({ world, changed }: Network, input: Read<typeof appShape>): App {
  const id = free(world.apps, input.id ?? newObjectId(6))
  const app = {
    id,
    name: input.name ?? `App ${id.slice(-4)}`,
    secret: input.secret ?? newSecret(),
    verifyToken: input.verifyToken ?? newSecret(),
    callbackUrl: null,
  }
  world.apps.set(id, app)
  changed()
  return app
}

/** A new account is subscribed to by the apps named, or by all there are. */
export function createWaba({ world, changed }: Network, input: Read<typeof wabaShape>): Waba {
  const id = free(world.wabas, input.id ?? newObjectId(1))
  const appIds = input.appIds ?? [...world.apps.keys()]
  for (const appId of appIds) known(world.apps, appId, 'appIds')
  const waba = {
    id,
    name: input.name ?? `Account ${id.slice(-4)}`,
    currency: input.currency ?? 'USD',
    timezoneId: '1',
    subscriptions: Object.fromEntries(appIds.map((appId) => [appId, { override: null }])),
  }
  world.wabas.set(id, waba)
  changed()
  return waba
}

export function createNumber({ world, timers, changed }: Network, input: Read<typeof numberShape>): PhoneNumber {
  known(world.wabas, input.wabaId, 'wabaId')
  const id = free(world.numbers, input.id ?? newObjectId(1))
  const phoneNumber = input.phoneNumber.replaceAll(/\D/g, '')
  for (const other of world.numbers.values())
    if (other.phoneNumber === phoneNumber)
      throw new ControlError(`phoneNumber ${phoneNumber} is already in use.`, 'phoneNumber', 409)
  const { switches, ...settings } = input
  const number: PhoneNumber = {
    verifiedName: `Business ${phoneNumber.slice(-4)}`,
    qualityRating: 'GREEN',
    status: 'CONNECTED',
    codeVerificationStatus: 'VERIFIED',
    nameStatus: 'APPROVED',
    accountMode: 'LIVE',
    messagingLimit: 'TIER_2K',
    isOfficialBusinessAccount: false,
    isOnBizApp: false,
    throughputMps: 80,
    allowedRecipients: null,
    ...settings,
    id,
    phoneNumber,
    pin: null,
    onboardedAt: timers.now().toISOString(),
    override: null,
    switches: {},
  }
  applySwitches(number.switches, switches ?? {})
  world.numbers.set(id, number)
  changed()
  return number
}

export function createToken({ world, changed }: Network, input: Read<typeof tokenShape>): AccessToken {
  known(world.apps, input.appId, 'appId')
  for (const wabaId of input.wabaIds ?? []) known(world.wabas, wabaId, 'wabaIds')
  const token = {
    token: free(world.tokens, input.token ?? newToken()),
    appId: input.appId,
    wabaIds: input.wabaIds ?? null,
    expiresAt: input.expiresAt ?? null,
    revoked: input.revoked ?? false,
  }
  world.tokens.set(token.token, token)
  changed()
  return token
}

export function createTemplate({ world, timers, changed }: Network, input: Read<typeof templateShape>): Template {
  known(world.wabas, input.wabaId, 'wabaId')
  const template: Template = {
    status: 'APPROVED',
    parameterFormat: 'POSITIONAL',
    rejectedReason: 'NONE',
    qualityScore: 'GREEN',
    createdAt: timers.now().toISOString(),
    ...input,
    id: free(world.templates, input.id ?? newObjectId(7)),
  }
  world.templates.set(template.id, template)
  changed()
  return template
}

export function createFlow({ world, timers, changed }: Network, input: Read<typeof flowShape>): Flow {
  known(world.wabas, input.wabaId, 'wabaId')
  const id = free(world.flows, input.id ?? newObjectId(8))
  const flow = { status: 'PUBLISHED', categories: ['OTHER'], updatedAt: timers.now().toISOString(), ...input, id }
  world.flows.set(id, flow)
  changed()
  return flow
}

export function createCatalog({ world, changed }: Network, input: Read<typeof catalogShape>): Catalog {
  known(world.wabas, input.wabaId, 'wabaId')
  const id = free(world.catalogs, input.id ?? newObjectId(3))
  const catalog = { name: 'Catalogue', ...input, id }
  world.catalogs.set(id, catalog)
  changed()
  return catalog
}

export function changePhone(network: Network, waId: string, input: Read<typeof phoneChangeShape>) {
  const phone = phoneFor(network, waId)
  const { switches, ...rest } = input
  Object.assign(phone, rest)
  applySwitches(phone.switches, switches ?? {})
  network.log.tell({ name: 'phone', data: phone })
  network.changed()
  return phone
}

/** Fills an empty world. What refers to another thing comes after it. */
export function loadDataset(network: Network, dataset: Dataset): void {
  for (const app of dataset.apps ?? []) createApp(network, app)
  for (const waba of dataset.wabas ?? []) createWaba(network, waba)
  for (const number of dataset.numbers ?? []) createNumber(network, number)
  for (const token of dataset.tokens ?? []) createToken(network, token)
  for (const template of dataset.templates ?? []) createTemplate(network, template)
  for (const flow of dataset.flows ?? []) createFlow(network, flow)
  for (const catalog of dataset.catalogs ?? []) createCatalog(network, catalog)
  for (const [waId, phone] of Object.entries(dataset.phones ?? {})) changePhone(network, waId, phone)
  applySwitches(network.world.switches, dataset.switches ?? {})
}

export function known<T>(things: Map<string, T>, id: string, field: string): T {
  const thing = things.get(id)
  if (thing === undefined) throw new ControlError(`${field}: there is no ${id}.`, field, 404)
  return thing
}

function free(things: Map<string, unknown>, id: string): string {
  if (things.has(id)) throw new ControlError(`There is already one with the id ${id}.`, 'id', 409)
  return id
}
