import {
  type BusinessActionInput,
  type BusinessActionName,
  businessActions,
  runBusinessAction,
} from '../business/actions.ts'
import { canAdvance } from '../clock.ts'
import { fieldsOf } from '../flow-fields.ts'
import type { Json } from '../json.ts'
import { deliverWaiting } from '../network/lifecycle.ts'
import { setTemplateStatus } from '../network/templates.ts'
import { idle, type Network } from '../network.ts'
import type { NetworkLogEvent } from '../network-log.ts'
import type { ActionResult } from '../phones/action.ts'
import { type PhoneActionInput, type PhoneActionName, phoneActions, runAction } from '../phones/actions.ts'
import { numberFor } from '../phones/find.ts'
import { optionsOf } from '../phones/options.ts'
import { phoneFor } from '../phones/phones.ts'
import { recordScenario } from '../phones/scenario.ts'
import { shownText } from '../phones/shown-text.ts'
import { ControlError, oneOf, type Parsed, phoneDigits } from '../shape.ts'
import { switchesFor } from '../switches.ts'
import { removeAppCallback, setAppCallback } from '../webhooks/app-callback.ts'
import { verifyCallback } from '../webhooks/handshake.ts'
import { notifyAccount } from '../webhooks/notify.ts'
import { findNumber } from '../world.ts'
import {
  changePhone,
  createApp,
  createCatalog,
  createFlow,
  createNumber,
  createTemplate,
  createToken,
  createWaba,
  findExisting,
} from './create.ts'
import * as shapes from './shapes.ts'

export type Control = ReturnType<typeof makeControl>

type BusinessActions = {
  [N in BusinessActionName]: (id: string, input: BusinessActionInput<N>) => Promise<ActionResult>
}
type PhoneActions = { [N in PhoneActionName]: (waId: string, input: PhoneActionInput<N>) => Promise<ActionResult> }

/** The control API for code in the same process. `resetTo` replaces the whole state with a dataset. */
export function makeControl(network: Network, resetTo: (dataset: shapes.DatasetName | shapes.Dataset) => void) {
  const { world } = network
  return {
    apps: {
      list: () => [...world.apps.values()],
      create: (input: Parsed<typeof shapes.appShape> = {}) => createApp(network, shapes.appShape(input, '')),
      setCallback: (id: string, input: Parsed<typeof shapes.callbackShape>) => setCallback(network, id, input),
    },
    wabas: {
      list: () => [...world.wabas.values()],
      create: (input: Parsed<typeof shapes.wabaShape> = {}) => createWaba(network, shapes.wabaShape(input, '')),
      /** Posts a webhook with any field and any value, as it is given. */
      notify: (id: string, input: Parsed<typeof shapes.noticeShape>) => {
        const { field, value } = shapes.noticeShape(input, '')
        notifyAccount(network, findExisting(world.wabas, id, 'waba').id, field, value)
      },
    },
    numbers: {
      ...businessMethods(network),
      list: () => [...world.numbers.values()],
      create: (input: Parsed<typeof shapes.numberShape>) => createNumber(network, shapes.numberShape(input, '')),
      change: (id: string, input: Parsed<typeof shapes.numberChangeShape>) => changeNumber(network, id, input),
    },
    tokens: {
      list: () => [...world.tokens.values()],
      create: (input: Parsed<typeof shapes.tokenShape>) => createToken(network, shapes.tokenShape(input, '')),
      change: (token: string, input: Parsed<typeof shapes.tokenChangeShape>) => {
        const found = Object.assign(findExisting(world.tokens, token, 'token'), shapes.tokenChangeShape(input, ''))
        network.changed()
        return found
      },
    },
    templates: {
      list: () => [...world.templates.values()],
      create: (input: Parsed<typeof shapes.templateShape>) => createTemplate(network, shapes.templateShape(input, '')),
      setStatus: (id: string, input: Parsed<typeof shapes.templateChangeShape>) => {
        const review = shapes.templateChangeShape(input, '')
        const template = findExisting(world.templates, id, 'template')
        setTemplateStatus(network, template, { reason: 'NONE', ...review })
        return template
      },
      /** Decides the next review. Several calls decide several reviews. */
      reviewNext: (input: Parsed<typeof shapes.templateChangeShape>) => {
        world.nextReviews.push({ reason: 'NONE', ...shapes.templateChangeShape(input, '') })
        network.changed()
        return world.nextReviews
      },
    },
    flows: {
      list: () => [...world.flows.values()].map((flow) => ({ ...flow, fields: fieldsOf(flow.json) })),
      create: (input: Parsed<typeof shapes.flowShape>) => createFlow(network, shapes.flowShape(input, '')),
    },
    catalogs: {
      list: () => [...world.catalogs.values()],
      create: (input: Parsed<typeof shapes.catalogShape>) => createCatalog(network, shapes.catalogShape(input, '')),
    },
    phones: {
      ...phoneMethods(network),
      list: () => [...world.phones.values()],
      get: (waId: string) => phoneFor(network, phoneNumber(waId)),
      change: (waId: string, input: Parsed<typeof shapes.phoneChangeShape>) => {
        const wasOnline = phoneFor(network, phoneNumber(waId)).online
        const phone = changePhone(network, phoneNumber(waId), shapes.phoneChangeShape(input, ''))
        if (phone.online && !wasOnline) deliverWaiting(network, phone)
        return phone
      },
      /**
       * The conversation with one business number or with all, oldest first. Each message has the `text` that a person
       * reads, and its tappable `options`.
       */
      messages: (waId: string, to?: string) => conversation(network, phoneNumber(waId), to),
      /** The conversation with one business number as a test plays it. Redacted unless `contents` is `true`. */
      scenario: (waId: string, to?: string, contents: string = 'false') => {
        const phone = phoneFor(network, phoneNumber(waId))
        const number = numberFor(network, phone, to)
        return recordScenario(network, phone, number, oneOf('true', 'false')(contents, 'contents') === 'true')
      },
    },
    media: {
      get: (id: string) => {
        const media = world.media.get(id)
        const bytes = media && network.media.get(media.id)
        return bytes && { ...media, bytes }
      },
    },
    switches: {
      get: () => switchesFor(world),
      set: (input: shapes.SwitchesInput) => {
        shapes.applySwitches(world.switches, shapes.switchesShape(input, ''))
        network.changed()
        return switchesFor(world)
      },
    },
    webhooks: {
      get: () => ({ settings: network.queue.settings, queued: network.queue.size }),
      configure: (input: Parsed<typeof shapes.queueShape>) => {
        network.queue.settings = { ...network.queue.settings, ...shapes.queueShape(input, '') }
        return network.queue.settings
      },
    },
    log: {
      list: (options: { limit?: number; after?: number } = {}) => network.log.list(options.limit ?? 100, options.after),
      clear: () => network.log.clear(),
      listen: (listener: (event: NetworkLogEvent) => void) => network.log.listen(listener),
    },
    clock: {
      now: () => network.timers.now(),
      advance: (ms: number) => advanceInTurn(network, ms),
    },
    /** Resolves when all due webhooks have been posted and got a response. */
    idle: () => idle(network),
    reset: (dataset: shapes.DatasetName | shapes.Dataset = 'demo') => resetTo(dataset),
  }
}

