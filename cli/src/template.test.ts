import { beforeAll, expect, test } from 'vitest'
import { useConnectedAccount } from '../testing/connected-account.ts'
import { runParley, startCommand } from '../testing/run-parley.ts'

/** What the `template` commands print. `commands.test.ts` has their JSON. */
const account = useConnectedAccount()
beforeAll(() => {
  account().simulator.control.switches.set({ templateReviewMs: 10 })
})

const run = (...words: string[]) => runParley(words, account().env)
const create = (name: string, ...more: string[]) =>
  run('template', 'create', '--name', name, '--language', 'en', '--category', 'UTILITY', ...more)

test('a template is created, rejected with its reason, edited and approved', async () => {
  const rejected = await create('summer', '--body', 'Hi {{1}}, our sale has started.', '--example', '1=Ana', '--wait')
  expect(rejected.code).toBe(1)
  expect(rejected.out).toMatch(/^Submitted the template summer \(en\) for review\.\n/)
  expect(rejected.out).toMatch(
    /\nStatus: REJECTED, quality UNKNOWN\.\nReason: .*\(TAG_CONTENT_MISMATCH\)\nPart: category\n/,
  )
  expect((await run('template', 'list', '--status', 'rejected')).out).toMatch(/tpl_\S+ +summer +en +UTILITY +REJECTED/)
  const approved = await run(
    'template',
    'edit',
    'summer:en',
    '--category',
    'marketing',
    '--footer',
    'Harbour',
    '--wait',
  )
  expect(approved).toMatchObject({ code: 0, out: expect.stringMatching(/MARKETING\n(.*\n)*Status: APPROVED/) })
  expect((await run('template', 'show', 'summer')).out).toMatch(
    /\n\n {2}Hi \{\{1\}\}, our sale has started\.\n {2}Harbour\n$/,
  )
})

test('every problem is listed with its path, and WhatsApp is not called', async () => {
  const calls = () => account().simulator.control.log.list({ limit: 1_000_000 }).length
  const before = calls()
  const { code, err, out } = await create('Summer', '--body', 'Ready, {{1}}', '--footer', 'a'.repeat(61))
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(
    err
      .trimEnd()
      .split('\n')
      .map((line) => line.split(':')[0]),
  ).toEqual(['name', 'body.example.1', 'body.text', 'body.text', 'footer.text'])
  expect(calls()).toBe(before)
})

test('a file or standard input has the whole template, and options replace parts of it', async () => {
  const file = {
    name: 'visit',
    language: 'es',
    category: 'UTILITY',
    components: [
      { type: 'BODY', text: 'Hola {{first_name}}, tu cita es mañana.' },
      { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Confirmar' }] },
    ],
  }
  const words = ['template', 'create', '--file', '-', '--example', 'first_name=Ana', '--header', 'Cita', '--json']
  const command = startCommand(words, account().env)
  command.type(JSON.stringify(file))
  command.endInput()
  const { out } = await command.ended
  expect(JSON.parse(out)).toMatchObject({
    name: 'visit',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Cita' },
      { type: 'BODY', example: { body_text_named_params: [{ param_name: 'first_name', example: 'Ana' }] } },
      { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Confirmar' }] },
    ],
  })
  const wrong = startCommand(['template', 'create', '--file', '-'], account().env)
  wrong.type('[1]')
  wrong.endInput()
  expect((await wrong.ended).err).toContain('Standard input is not a JSON object')
  expect((await run('template', 'create', '--file', 'missing.json')).err).toBe('missing.json cannot be read: ENOENT.\n')
})

test('mistakes are explained, and what WhatsApp refuses is printed in its words', async () => {
  const taken = await create('hello', '--body', 'Hello')
  expect(taken.code).toBe(0)
  expect((await create('hello', '--body', 'Hello')).err).toMatch(
    /^WhatsApp rejected it: Content in this language already/,
  )
  expect((await run('template', 'show', 'nothing')).err).toMatch(
    /^Template "nothing" not found\. Run ".*template list"/,
  )
  expect((await run('template', 'edit', 'hello')).err).toMatch(/^Nothing to change/)
  expect((await run('template', 'delete', 'hello')).err).toMatch(/add --yes\.\n$/)
  expect((await create('x', '--body', 'Hi', '--example', 'Ana')).err).toMatch(/^Invalid --example "Ana"/)
  expect((await run('template', 'delete', 'hello', '--yes')).out).toBe('Deleted the template hello (en).\n')
})
