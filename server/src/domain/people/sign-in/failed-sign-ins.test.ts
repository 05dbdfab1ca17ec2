import { expect, test } from 'vitest'
import { newBrowser, signedIn } from '../../../../testing/console.ts'
import { newPasskey } from '../../../../testing/passkey.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { deleteExpiredPeopleData } from './delete-expired.ts'

/** Failed sign-ins in the audit log, as an operator reads it. */
const server = useTestServer()

const post = (body: object = {}) => ({ method: 'POST', body })
const wrong = 'wrong and long enough'

async function setUp() {
  const operator = await signedIn(server, { operator: true })
  const person = await signedIn(server, { operator: true })
  const signIn = (email = person.email) => newBrowser(server.url).call('/sign-in', post({ email, password: wrong }))
  /** The newest entries about the person, with their action and details. */
  const entries = async () => {
    // The operator's own session has a limit too.
    await operator.call('/sign-in', post({ email: operator.email, password: operator.password }))
    const { data } = (await operator.call('/operator/audit?action=session&limit=100')).body
    return (data as { actor: string; action: string; target_name: string | null; address: string; after: object }[])
      .filter(({ actor, target_name }) => actor === person.email || target_name === person.email)
      .filter(({ action }) => /failed/.test(action))
  }
  /** Ends a lock, which would end the guessing. */
  const unlock = () => server.db.change('delete from sign_in_tries')
  return { operator, person, signIn, entries, unlock }
}

test('a failed sign-in is in the audit log with its address and reason, but not for an unknown email address', async () => {
  const { operator, signIn, entries } = await setUp()
  expect((await signIn()).status).toBe(401)
  expect(await entries()).toMatchObject([
    { action: 'session.failed', address: '127.0.0.1', after: { why: 'wrong password' } },
  ])
  expect((await signIn('unknown@example.com')).status).toBe(401)
  const { data } = (await operator.call('/operator/audit?actor=unknown@example.com')).body
  expect(data).toEqual([])
})

test('a wrong code, an invalid passkey and a failed confirmation are in the audit log', async () => {
  const { person, entries, unlock } = await setUp()
  const passkey = newPasskey()
  await passkey.register(person, 'Laptop')
  await person.call('/confirm', post({ password: wrong }))
  await person.call('/confirm', post({ code: '000000' }))
  const signature = async (path: string) => {
    await person.call(path, post())
    return passkey.signed('another challenge')
  }
  await person.call('/confirm', post({ passkey: await signature('/confirm/passkey/options') }))
  await unlock()
  await person.call('/sign-in/passkey', post({ response: await signature('/sign-in/passkey/options') }))
  expect((await entries()).map(({ action, after }) => [action, after]).toReversed()).toEqual([
    ['session.confirm_failed', { why: 'wrong password' }],
    ['session.confirm_failed', { why: 'wrong code' }],
    ['session.confirm_failed', { why: 'invalid passkey' }],
    ['session.failed', { why: 'invalid passkey' }],
  ])
})

test('guessing does not fill the audit log: five entries an hour, and one with the number of the others', async () => {
  const { signIn, entries, unlock } = await setUp()
  const guess = async (times: number) => {
    for (let index = 0; index < times; index++) {
      await unlock()
      expect((await signIn()).status).toBe(401)
    }
  }
  const actions = async () =>
    Object.entries(Object.groupBy(await entries(), ({ action }) => action)).map(([action, all]) => [
      action,
      all?.length,
    ])
  await guess(20)
  expect(await actions()).toEqual([['session.failed', 5]])
  await deleteExpiredPeopleData(server.db, server.clock)
  expect(await actions()).toEqual([['session.failed', 5]])

  // The hour is over: the background loop records the count, once.
  server.clock.forward({ minutes: 61 })
  await deleteExpiredPeopleData(server.db, server.clock)
  await deleteExpiredPeopleData(server.db, server.clock)
  const [newest] = await entries()
  expect(newest).toMatchObject({
    actor: 'system',
    action: 'session.failed_more',
    address: null,
    after: { failures: 15 },
  })
  expect(await actions()).toEqual([
    ['session.failed_more', 1],
    ['session.failed', 5],
  ])

  // Without the loop, the next failure does.
  await guess(7)
  server.clock.forward({ minutes: 61 })
  await guess(1)
  expect((await entries()).slice(0, 2).map(({ action, after }) => [action, after])).toEqual(
    expect.arrayContaining([
      ['session.failed', { why: 'wrong password' }],
      ['session.failed_more', expect.objectContaining({ failures: 2 })],
    ]),
  )
  expect(await actions()).toEqual(
    expect.arrayContaining([
      ['session.failed', 11],
      ['session.failed_more', 2],
    ]),
  )
})

test('concurrent guesses write no more entries', async () => {
  const { signIn, entries } = await setUp()
  await Promise.all(Array.from({ length: 12 }, () => signIn()))
  expect((await entries()).length).toBeLessThanOrEqual(5)
})

test('the role of the service has no privilege to change the audit log', async () => {
  const rows = await server.db.rows<{ privilege: string; has: boolean }>(
    `select privilege, has_table_privilege('audit_entries', privilege) as has
     from unnest(array['insert', 'select', 'update', 'delete', 'truncate']) as privilege`,
  )
  expect(rows.filter(({ has }) => has).map(({ privilege }) => privilege)).toEqual(['insert', 'select'])
})
