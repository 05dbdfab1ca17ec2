import { expect, onTestFinished, test } from 'vitest'
import { followLink, goodPassword, newBrowser } from '../../../testing/console.ts'
import { newServiceDatabase } from '../../../testing/database.ts'
import { startMailServer } from '../../../testing/mail-server.ts'
import { startHere, startMortal } from '../../../testing/service-here.ts'
import { until } from '../../../testing/until.ts'
import { openDatabase } from '../../db/db.ts'
import { systemClock } from '../../lib/clock.ts'
import { newSetupLink } from '../people/links/links.ts'

test('an email that a process added before it was killed is sent once, by one of two others', async () => {
  const { connection, drop } = await newServiceDatabase()
  onTestFinished(drop)
  const mailServer = await startMailServer({ password: 'p@ss word' })
  onTestFinished(() => mailServer.close())
  const env = { PARLEY_SMTP_URL: mailServer.url, PARLEY_MAIL_FROM: 'parley@example.com' }
  const api = await startMortal(connection, { ...env, PARLEY_ROLE: 'api' })
  const db = openDatabase(connection, () => {}, 2)
  onTestFinished(() => db.close())
  const browser = newBrowser(api.url)
  const email = 'ada@example.com'
  const token = await newSetupLink(db, systemClock, null, 'test')
  expect((await followLink(browser, token, { name: 'Ada', email, password: goodPassword })).status).toBe(200)
  expect((await browser.call('/sign-in/reset', { method: 'POST', body: { email } })).status).toBe(204)
  api.kill()
  await Promise.all([1, 2].map(() => startHere(connection, { ...env, PARLEY_ROLE: 'worker' })))
  await until('the email is sent', async () => (await db.rows('select 1 from mails')).length === 0, 60_000)
  expect(mailServer.received.map(({ to, subject }) => ({ to, subject }))).toEqual([
    { to: [email], subject: 'Reset your Parley password' },
  ])
})
