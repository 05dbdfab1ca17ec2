import { type Browser, newBrowser, tokenOf } from '../server/testing/console.ts'
import { type Receiver, startReceiver } from '../server/testing/receiver.ts'
import { until } from '../server/testing/until.ts'
import type { Installation } from './installation.ts'

const admin = { name: 'Ada Nilsson', email: 'ada@harbour.example', password: 'seven quiet otters' }

/** A workspace with data of every kind, all of it created through the public APIs. */
export interface BusyInstallation {
  console: Browser
  receivers: Receiver[]
  close(): Promise<void>
}

export async function makeBusy(place: Installation): Promise<BusyInstallation> {
  const { url, workspaceId, control } = place
  const browser = newBrowser(url)
  const within = (path: string, body?: object) =>
    must(browser, `/w/${workspaceId}${path}`, body === undefined ? {} : { method: 'POST', body })
  await must(browser, '/links/use', { method: 'POST', body: { token: tokenOf(place.setupUrl), ...admin } })

  const [demoKey] = (await within('/keys')).data
  const change = { method: 'PATCH', body: { rate_limit_per_min: 100 } }
  await must(browser, `/w/${workspaceId}/keys/${demoKey.id}`, change)
  const good = await startReceiver()
  const bad = await startReceiver()
  bad.behave((response) => void response.writeHead(500).end('{"error":"the database of this receiver is down"}'))
  const everything = ['message.sent', 'message.delivered', 'message.read', 'message.failed', 'message.received']
  await within('/webhooks', { name: 'Booking system', url: good.url, events: [...everything, 'flow.completed'] })
  await within('/webhooks', { name: 'Old CRM', url: bad.url, events: ['message.received', 'message.failed'] })
  await within('/keys', { name: 'Billing', scopes: ['messages:send', 'messages:read'], rate_limit_per_min: 60 })
  const reader = await within('/keys', {
    name: 'Reporting',
    scopes: ['messages:read', 'senders:read'],
    rate_limit_per_min: 10,
  })
  await within('/team/invites', { email: 'ben@harbour.example', role: 'developer' })

  await exchangeMessages(place)
  await causeApiErrors(place, reader.secret)
  for (let turn = 0; turn < 3; turn++)
    await control('POST', '/phones/16505550123/say', { text: `One more question (${turn + 1})` })
  const { data: senders } = await place.api('/v1/senders')
  const sender = senders.find(({ phone_number: number }: { phone_number: string }) => number.endsWith('0001'))
  await place.api('/v1/messages', {
    sender_id: sender.id,
    to: '16505550123',
    type: 'interactive',
    interactive: {
      type: 'button',
      body: { text: 'Thank you, *Ana*. Shall we keep Thursday at 10:30 for you?' },
      action: {
        buttons: [
          { type: 'reply', reply: { id: 'keep', title: 'Yes, please' } },
          { type: 'reply', reply: { id: 'move', title: 'Another day' } },
        ],
      },
    },
  })
  await control('POST', '/settled')
  await until('no message is queued', async () => (await within('/messages?status=queued')).data.length === 0)
  const isLogged = async () => JSON.stringify(await within('/refusals')).includes('rate_limited')
  await until('the requests are logged', isLogged)
  await until('both receivers have got events', () => good.received.length > 0 && bad.received.length > 0)
  const close = async () => void (await Promise.all([good.close(), bad.close()]))
  return { console: browser, receivers: [good, bad], close }
}

