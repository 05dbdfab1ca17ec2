import { expect, test } from 'vitest'
import { newBrowser, signedIn } from '../../../testing/console.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { maintenanceSteps } from '../../work.ts'
import { giveCredits } from '../credits/credits.ts'
import { passOn } from './pass-on.ts'

const server = useTestServer()

test('without a mail server, maintenance still notes which keys are about to expire', async () => {
  const workspace = await newWorkspace(server)
  const expiresAt = new Date(server.clock.now().getTime() + 86_400_000)
  const { key } = await workspace.newKey({ expiresAt })
  server.clock.forward({ hours: 13 })
  const step = maintenanceSteps(server.runtime).find(({ name }) => name === 'expiries')
  await step?.run(server.db)
  const noted = 'select subject_id as id from announced_expiries where workspace_id = $1'
  expect(await server.db.rows(noted, [workspace.id])).toEqual([{ id: key.id }])
  const deps = { db: server.db, clock: server.clock, secretKeys: () => server.secretKeys, sendsMail: false }
  await passOn(deps)
  expect(await server.db.rows('select 1 from mails union all select 1 from notifications')).toEqual([])
})

test('without a mail server, links are only shown, and no email waits', async () => {
  const { id } = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: id, role: 'admin' })
  const invite = { method: 'POST', body: { email: 'new@example.com', role: 'member' } }
  expect(await admin.call(`/w/${id}/team/invites`, invite)).toMatchObject({
    status: 201,
    body: { url: expect.stringContaining('/link#'), mailed: false },
  })
  const reset = await newBrowser(server.url).call('/sign-in/reset', { method: 'POST', body: { email: admin.email } })
  expect(reset).toMatchObject({ status: 409, body: { error: { message: expect.stringContaining('sends no emails') } } })
  expect((await admin.call('/account/notifications')).body).toMatchObject({ sends_mail: false })
  await giveCredits(server.db, server.clock, id, 200, 'test')
  await giveCredits(server.db, server.clock, id, -150, 'test')
  const deps = { db: server.db, clock: server.clock, secretKeys: () => server.secretKeys, sendsMail: false }
  expect(await passOn(deps)).toBe(1)
  expect(await server.db.rows('select 1 from mails union all select 1 from notifications')).toEqual([])
})
