import type { EventOf } from '@parley/contract/events'
import type { Message } from '@parley/contract/message'
import type { Simulator } from '@parley/simulator/start'
import { beforeAll } from 'vitest'
import { syncConnection } from '../src/domain/connections/sync.ts'
import { type Fetcher, newFetcher } from '../src/domain/files/fetcher.ts'
import { newLogger } from '../src/telemetry/logger.ts'
import { eventsOf } from './network-app.ts'
import { type Sending, type TestShop, useSending } from './sending.ts'
import type { TestServer } from './test-server.ts'

type Filled = Parameters<Simulator['control']['phones']['fillForm']>[1]
type Completed = EventOf<'flow.completed'>['data']

/** A shop that sends a form which people fill in. */
interface FormShop extends TestShop {
  flowId: string
  templateId: string
  /** Sends the form as a template, with this token or a generated one. */
  sendForm(to: string, token?: string): Promise<Message>
  /** Submits the form that was sent last, and returns the data of the `flow.completed` event. */
  fillForm(phone: string, input: Filled): Promise<Completed>
  completed(): Promise<Completed[]>
  /** Downloads a file of a submission. */
  fetchFile(path: string, options?: { method?: string; headers?: Record<string, string> }): Promise<Response>
}

export interface Forms {
  sending: Sending
  /** Downloads the files that are due. */
  fetcher: Fetcher
  newShop(): Promise<FormShop>
}

export const fileOf = (id: string, index = 0): string => `/v1/flow_responses/${id}/files/${index}`

export function useForms(server: TestServer): Forms {
  const sending = useSending(server)
  const forms = { sending, newShop: () => newFormShop(server, sending) } as Forms
  beforeAll(() => {
    const log = newLogger('debug', { write: (line) => void server.logged.push(line) })
    forms.fetcher = newFetcher(sending.network.network, log)
  })
  return forms
}

async function newFormShop(server: TestServer, sending: Sending): Promise<FormShop> {
  const { control, network } = sending.network
  const shop = await sending.newShop()
  const { workspace, account, connection } = shop
  const flow = control.flows.create({ wabaId: account.wabaId, name: 'intake', json: { version: '7.3', screens: [] } })
  const flowId = String(flow.id)
  account.addTemplate({
    name: 'form',
    components: [
      { type: 'BODY', text: 'Please fill this in.' },
      { type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Open', flow_id: Number(flowId), flow_action: 'NAVIGATE' }] },
    ],
  })
  await syncConnection(network, connection.id)
  const { body } = await workspace.call('/v1/templates?name=form')
  const templateId = (body as { data: { id: string }[] }).data[0]?.id ?? ''
  const completed = async () =>
    (await eventsOf(server, workspace.id)).flatMap(({ type, data }) =>
      type === 'flow.completed' ? [data as unknown as Completed] : [],
    )
  return {
    ...shop,
    flowId,
    templateId,
    async sendForm(to, token) {
      const flowPart = token === undefined ? {} : { flow: { token } }
      const { status, body: message } = await shop.send({
        to,
        type: 'template',
        template: { id: templateId, ...flowPart },
      })
      if (status !== 202) throw new Error(`${status} ${JSON.stringify(message)}`)
      await sending.drain()
      return message as Message
    },
    async fillForm(phone, input) {
      const before = (await completed()).map(({ id }) => id)
      await control.phones.fillForm(phone, input)
      await control.idle()
      const added = (await completed()).filter(({ id }) => !before.includes(id))
      if (!added[0] || added.length > 1) throw new Error(`${added.length} events for one submission`)
      return added[0]
    },
    completed,
    fetchFile: (path, { method = 'GET', headers = {} } = {}) =>
      fetch(server.url + path, { method, headers: { authorization: `Bearer ${workspace.secret}`, ...headers } }),
  }
}
