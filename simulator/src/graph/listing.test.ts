import { expect, test } from 'vitest'
import type { Json } from '../json.ts'
import { demoSecrets, newWorld, numberId, wabaId } from '../testing/world.ts'

interface Page {
  data: Json[]
  paging?: { cursors: { before: string; after: string }; next?: string; previous?: string }
}

test('following `next` lists every template once', async () => {
  const { graph, simulator } = await newWorld()
  const names: unknown[] = []
  let page = (await graph('GET', `${wabaId}/message_templates?limit=4&fields=name,status`)).body as unknown as Page
  for (;;) {
    names.push(...page.data.map((one) => one.name))
    expect(Object.keys(page.data[0] ?? {})).toEqual(['name', 'status', 'id'])
    if (!page.paging?.next) break
    expect(page.paging.next.startsWith(`${simulator.url}/v25.0/${wabaId}/message_templates?`)).toBe(true)
    expect(page.paging.next).not.toContain(demoSecrets.accessToken)
    page = (await (
      await fetch(page.paging.next, { headers: { authorization: `Bearer ${demoSecrets.accessToken}` } })
    ).json()) as Page
  }
  expect(names).toHaveLength(11)
  expect(new Set(names).size).toBe(11)
  const back = (await (
    await fetch(page.paging?.previous ?? '', { headers: { authorization: `Bearer ${demoSecrets.accessToken}` } })
  ).json()) as Page
  expect(back.data.map((one) => one.name)).toEqual(names.slice(4, 8))
})

test.each([
  ['name=order', ['order_update']],
  ['status=PAUSED,REJECTED', ['spring_sale', 'badly_formed']],
  ['category=AUTHENTICATION', ['otp_login']],
  ['language=es', ['order_update']],
  ['content=invoice', ['invoice_ready']],
  ['name_or_content=otp', ['otp_login']],
  ['status=["PAUSED"]', ['spring_sale']],
  ['name=missing', []],
])('templates can be filtered by %s', async (filter, names) => {
  const { graph } = await newWorld()
  const { body } = await graph('GET', `${wabaId}/message_templates?${encodeURI(filter)}`)
  expect((body.data as Json[]).map((one) => one.name)).toEqual(names)
})

test('the last page has no `next`', async () => {
  const { graph } = await newWorld()
  const { body } = await graph('GET', `${wabaId}/message_templates?limit=11`)
  expect(body.data).toHaveLength(11)
  expect(body.paging).toEqual({ cursors: { before: expect.any(String), after: expect.any(String) } })
})

test('GET /{template} returns the requested fields', async () => {
  const { graph } = await newWorld()
  const { body } = await graph('GET', '700000000000010?fields=name,status,rejected_reason,quality_score')
  expect(body).toEqual({
    name: 'badly_formed',
    status: 'REJECTED',
    rejected_reason: 'INVALID_FORMAT',
    quality_score: { score: 'GREEN', date: expect.any(Number) },
    id: '700000000000010',
  })
  expect((await graph('GET', '700000000000010')).body).toMatchObject({
    parameter_format: 'POSITIONAL',
    category: 'UTILITY',
  })
  expect((await graph('GET', `${wabaId}/message_templates?summary=total_count&limit=1`)).body.summary).toMatchObject({
    total_count: 11,
  })
})

test('fields=constructor returns 400', async () => {
  const { graph } = await newWorld()
  expect((await graph('GET', `${numberId}?fields=constructor`)).status).toBe(400)
})

test('numbers have default fields, and other fields on request', async () => {
  const { graph, receiver } = await newWorld()
  const { body } = await graph('GET', `${wabaId}/phone_numbers`)
  expect((body.data as Json[])[0]).toEqual({
    verified_name: 'Harbour Clinic',
    code_verification_status: 'VERIFIED',
    display_phone_number: '+1 555-078-0001',
    quality_rating: 'GREEN',
    platform_type: 'CLOUD_API',
    throughput: { level: 'STANDARD' },
    last_onboarded_time: '2026-09-01T12:00:00+0000',
    webhook_configuration: { application: receiver.url },
    id: numberId,
  })
  expect((await graph('GET', `${numberId}?fields=status,name_status`)).body).toEqual({
    status: 'CONNECTED',
    name_status: 'APPROVED',
    id: numberId,
  })
  expect((await graph('GET', `${numberId}?fields=shoe_size`)).body).toMatchObject({
    error: { code: 100, message: expect.stringContaining('nonexisting field (shoe_size)') },
  })
  expect((await graph('GET', `${wabaId}/phone_numbers?limit=1`)).body).toMatchObject({
    data: [{ id: numberId }],
    paging: { next: expect.any(String) },
  })
})

test('a flow can be listed and its JSON downloaded', async () => {
  const { graph } = await newWorld()
  const { body } = await graph('GET', `${wabaId}/flows`)
  expect(body.data).toEqual([
    {
      name: 'Patient intake',
      status: 'PUBLISHED',
      categories: ['APPOINTMENT_BOOKING'],
      validation_errors: [],
      id: '800000000000001',
    },
  ])
  const assets = (await graph('GET', '800000000000001/assets')).body.data as Json[]
  const form = (await (await fetch(String(assets[0]?.download_url))).json()) as { screens: Json[] }
  expect(form.screens.map((screen) => screen.id)).toEqual(['DETAILS', 'PHOTOS', 'DOCUMENTS'])
  expect(JSON.stringify(form)).toMatch(/"full_name":"\$\{form\.full_name\}"/)
})

test('unknown IDs, edges and cursors return Graph’s errors', async () => {
  const { graph, simulator } = await newWorld()
  const unknown = await graph('POST', '1/messages', {})
  expect(unknown).toMatchObject({
    status: 400,
    body: {
      error: {
        code: 100,
        error_subcode: 33,
        type: 'GraphMethodException',
        message: expect.stringMatching(/^Unsupported post request. Object with ID '1' does not exist/),
      },
    },
  })
  expect((await graph('GET', `${wabaId}/nonsense`)).body).toMatchObject({ error: { code: 100 } })
  expect((await graph('GET', `${wabaId}/message_templates?after=zzz`)).status).toBe(400)
  expect((await graph('GET', `${wabaId}/message_templates?limit=-1`)).status).toBe(400)
  const unknownPath = await fetch(`${simulator.url}/me/accounts`)
  expect([unknownPath.status, ((await unknownPath.json()) as { error: Json }).error.code]).toEqual([400, 2500])
})

test('every API version works, and responses are escaped like Meta’s', async () => {
  const { simulator, control } = await newWorld()
  control.numbers.change(numberId, { verifiedName: 'Clínica/Uno' })
  for (const version of ['v20.0', 'v23.0', 'v26.0']) {
    const response = await fetch(`${simulator.url}/${version}/${numberId}?access_token=${demoSecrets.accessToken}`)
    expect(response.headers.get('facebook-api-version')).toBe(version)
    expect(await response.text()).toContain('Cl\\u00ednica\\/Uno')
  }
})
