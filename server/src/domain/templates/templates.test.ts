import type { Template } from '@parley/contract/template'
import { expect, test } from 'vitest'
import { useSimulator } from '../../../testing/simulated-network.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'
import { syncConnection } from '../connections/sync.ts'

const server = useTestServer()
const network = useSimulator(server)

type Listed = { data: Template[]; total: number; has_more: boolean; next_cursor: string | null }

const list = async (workspace: TestWorkspace, query = '') =>
  (await workspace.call(`/v1/templates${query}`)).body as Listed

const keysOf = ({ variables }: Template) => variables.map(({ key }) => key)

test('GET /v1/templates lists the templates of a connected account with their variables', async () => {
  const workspace = await newWorkspace(server)
  await network.demoAccount().connect(workspace)
  const { data, total } = await list(workspace)
  const simulated = network.control.templates.list()
  expect(total).toBe(simulated.length)
  const found = Object.fromEntries(data.map((template) => [template.name, keysOf(template)]))
  expect(found).toMatchObject({
    appointment_reminder: ['header.1', 'body.1', 'body.2', 'buttons.0.payload', 'buttons.1.payload', 'buttons.2.url'],
    order_update: ['header.image', 'body.first_name', 'body.order_id', 'buttons.0.url'],
    invoice_ready: ['header.document', 'body.1', 'body.2'],
    courier_arriving: ['header.location', 'body.1'],
    summer_offer: ['body.1', 'buttons.0.code', 'buttons.1.payload'],
    otp_login: ['body.1'],
    intake_form: ['body.1'],
    hello_world: [],
  })
  const byName = (name: string) => data.find((template) => template.name === name)
  expect(byName('intake_form')?.flow).toEqual({ flow_id: '800000000000001', button_index: 0 })
  expect(byName('order_update')).toMatchObject({
    object: 'template',
    language: 'es',
    category: 'UTILITY',
    status: 'APPROVED',
    flow: null,
    variables: [
      { key: 'header.image', in: 'header', type: 'image', required: true },
      { key: 'body.first_name', in: 'body', type: 'text', required: true, example: 'Ana' },
      { key: 'body.order_id', example: 'A-1001' },
      { key: 'buttons.0.url', in: 'button', example: 'A-1001' },
    ],
  })
  for (const template of data) {
    const original = simulated.find(({ name }) => name === template.name)
    expect(JSON.stringify(template.components), template.name).toBe(JSON.stringify(original?.components))
    expect((await workspace.call(`/v1/templates/${template.id}`)).body).toEqual(template)
  }
})

test.each(['asc', 'desc'])(
  '45 templates, %s, are paged without repeats or gaps while others are added',
  async (order) => {
    const workspace = await newWorkspace(server)
    const account = network.newAccount()
    for (let n = 0; n < 45; n++) account.addTemplate({ name: `t_${n}` })
    const { id } = await account.connect(workspace)
    const seen: string[] = []
    let query = `?order=${order}`
    for (let pages = 1; ; pages++) {
      const { data, has_more, next_cursor } = await list(workspace, query)
      seen.push(...data.map(({ name }) => name))
      expect(has_more).toBe(next_cursor !== null)
      if (next_cursor === null || pages > 5) break
      // Added both at the same time as the others and later.
      account.addTemplate({ name: `late_${pages}` })
      if (pages === 1) server.clock.forward({ ms: 1 })
      await syncConnection(network.network, id)
      query = `?order=${order}&cursor=${next_cursor}`
    }
    expect(new Set(seen).size).toBe(seen.length)
    for (let n = 0; n < 45; n++) expect(seen).toContain(`t_${n}`)
  },
)

test('templates are filtered by name, language, status and category, alone and combined', async () => {
  const workspace = await newWorkspace(server)
  const account = network.newAccount()
  account.addTemplate({ name: 'greeting', language: 'en' })
  account.addTemplate({ name: 'greeting', language: 'pt_BR' })
  account.addTemplate({ name: 'sale', category: 'MARKETING', status: 'PAUSED' })
  account.addTemplate({ name: 'offer', category: 'MARKETING' })
  await account.connect(workspace)
  const found = async (query: string) => {
    const { data, total } = await list(workspace, `?${query}`)
    expect(total).toBe(data.length)
    return data.map(({ name, language }) => `${name} ${language}`).sort()
  }
  expect(await found('name=greeting')).toEqual(['greeting en', 'greeting pt_BR'])
  expect(await found('name=greet')).toEqual([])
  expect(await found('language=pt_BR')).toEqual(['greeting pt_BR'])
  expect(await found('status=PAUSED')).toEqual(['sale en'])
  expect(await found('category=MARKETING')).toEqual(['offer en', 'sale en'])
  expect(await found('category=MARKETING&status=APPROVED&name=offer&language=en')).toEqual(['offer en'])
  expect(await list(workspace, '?category=UTILITY&limit=1')).toMatchObject({ total: 2, has_more: true })
})

test.each(['colour=red', 'status=LOST', 'category=utility', 'name=', 'name=a&name=b', 'limit=1.5', 'cursor=MTIz'])(
  '?%s is refused with the name of the parameter',
  async (query) => {
    const workspace = await newWorkspace(server)
    const { status, body } = await workspace.call(`/v1/templates?${query}`)
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { error: { code: 'validation_failed', param: query.split('=')[0] } },
    })
  },
)

test('GET /v1/templates says which templates have parts that cannot be filled', async () => {
  const workspace = await newWorkspace(server)
  const account = network.newAccount()
  const body = { type: 'BODY', text: 'Your order is ready.' }
  account.addTemplate({ name: 'plain' })
  account.addTemplate({
    name: 'pay_order',
    components: [body, { type: 'BUTTONS', buttons: [{ type: 'ORDER_DETAILS', text: 'Review and pay' }] }],
  })
  account.addTemplate({ name: 'order_shipped', components: [body], subCategory: 'ORDER_STATUS' })
  account.addTemplate({ name: 'new_part', components: [body, { type: 'HOLOGRAM' }], status: 'PAUSED' })
  await account.connect(workspace)
  const { data } = await list(workspace)
  const found = Object.fromEntries(
    data.map(({ name, sendable, not_sendable_reason }) => [name, { sendable, reason: not_sendable_reason }]),
  )
  expect(found).toEqual({
    plain: { sendable: true, reason: null },
    pay_order: { sendable: false, reason: expect.stringContaining('button ORDER_DETAILS') },
    order_shipped: { sendable: false, reason: expect.stringContaining('ORDER_STATUS') },
    new_part: { sendable: false, reason: expect.stringContaining('component HOLOGRAM') },
  })
})

test('a template of another workspace gets the same 404 as an unknown one', async () => {
  const [ours, theirs] = [await newWorkspace(server), await newWorkspace(server)]
  const account = network.newAccount()
  account.addTemplate({ name: 'theirs' })
  await account.connect(theirs)
  const id = (await list(theirs)).data[0]?.id as string
  for (const path of [id, 'tpl_01890000-0000-7000-8000-000000000000', 'tpl_1', id.replace('tpl_', 'snd_')]) {
    expect(await ours.call(`/v1/templates/${path}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    })
  }
  expect(await list(ours)).toMatchObject({ data: [], total: 0 })
})

test('reading templates needs the scope templates:read', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ scopes: ['senders:read'] })
  for (const path of ['/v1/templates', '/v1/templates/tpl_01890000-0000-7000-8000-000000000000']) {
    expect(await server.call(path, { key: secret })).toMatchObject({
      status: 403,
      body: { error: { details: { required_scope: 'templates:read' } } },
    })
  }
})