/** Sends messages in both directions: text, templates, buttons, a form with files, an order, an image, a location. Some of them fail. */
async function exchangeMessages({ api, control }: Installation): Promise<void> {
  const { data: senders } = await api('/v1/senders')
  const sender = senders.find(({ phone_number: number }: { phone_number: string }) => number.endsWith('0001'))
  const send = (to: string, message: object) => api('/v1/messages', { sender_id: sender.id, to, ...message })
  const act = (phone: string, action: string, body: object = {}) => control('POST', `/phones/${phone}/${action}`, body)
  const ana = '16505550123'
  const jorg = '491701234567'
  await act(ana, 'say', { to: '15550780001', text: 'Hi! Can I still come in this week?' })
  await act(jorg, 'say', { to: '15550780001', text: 'Guten Tag, sind Sie am Freitag geöffnet?' })
  await send(ana, {
    type: 'text',
    text: { body: 'Of course, *Ana*. We kept a place for you.' },
    reference: 'visit 1001',
  })
  await send(jorg, { type: 'text', text: { body: 'Ja, von neun bis fünf.' } })
  await send(jorg, {
    type: 'text',
    text: {
      body: 'Bitte bringen Sie zu Ihrem ersten Besuch die Überweisung, Ihre Versichertenkarte und eine Liste der Medikamente mit, die Sie regelmäßig einnehmen.',
    },
    reference: 'first-visit-2026-11-checklist-sent-by-reception',
  })
  await send(ana, {
    type: 'template',
    template: {
      name: 'appointment_reminder',
      language: 'en_US',
      variables: { 'header.1': 'Ana', 'body.1': 'Thursday 12', 'body.2': '10:30', 'buttons.2.url': 'A-1001' },
    },
    reference: 'visit 1001',
  }).catch(() => {})
  await control('POST', '/settled')
  await act(ana, 'tap', { button: 'Confirm' }).catch(() => {})
  await send(ana, {
    type: 'template',
    template: { name: 'intake_form', language: 'en', variables: { 'body.1': 'Ana' } },
  }).catch(() => send(ana, { type: 'template', template: { name: 'intake_form', language: 'en', variables: {} } }))
  await until('the form has arrived', async () =>
    JSON.stringify(await control('GET', `/phones/${ana}/messages`)).includes('intake_form'),
  )
  await act(ana, 'fillForm', {
    values: { full_name: 'Ana Prueba', email: 'ana@example.com', complaint: 'Sore throat since Monday' },
    files: {
      photos: [{ filename: 'throat.png' }],
      documents: [{ filename: 'referral.pdf', mimeType: 'application/pdf', base64: 'JVBERi0xLjQK' }],
    },
  }).catch(() => {})
  await act(ana, 'order', {
    items: [{ retailerId: 'SKU-1', quantity: 2 }, { retailerId: 'SKU-2' }],
    text: 'For pick-up, please',
  })
  await act(jorg, 'order', { to: '15550780001', items: [{ retailerId: 'SKU-3', quantity: 5 }] })
  await act(ana, 'image', { caption: 'This is how it looks today' })
  await act(jorg, 'location', {
    to: '15550780001',
    latitude: 53.5413,
    longitude: 9.9841,
    name: 'Elbphilharmonie',
    address: 'Platz der Deutschen Einheit 4',
  })
  await act(ana, 'say', { text: '<img src=x onerror=alert(1)> is what my son typed' })
  for (const [to, template] of [
    ['15550131026', 'hello_world'],
    ['15550131049', 'hello_world'],
    ['15551131031', 'hello_world'],
    ['15559000010', 'hello_world'],
    ['447700900123', 'hello_world'],
    ['34600111222', 'hello_world'],
  ] as const) {
    await send(to, { type: 'template', template: { name: template, language: 'en_US', variables: {} } })
  }
}

/** Makes requests that fail with different error codes. */
async function causeApiErrors({ url, key }: Installation, reader: string): Promise<void> {
  const call = (path: string, secret: string, body?: object) =>
    fetch(url + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'user-agent': 'billing/2.4 (node)',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  for (let turn = 0; turn < 4; turn++) await call('/v1/messages', reader, { to: '16505550123', type: 'text' })
  await call('/v1/messages', key, { to: 'not a number', type: 'text', text: { body: '' } })
  await call('/v1/messages', key, { type: 'fax', to: '16505550123' })
  await call('/v1/nothing', key)
  await call('/v1/templates/tpl_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d', key)
  for (let turn = 0; turn < 10; turn++) await call('/v1/me', reader)
}

async function must(browser: Browser, path: string, options: Parameters<Browser['call']>[1]) {
  const { status, body } = await browser.call(path, options)
  if (status >= 300) throw new Error(`${path} returned ${status}: ${JSON.stringify(body)}`)
  return body
}
