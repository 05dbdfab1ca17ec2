import type { Simulator } from '@parley/simulator/start'
import { expect, test } from 'vitest'
import { useConnectedAccount } from '../testing/connected-account.ts'
import { runParley, startCommand } from '../testing/run-parley.ts'

/** What the `sender` commands print. `commands.test.ts` has their JSON. */
const account = useConnectedAccount()

const run = (...words: string[]) => runParley(words, account().env)
const change = (settings: Parameters<Simulator['control']['numbers']['change']>[1]) =>
  account().simulator.control.numbers.change('106540000000002', settings)

test('a number is verified, registered and deregistered', async () => {
  change({ status: 'PENDING', codeVerificationStatus: 'NOT_VERIFIED' })
  const register = ['sender', 'register', '+1 555-078-0002']
  const unverified = await runParley(register, { ...account().env, PARLEY_PIN: '314159' })
  expect(unverified).toMatchObject({ code: 1, out: '', err: expect.stringContaining('133006). Request a code') })
  expect((await run('sender', 'request-code', '15550780002', '--method', 'voice')).out).toBe(
    'WhatsApp calls 15550780002.\nEnter the code with: ./parley sender verify-code 15550780002 --code -\n',
  )
  const verify = startCommand(['sender', 'verify-code', '15550780002', '--code', '-'], account().env)
  verify.type('780-002\n')
  verify.endInput()
  expect(await verify.ended).toMatchObject({
    out: 'Verified 15550780002.\nRegister it with: ./parley sender register 15550780002 --pin -\n',
  })
  const registered = await runParley(register, { ...account().env, PARLEY_PIN: '314159' })
  expect(registered).toEqual({ code: 0, out: 'Registered 15550780002. Its status is CONNECTED.\n', err: '' })
  const wrong = await run(...register, '--pin', '271828')
  expect(wrong).toMatchObject({ code: 1, err: expect.stringMatching(/133005\)\. Enter the current two-step PIN/) })
  expect(wrong.err).not.toContain('271828')
  expect((await run('sender', 'pin', '15550780002', '--pin', '271828')).out).toBe(
    'Set the two-step PIN of 15550780002.\n',
  )
  const deregister = ['sender', 'deregister', '15550780002']
  expect(await run(...deregister)).toMatchObject({ code: 1, err: expect.stringContaining('add --yes') })
  expect((await run(...deregister, '--yes')).out).toBe('Deregistered 15550780002. Its status is DISCONNECTED.\n')
  const tooSoon = await run(...register, '--pin', '271828')
  expect(tooSoon.err).toMatch(/133015\)\. Wait five minutes, then register it again\.\n$/)
})

test('sender list shows limits, display names and PINs', async () => {
  account().simulator.control.switches.set({ templateReviewMs: 3_600_000 })
  expect((await run('sender', 'name', '15550780001', '--name', 'Harbour Dental')).out).toBe(
    'Requested the display name "Harbour Dental" for 15550780001. Its status is PENDING_REVIEW.\n',
  )
  const { out } = await run('sender', 'list')
  const [heading, first] = out.split('\n')
  expect(heading).toMatch(/ID +NUMBER +NAME +STATUS +QUALITY +THROUGHPUT +LIMIT +NAME STATUS +VERIFIED +PIN/)
  expect(first).toMatch(
    /^snd_\S+ +15550780001 +Harbour Clinic +CONNECTED +GREEN +20 a second +2000 +APPROVED \("Harbour Dental": PENDING_REVIEW\) +VERIFIED +yes$/,
  )
})

test('sender profile shows the profile and changes what is given', async () => {
  const words = ['sender', 'profile', '15550780001']
  expect((await run(...words)).out).toBe(
    ['About', 'Address', 'Description', 'Email', 'Category', 'Website']
      .map((name) => `${name.padEnd(13)}not set\n`)
      .join(''),
  )
  const { out } = await run(...words, '--about', 'Open 9 to 5', '--website', 'https://clinic.example')
  expect(out).toMatch(/^Changed the business profile of 15550780001\.\nAbout {8}Open 9 to 5\n/)
  const removed = await run(...words, '--website', '', '--category', 'shoes')
  expect(removed).toMatchObject({ code: 1, err: expect.stringContaining('Enter a category: ALCOHOL, APPAREL') })
  expect((await run(...words, '--website', '')).out).toMatch(/Website {6}not set\n$/)
})

test('an unknown sender and a missing PIN are reported', async () => {
  const unknown = await run('sender', 'pin', '15550789999', '--pin', '314159')
  expect(unknown.err).toMatch(/^Sender "15550789999" not found\. The senders of the workspace: .*15550780001/)
  const { err } = await run('sender', 'register', '15550780001')
  expect(err).toContain('Missing --pin. Pass it as an option or set PARLEY_PIN.')
})

test('a number of one workspace needs no --workspace, though there are several', async () => {
  const { out } = await run('workspace', 'create', '--name', 'Other', '--json')
  const { id } = JSON.parse(out) as { id: string }
  expect(await run('sender', 'profile', '15550780001')).toMatchObject({ code: 0, err: '' })
  expect((await run('sender', 'profile', '15550780001', '--workspace', id)).err).toContain('not found')
  expect((await run('sender', 'profile', '15550780009')).err).toContain('--workspace')
})
