import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi } from '../../../../testing/call.ts'
import { useSending } from '../../../../testing/sending.ts'
import { type ServiceProcess, spawnService } from '../../../../testing/service.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newLogger } from '../../../lib/logger.ts'
import { readBalance } from '../../credits/credits.ts'
import { verifyLedger } from '../../credits/verify-ledger.ts'

const server = useTestServer()
const sending = useSending(server)
let processes: ServiceProcess[]

beforeAll(async () => {
  processes = await Promise.all([1, 2, 3].map(() => spawnService(server.connection, { PARLEY_ROLE: 'api' })))
})

afterAll(async () => void (await Promise.all(processes.map((each) => each.stop()))))

test('50 parallel sends with one key over three OS processes give one message, one debit and 50 equal responses', async () => {
  const { workspace } = await sending.newShop(10)
  const send = (index: number) =>
    callApi(`${processes[index % 3]?.url}/v1/messages`, {
      method: 'POST',
      key: workspace.secret,
      headers: { 'idempotency-key': 'order-1001' },
      body: { to: '16505550123', type: 'text', text: { body: 'hi' } },
    })
  const responses = await Promise.all(Array.from({ length: 50 }, (_, index) => send(index)))
  expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(202))
  expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect(responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(49)
  const messages = await server.db.rows('select 1 from messages where workspace_id = $1', [workspace.id])
  expect(messages).toHaveLength(1)
  expect(await readBalance(server.db, workspace.id)).toBe(9)
  expect(await verifyLedger(server.db, newLogger('silent'))).toEqual([])
})

test('100 parallel sends with 10 credits over three OS processes give ten 202 and ninety 402', async () => {
  const { workspace } = await sending.newShop(10)
  // Two keys, because 100 requests exceed the rate limit of one.
  const keys = [workspace.secret, (await workspace.newKey()).secret]
  const responses = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      callApi(`${processes[index % 3]?.url}/v1/messages`, {
        method: 'POST',
        key: keys[index % 2] as string,
        body: { to: '16505550123', type: 'text', text: { body: `hi ${index}` } },
      }),
    ),
  )
  const count = (code: number) => responses.filter(({ status }) => status === code).length
  expect([count(202), count(402)]).toEqual([10, 90])
  expect(await readBalance(server.db, workspace.id)).toBe(0)
  expect(await verifyLedger(server.db, newLogger('silent'))).toEqual([])
})
