import { setTimeout as sleep } from 'node:timers/promises'
import { runParley } from '../../cli/testing/run-parley.ts'
import { until } from '../../server/testing/until.ts'
import type { Reader } from '../reader.ts'
import { metaSecret, prepareMeta } from './meta.ts'

type Json = Record<string, unknown>

const ana = '16505550123'
const business = '15550780001'

/** The demo workspace of a service, in which everything exists that the documents name. */
export interface Demo {
  senderId: string
  webhookSecret: string
  /** Of another account at the network. */
  accessToken: string
  disableWebhook(): Promise<void>
  enableWebhook(): Promise<void>
  /** Ana writes, and a request fails. */
  poke(): Promise<void>
}

/** Prepares the demo workspace, and tells the reader the values that the documents abbreviate. */
export async function prepareDemo(reader: Reader, dataDir: string, url: string, key: string): Promise<Demo> {
  const simulatorUrl = reader.here('http://127.0.0.1:8090')
  const call = async (address: string, init: RequestInit = {}): Promise<Json> => {
    const response = await fetch(address, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${address} returned ${response.status}: ${text}`)
    return JSON.parse(text)
  }
  const headers = { authorization: `Bearer ${key}` }
  const api = (path: string, body?: object) =>
    call(`${url}/v1${path}`, {
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
  const control = (path: string, body: object) =>
    call(`${simulatorUrl}/control${path}`, { method: 'POST', body: JSON.stringify(body) })
  const phone = (number: string, action: string, body: object) => control(`/phones/${number}/${action}`, body)
  /** Asks twice a second, because of the rate limit. */
  const wait = <T>(description: string, look: () => Promise<T | undefined>) =>
    until(description, async () => (await look()) ?? (await sleep(500)), 60_000)
  /** The newest entry of a list, when it is there. */
  const newest = (path: string, isIt: (row: Json) => boolean = () => true): Promise<Json> =>
    wait(`the list ${path} has it`, async () =>
      ((await api(path)) as { data: Json[] }).data.find(isIt),
    ) as Promise<Json>
  const fetched = (path: string) =>
    wait(`${path} is fetched`, async () => {
      const response = await fetch(`${url}/v1${path}`, { headers })
      await response.arrayBuffer()
      return response.ok || undefined
    })

  const parley = async (words: string): Promise<Json> => {
    const { out } = await runParley([...reader.here(words).split(' '), '--json'], { PARLEY_DATA_DIR: dataDir })
    return JSON.parse(out)
  }
  const { account_id: workspaceId } = await api('/me')
  const { id: senderId } = await newest('/senders', ({ phone_number: number }) => String(number).endsWith(business))
  await phone(ana, 'say', { to: business, text: 'hi' })
  const text = await newest('/inbound_messages')
  await phone('491701234567', 'say', { to: business, text: 'Hallo' })
  await phone(ana, 'image', { to: business, caption: 'Receipt' })
  const image = await newest('/inbound_messages', ({ type }) => type === 'image')
  await fetched(`/inbound_messages/${image.message_id}/media`)
  const form = { name: 'intake_form', language: 'en', variables: { 'body.1': 'Ana' } }
  const { id } = await api('/messages', { sender_id: senderId, to: ana, type: 'template', template: form })
  await newest('/messages', (row) => row.id === id && (row.status === 'delivered' || row.status === 'read'))
  await phone(ana, 'fillForm', { values: { full_name: 'Ana' }, files: { photos: [{ filename: 'card.png' }] } })
  const submission = await newest('/flow_responses')
  await fetched(`/flow_responses/${submission.id}/files/0`)
  const upload = new FormData()
  upload.set('file', new Blob(['%PDF-1.7'], { type: 'application/pdf' }), 'offer.pdf')
  const file = await call(`${url}/v1/media`, { method: 'POST', headers, body: upload })
  const webhook = 'webhook create --name Docs --url http://127.0.0.1:8095/ --event message.received'
  const { id: webhookId, secret } = await parley(webhook)
  const { $TOKEN: token = '', ...meta } = await prepareMeta(control)

  const values = {
    ...meta,
    '…': metaSecret,
    '01a1de10-…': workspaceId,
    WORKSPACE_ID: workspaceId,
    WEBHOOK_ID: webhookId,
    'prl_live_…': key,
    'whsec_…': secret,
    'snd_…': senderId,
    'snd_01a1de10-…': senderId,
    'msg_01a1de11-…': text.message_id,
    'msg_01a1de14-…': image.message_id,
    'frs_…': submission.id,
    'frs_01a1de13-…': submission.id,
    'med_01a1de13-…': file.id,
  }
  for (const [name, value] of Object.entries(values)) reader.seen.set(name, String(value))
  return {
    senderId: String(senderId),
    webhookSecret: String(secret),
    accessToken: token,
    disableWebhook: async () => void (await parley(`webhook disable ${webhookId} --reason maintenance`)),
    enableWebhook: async () => void (await parley(`webhook enable ${webhookId}`)),
    async poke() {
      await phone(ana, 'say', { to: business, text: 'Are you open today?' })
      await fetch(`${url}/v1/messages/none`, { headers })
    },
  }
}
