import { expect, onTestFinished, test } from 'vitest'
import { attemptsOf, localRules, newDeliveryWorker, newLine } from '../../../../../testing/deliveries.ts'
import { type NameResponse, startNameServer } from '../../../../../testing/name-server.ts'
import { useReceivers } from '../../../../../testing/receiver.ts'
import { type TestServer, useTestServer } from '../../../../../testing/test-server.ts'
import { until } from '../../../../../testing/until.ts'
import { NameLookups } from '../../../../net/name-lookups.ts'
import { failuresMax } from './retry-policy.ts'

const testServer = useTestServer()
const newReceiver = useReceivers()

const here = ['127.0.0.1']

/** A delivery worker that asks a name server of this test. */
async function startWorker(names: Record<string, NameResponse>, deadlineMs = 700) {
  const nameServer = await startNameServer(names)
  const { resolve } = new NameLookups({ servers: [nameServer.address], deadlineMs })
  const worker = newDeliveryWorker(testServer, { resolve, deadlineMs: 10_000 })
  onTestFinished(async () => {
    await worker.stop(0)
    nameServer.close()
  })
  return { nameServer, worker, resolve }
}

/** A workspace with an endpoint at this host name. */
async function newEndpoint(host: string) {
  const receiver = await newReceiver()
  const line = await newLine(testServer)
  const rules = { ...localRules, resolve: async () => [{ address: '127.0.0.1', family: 4 }] }
  const { id } = await line.listen({ url: `http://${host}:${receiver.port}/` }, undefined, rules)
  return { receiver, line, id }
}

const healthOf = async ({ db }: TestServer, id: string) =>
  db.first('select enabled, failures, disabled_reason as reason from webhooks where id = $1', [id.slice(4)])

const openOf = ({ db }: TestServer, id: string) =>
  db.rows<{ attempts: number; trigger: string }>('select attempts, trigger from deliveries where webhook_id = $1', [
    id.slice(4),
  ])

test('while our resolver does not respond, deliveries wait and nothing counts against their endpoints', async () => {
  const { nameServer, worker, resolve } = await startWorker({ 'known.example': here, 'receiver.example': here })
  await resolve('known.example')
  const { receiver, line, id } = await newEndpoint('receiver.example')
  nameServer.everything = 'hang'
  await line.write(3)
  for (let round = 0; round < 2; round++) {
    await worker.drain()
    expect(await attemptsOf(testServer, id)).toEqual([])
    expect(await healthOf(testServer, id)).toMatchObject({ enabled: true, failures: 0 })
    expect(await openOf(testServer, id)).toEqual(Array(3).fill({ attempts: 0, trigger: 'first' }))
    testServer.clock.forward({ seconds: 10 })
  }
  nameServer.everything = null
  await worker.drain()
  expect(receiver.received).toHaveLength(3)
  const made = await attemptsOf(testServer, id)
  expect(made.map(({ number, trigger, state }) => [number, trigger, state])).toEqual(
    Array(3).fill([1, 'first', 'delivered']),
  )
})

test('an endpoint whose own name server hangs is disabled like any other that fails', async () => {
  const { worker, resolve } = await startWorker({ 'known.example': here, 'hanging.example': 'hang' }, 400)
  await resolve('known.example')
  const { line, id } = await newEndpoint('hanging.example')
  await line.write(30)
  await until('the endpoint is disabled', async () => {
    await worker.drain()
    testServer.clock.forward({ seconds: 15 })
    return ((await healthOf(testServer, id)) as { enabled: boolean }).enabled === false
  })
  expect(await healthOf(testServer, id)).toMatchObject({ failures: failuresMax, reason: expect.stringMatching(/dns/) })
  expect(new Set((await attemptsOf(testServer, id)).map(({ error }) => error))).toEqual(new Set(['dns']))
})

test('a name that does not exist fails with "dns" at once', async () => {
  const { worker } = await startWorker({})
  const { line, id } = await newEndpoint('typo.example')
  await line.write()
  await worker.drain()
  expect(await attemptsOf(testServer, id)).toMatchObject([
    { number: 1, error: 'dns', address: null },
    { number: 2, error: 'dns', address: null },
  ])
})

test('twenty hanging names do not delay another workspace’s new names', async () => {
  const hanging = Array.from({ length: 20 }, (_, index) => `hang-${index}.example`)
  const others = Array.from({ length: 10 }, (_, index) => `new-${index}.example`)
  await startWorker(
    {
      ...Object.fromEntries(hanging.map((name) => [name, 'hang' as const])),
      ...Object.fromEntries(others.map((name) => [name, here])),
    },
    30_000,
  )
  const bad = await newLine(testServer)
  const rules = { ...localRules, resolve: async () => [{ address: '127.0.0.1', family: 4 }] }
  for (const host of hanging) await bad.listen({ url: `http://${host}/` }, undefined, rules)
  await bad.write(8)
  const endpoints = await Promise.all(others.map(newEndpoint))
  await Promise.all(endpoints.map(({ line }) => line.write()))
  await until('all others have their events', () => endpoints.every(({ receiver }) => receiver.received.length === 1))
})
