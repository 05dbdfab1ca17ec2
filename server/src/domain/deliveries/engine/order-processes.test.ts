import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { textsAt, withoutRetries } from '../../../../testing/conversations.ts'
import { newServiceDatabase } from '../../../../testing/database.ts'
import { newApp, newSender, text, webhookOf } from '../../../../testing/network-app.ts'
import { startReceiver } from '../../../../testing/receiver.ts'
import { secretKeys } from '../../../../testing/service.ts'
import { startMortal } from '../../../../testing/service-here.ts'
import { openDatabase } from '../../../db/db.ts'
import { systemClock } from '../../../lib/clock.ts'
import { createWebhook } from '../../webhooks/webhooks.ts'
import { createWorkspace } from '../../workspaces/workspaces.ts'

const people = Array.from({ length: 4 }, (_, index) => `1650555${1000 + index}`)
const texts = Array.from({ length: 10 }, (_, index) => `message ${index}`)

test('with two processes that receive and deliver, and die on the way, the events of each person arrive in order', async () => {
  const { connection, drop } = await newServiceDatabase()
  const db = openDatabase(connection, () => {}, 3)
  const receiver = await startReceiver()
  onTestFinished(async () => {
    await receiver.close()
    await db.close()
    await drop()
  })
  let requests = 0
  receiver.behave((response) => void response.writeHead(++requests % 5 === 0 ? 503 : 200).end())
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'order')
  const rules = { allowHttp: true, allowRanges: [], resolve: async () => [] }
  await createWebhook(db, systemClock, secretKeys, rules, {
    workspaceId,
    name: 'receiver',
    url: receiver.url.replace('127.0.0.1', 'localhost'),
    events: ['message.received'],
    ordering: 'conversation',
  })
  const target = { url: '', db, clock: systemClock, secretKeys }
  const app = await newApp(target)
  const { phoneNumberId } = await newSender(target, workspaceId, app.id, '99000000002')
  const startTwo = () => Promise.all([startMortal(connection), startMortal(connection)])
  let services = await startTwo()
  let posts = 0
  /** Each person writes the next message when the one before is acknowledged, by whichever process. */
  const writing = Promise.all(
    people.map(async (from) => {
      for (const [index, body] of texts.entries()) {
        const webhook = webhookOf(phoneNumberId, [{ ...text(`wamid.${from}.${index}`, body), from }])
        const post = () => app.post(webhook, { url: services[++posts % services.length]?.url ?? '' }).catch(() => 0)
        while ((await post()) !== 200) await sleep(20)
        await sleep(10)
      }
    }),
  )
  while (receiver.received.length < (people.length * texts.length) / 3) await sleep(5)
  for (const service of services) service.kill()
  // As if their leases had ended.
  await db.change(`update deliveries set due_at = now() where lease is not null`)
  services = await startTwo()
  await writing
  for (;;) {
    const open = await db.first<{ count: number }>('select count(*)::int as count from deliveries')
    if (open?.count === 0) break
    // As if the time of the next attempts had come.
    await db.change(
      `update deliveries set due_at = now() where lease is null and due_at > now() and due_at < 'infinity'`,
    )
    await db.change('update endpoint_visits set visit_at = now() where visit_at > now()')
    await sleep(100)
  }
  const all = textsAt(receiver)
  for (const person of people) {
    const arrived = all.flatMap((each) => (each.startsWith(person) ? [each.slice(person.length + 1)] : []))
    expect(withoutRetries(arrived), person).toEqual(texts)
  }
}, 300_000)
