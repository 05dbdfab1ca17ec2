import { expect, test } from 'vitest'
import { screenshot } from '../server/testing/browser.ts'
import { useReceivers } from '../server/testing/receiver.ts'
import { animationsDone, pageReady } from './page-ready.ts'
import { useSignedIn } from './signed-in.ts'

/** The health page repairs what it reports, without a terminal. */
const console = useSignedIn()
const newReceiver = useReceivers()

test('a disabled webhook is tested and enabled on the health page, also of a workspace the operator is not in', async () => {
  const { ada, place, db } = console
  const receiver = await newReceiver()
  receiver.behave(500)
  const input = { name: 'Old CRM', url: receiver.url, events: ['message.received'] }
  const { body } = await ada.call(`/w/${place.workspaceId}/webhooks`, { method: 'POST', body: input })
  const reason = { method: 'POST', body: { reason: 'Down for maintenance' } }
  await ada.call(`/w/${place.workspaceId}/webhooks/${body.webhook.id}/disable`, reason)
  await db.change('delete from memberships where workspace_id = $1', [place.workspaceId])

  const page = await console.open('/operator/health')
  const line = page.getByRole('list', { name: 'Actions for endpoints' }).getByRole('listitem')
  await line.getByText('Old CRM').waitFor()
  expect(await page.getByText('./parley webhook').count()).toBe(0)
  await line.getByRole('button', { name: 'Send test event' }).click()
  await line.getByText(/HTTP 500 after/).waitFor()
  await pageReady(page)
  await screenshot(page, 'health with a failed test event')
  await page.emulateMedia({ colorScheme: 'dark' })
  await animationsDone(page)
  await screenshot(page, 'health with a failed test event, dark')
  receiver.behave(200)
  await line.getByRole('button', { name: 'Send test event' }).click()
  await line.getByText('The endpoint accepted the event.').waitFor()
  await line.getByRole('button', { name: 'Enable' }).click()
  await page.getByText('Old CRM enabled').waitFor()
  await page.getByText(/\d+ checks are fine/).click()
  await page.getByText('No webhook is disabled or failing repeatedly.').waitFor()
  const rows = await db.rows<{ action: string }>(
    `select action from audit_entries where workspace_id = $1 and action like 'webhook.%' order by at, id`,
    [place.workspaceId],
  )
  expect(rows.map(({ action }) => action)).toEqual([
    'webhook.create',
    'webhook.disable',
    'webhook.test',
    'webhook.test',
    'webhook.enable',
  ])
})

test('an account whose sync fails is synced on the health page, and the error is shown', async () => {
  const { db } = console
  const [app] = await db.rows<{ graph_url: string }>('select graph_url from apps', [])
  await db.change("update apps set graph_url = 'http://127.0.0.1:9'", [])
  await db.change("update connections set sync_failures = 1, sync_error = 'It failed.'", [])
  const page = await console.open('/operator/health')
  const line = page.getByRole('list', { name: 'Actions for account sync' }).getByRole('listitem')
  await line.getByRole('button', { name: 'Sync' }).click()
  await line.getByText(/It is retried automatically/).waitFor()
  await screenshot(page, 'health with a failed sync')
  await db.change('update apps set graph_url = $1', [app?.graph_url])
  await line.getByRole('button', { name: 'Sync' }).click()
  await page.getByText(/Account \d+ synced/).waitFor()
  await page.getByText(/\d+ checks are fine/).click()
  await page.getByText('The last sync of every account succeeded.').waitFor()
})
