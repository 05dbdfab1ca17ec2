import { expect, test } from 'vitest'
import { newWorld, numberId, otherNumberId, wabaId } from '../testing/world.ts'

const product = { messaging_product: 'whatsapp' }
const done = { success: true }

/** Calls on the second number, which is not used in the Business app. */
async function newNumber() {
  const world = await newWorld()
  const call = async (edge: string, body: object) => {
    const { body: response } = await world.graph('POST', `${otherNumberId}${edge}`, body)
    const { error } = response as { error?: { code: number; message: string } }
    return error ? { code: error.code, message: error.message } : response
  }
  const read = async (fields: string) => (await world.graph('GET', `${otherNumberId}?fields=${fields}`)).body
  return { ...world, call, read }
}

test('a number is verified with a code before it is registered', async () => {
  const { call, read, control } = await newNumber()
  control.numbers.change(otherNumberId, { status: 'PENDING', codeVerificationStatus: 'NOT_VERIFIED' })
  const register = { ...product, pin: '314159' }
  expect(await call('/register', register)).toMatchObject({ code: 133006 })
  expect(await call('/verify_code', { code: '780002' })).toMatchObject({ code: 136025 })
  expect(await call('/request_code', { code_method: 'FAX', language: 'en' })).toMatchObject({ code: 100 })
  expect(await call('/request_code', { code_method: 'SMS' })).toMatchObject({ code: 100 })
  expect(await call('/request_code', { code_method: 'SMS', language: 'en_US' })).toEqual(done)
  expect(await call('/verify_code', { code: '000000' })).toMatchObject({ code: 136025 })
  expect(await call('/verify_code', { code: '780002' })).toEqual(done)
  expect(await call('/request_code', { code_method: 'SMS', language: 'en_US' })).toMatchObject({ code: 136024 })
  expect(await call('/register', register)).toEqual(done)
  expect(await read('status,code_verification_status,is_pin_enabled,platform_type')).toEqual({
    id: otherNumberId,
    status: 'CONNECTED',
    code_verification_status: 'VERIFIED',
    is_pin_enabled: true,
    platform_type: 'CLOUD_API',
  })
})

test('a number can be deregistered, and registered again five minutes later', async () => {
  const { call, control, clock, graph } = await newNumber()
  expect(await call('/deregister', {})).toEqual(done)
  expect(await call('/deregister', {})).toMatchObject({ code: 133010 })
  expect(await call('', { pin: '314159' })).toMatchObject({ code: 133010 })
  const register = { ...product, pin: '314159' }
  expect(await call('/register', register)).toMatchObject({ code: 133015 })
  await clock.advance(5 * 60_000)
  expect(await call('/register', register)).toEqual(done)
  expect(control.numbers.list().find(({ id }) => id === otherNumberId)?.status).toBe('CONNECTED')
  const inApp = await graph('POST', `${numberId}/deregister`)
  expect(inApp.body).toMatchObject({ error: { code: 100, message: expect.stringContaining('Business app') } })
})

test('a wrong PIN is refused until it is replaced, and ten calls in 72 hours are the limit', async () => {
  const { call, clock } = await newNumber()
  const register = (pin: string) => call('/register', { ...product, pin })
  expect(await register('314159')).toEqual(done)
  for (let tries = 1; tries < 10; tries++) expect(await register('654321')).toMatchObject({ code: 133005 })
  expect(await register('314159')).toMatchObject({ code: 133016 })
  expect(await call('', { pin: '12345' })).toMatchObject({ code: 100 })
  expect(await call('', { pin: '654321' })).toEqual(done)
  await clock.advance(72 * 3_600_000)
  expect(await register('654321')).toEqual(done)
  expect(await call('', {})).toMatchObject({ code: 100 })
})

test('a new display name is reviewed, and the decision arrives as a webhook', async () => {
  const { call, read, clock, receiver, control } = await newNumber()
  expect(await call('', { new_display_name: 'ab' })).toMatchObject({ code: 100 })
  expect(await call('', { new_display_name: 'Rejected Ltd' })).toEqual(done)
  const name = 'verified_name,name_status,new_display_name,new_name_status'
  const before = await read('verified_name')
  expect(await read(name)).toMatchObject({ ...before, new_name_status: 'PENDING_REVIEW' })
  await clock.advance(2000)
  expect(await read(name)).toMatchObject({ ...before, new_name_status: 'DECLINED' })
  expect(await call('', { new_display_name: 'Harbour Dental' })).toEqual(done)
  await clock.advance(2000)
  await control.idle()
  expect(await read(name)).toMatchObject({ verified_name: 'Harbour Dental', new_name_status: 'APPROVED' })
  const field = 'phone_number_name_update'
  const display_phone_number = '15550780002'
  expect(receiver.changes()).toMatchObject([
    { field, value: { decision: 'REJECTED', requested_verified_name: 'Rejected Ltd' } },
    { field, value: { decision: 'APPROVED', requested_verified_name: 'Harbour Dental', display_phone_number } },
  ])
})

test('the business profile can be read and changed', async () => {
  const { call, graph } = await newNumber()
  const edge = '/whatsapp_business_profile'
  const read = async (query = '') => (await graph('GET', `${otherNumberId}${edge}${query}`)).body
  expect(await read()).toEqual({ data: [product] })
  const profile = { about: 'Open 9 to 5', email: 'hello@clinic.example', websites: ['https://clinic.example/'] }
  expect(await call(edge, { ...product, ...profile, vertical: 'HEALTH' })).toEqual(done)
  expect(await call(edge, { ...product, address: '1 Harbour St' })).toEqual(done)
  expect(await read()).toEqual({ data: [{ ...product, ...profile, vertical: 'HEALTH', address: '1 Harbour St' }] })
  expect(await read('?fields=about,vertical')).toEqual({
    data: [{ ...product, about: 'Open 9 to 5', vertical: 'HEALTH' }],
  })
  expect(await read('?fields=shoes')).toMatchObject({ error: { code: 100 } })
  for (const wrong of [
    { about: '' },
    { about: 'x'.repeat(140) },
    { email: 'nobody' },
    { vertical: 'SHOES' },
    { websites: ['clinic.example'] },
    { websites: ['https://a.example', 'https://b.example', 'https://c.example'] },
    { profile_picture_handle: 'x' },
  ])
    expect(await call(edge, { ...product, ...wrong }), JSON.stringify(wrong)).toMatchObject({ code: 100 })
  expect(await call(edge, { about: 'x' })).toMatchObject({ code: 100 })
})

test('a number that is also used in the Business app sends at most 20 messages a second', async () => {
  const { graph, send, control } = await newWorld()
  control.switches.set({ pairLimit: false })
  const fields = 'is_on_biz_app,platform_type,whatsapp_business_manager_messaging_limit'
  expect((await graph('GET', `${wabaId}/phone_numbers?fields=${fields}&limit=1`)).body.data).toEqual([
    {
      id: numberId,
      is_on_biz_app: true,
      platform_type: 'CLOUD_API',
      whatsapp_business_manager_messaging_limit: 'TIER_2K',
    },
  ])
  const text = { type: 'text', text: { body: 'x' } }
  for (let sent = 0; sent < 20; sent++) expect((await send(text)).status).toBe(200)
  expect((await send(text)).code).toBe(130429)
})
