import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { allArrivals, setReceiver } from '../lib/arrivals.ts'
import { appSecret, sendBody } from '../lib/prepare.ts'
import { Scope } from '../lib/scope.ts'
import { connectNetwork, lifecycleEvents, readNetworkLog } from '../lib/sending.ts'

async function start(name: string, argument = '') {
  const scope = new Scope(() => {})
  onTestFinished(() => scope.end())
  return scope.startTarget(name, argument)
}

test('the receiver counts missing, repeated and wrongly signed deliveries', async () => {
  const receiver = await start('receiver')
  await setReceiver(receiver, {
    types: ['message.sent', 'message.read'],
    secrets: { '/0': 'whsec_0', '/1': 'whsec_1' },
  })
  const deliver = (number: number, event: string, { path = '/0', secret = 'whsec_0' } = {}) => {
    const body = JSON.stringify({ text: `Olá, number:${number};` })
    const signature = createHmac('sha256', secret).update(`1.${body}`).digest('hex')
    const headers = { 'service-event': event, 'service-signature': `t=1,v1=${signature}` }
    return fetch(`http://127.0.0.1:${receiver.port}${path}`, { method: 'POST', headers, body })
  }
  await deliver(0, 'message.sent')
  await deliver(0, 'message.read')
  await deliver(1, 'message.read', { path: '/1', secret: 'whsec_1' })
  await deliver(1, 'message.read', { path: '/1', secret: 'whsec_1' })
  await deliver(1, 'message.sent', { secret: 'whsec_1' })
  await deliver(1, 'message.delivered')
  const { times, missing, repeats, invalid } = await allArrivals(receiver, 3)
  expect(Object.keys(times)).toEqual(['0', '1', '3'])
  expect({ missing, repeats, invalid }).toEqual({ missing: 0, repeats: 1, invalid: 2 })
})

test('the network reports the statuses of a message, then a reply to it, in signed webhooks, and notices a repetition', async () => {
  const posted: { name: string; number: string; isSigned: boolean }[] = []
  const ingress = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    const [change] = JSON.parse(body.toString()).entry[0].changes
    const { statuses, messages } = change.value
    posted.push({
      name: `message.${statuses?.[0].status ?? 'received'}`,
      number: /number:\d+;/.exec(statuses?.[0].id ?? messages[0].context.id)?.[0] ?? '',
      isSigned:
        request.headers['x-hub-signature-256'] ===
        `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`,
    })
    response.end('ok')
  })
  await new Promise<void>((resolve) => ingress.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    ingress.closeAllConnections()
    ingress.close()
  })
  const network = await start('network')
  await connectNetwork(network, { port: (ingress.address() as AddressInfo).port }, 'app')
  const call = async () => {
    const body = JSON.stringify({ ...JSON.parse(sendBody(7)), biz_opaque_callback_data: 'msg_7' })
    return fetch(`http://127.0.0.1:${network.port}/v25.0/123/messages`, { method: 'POST', body })
  }
  expect(await (await call()).json()).toMatchObject({ messages: [{ id: expect.stringContaining('number:7;') }] })
  await expect.poll(() => posted, { timeout: 20_000 }).toHaveLength(4)
  expect(posted).toEqual(lifecycleEvents.map((name) => ({ name, number: 'number:7;', isSigned: true })))
  await call()
  expect(await readNetworkLog(network)).toMatchObject({ calledAt: { msg_7: expect.any(Number) }, repeats: 1 })
})