function phoneMethods(network: Network): PhoneActions {
  const names = Object.keys(phoneActions) as PhoneActionName[]
  const methods = names.map((name) => [
    name,
    async (waId: string, input: unknown) => runAction(network, phoneNumber(waId), name, input ?? {}),
  ])
  // The keys come from the same table as the type.
  return Object.fromEntries(methods) as PhoneActions
}

function businessMethods(network: Network): BusinessActions {
  const names = Object.keys(businessActions) as BusinessActionName[]
  const methods = names.map((name) => [
    name,
    async (id: string, input: unknown) => runBusinessAction(network, id, name, input ?? {}),
  ])
  // The keys come from the same table as the type.
  return Object.fromEntries(methods) as BusinessActions
}

function phoneNumber(waId: string): string {
  return phoneDigits(waId, 'phone')
}

async function setCallback(network: Network, id: string, input: Parsed<typeof shapes.callbackShape>) {
  const { url, verifyToken, verify, fields } = shapes.callbackShape(input, '')
  const app = findExisting(network.world.apps, id, 'app')
  const callback = { url: url ?? '', verifyToken: verifyToken ?? app.verifyToken }
  const problem = url === null || verify === false ? undefined : await verifyCallback(network.http, callback)
  if (problem) throw new ControlError(`url: ${problem}`, 'url')
  if (url === null) return removeAppCallback(network, app)
  return setAppCallback(network, app, callback, fields ?? app.fields)
}

function changeNumber(network: Network, id: string, input: Parsed<typeof shapes.numberChangeShape>) {
  const { switches, ...settings } = shapes.numberChangeShape(input, '')
  const number = findNumber(network.world, id)
  if (!number) throw new ControlError(`number: ${id} not found.`, 'number', 404)
  Object.assign(number, settings)
  shapes.applySwitches(number.switches, switches ?? {})
  network.changed()
  return number
}

function conversation(network: Network, waId: string, to: string | undefined): Json[] {
  const phone = phoneFor(network, waId)
  const number = to === undefined ? undefined : findNumber(network.world, to)
  if (to !== undefined && !number) throw new ControlError(`to: business number ${to} not found.`, 'to', 404)
  const messages: Json[] = []
  for (const message of network.world.messages.values()) {
    if (message.waId !== phone.waId || (number && message.numberId !== number.id)) continue
    const business = network.world.numbers.get(message.numberId)
    const shown = business
      ? { text: shownText(network.world, business, message), options: optionsOf(network.world, business, message) }
      : { text: null, options: [] }
    messages.push({ ...message, ...shown })
  }
  return messages
}

let advancing: Promise<unknown> = Promise.resolve()

/** One at a time: each waits until what became due is done. */
function advanceInTurn(network: Network, ms: number): Promise<Date> {
  const done = advancing.then(() => advance(network, ms))
  advancing = done.catch(() => {})
  return done
}

async function advance(network: Network, ms: number): Promise<Date> {
  const { clock } = network.timers
  if (!canAdvance(clock))
    throw new ControlError(
      'The clock cannot be advanced. Start Parley with --movable-clock, or the simulator with --manual-clock.',
      null,
      409,
    )
  if (!(ms >= 0 && ms <= 366 * 86_400_000))
    throw new ControlError('ms must be a number from 0 to 31622400000 (366 days).', 'ms')
  await clock.advance(ms)
  await network.app?.advance(ms)
  await idle(network)
  return clock.now()
}
