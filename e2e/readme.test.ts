import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blocksOf, isRun } from '../scripts/docs-blocks.ts'
import { useBrowser } from '../server/testing/browser.ts'
import { removeFolder } from '../server/testing/data-dir.ts'
import { newDataDir } from '../server/testing/prepared-data-dir.ts'
import { until } from '../server/testing/until.ts'
import { notPrinted, Reader, root } from './reader.ts'
import { fillIn, type Quote, readSteps } from './readme.ts'
import type { Terminal } from './terminal.ts'

/** Follows the documents literally: runs their commands and checks the output they quote. Only the ports are different. */
const docs = (page: string) => join(root, 'docs', page)
const ofReadme = ['Start', 'A first message', 'Command line']
/** The pages a newcomer reads, in this order. */
const steps = [
  ...readSteps('README.md', ofReadme.slice(0, 2)),
  ...readSteps('docs/messages/sending.md', ['Send a template', 'Follow the status']),
  ...readSteps('docs/events/webhooks.md', ['Start with an example']),
  ...readSteps('README.md', ofReadme.slice(2)),
]
const snippets = [...blocksOf('docs/messages/sending.md'), ...blocksOf('docs/events/webhooks.md')]
let followed = 0

const browser = useBrowser()
const dataDir = newDataDir()
const reader = new Reader(dataDir)
const { seen } = reader
const here = (text: string) => reader.here(text)
/** The terminal for the next command. A terminal with a running command is left alone and a new one opened. */
let current: Terminal | undefined

beforeAll(async () => {
  await reader.choosePorts('8080', '8090', '8095')
})

afterAll(async () => {
  await reader.close()
  removeFolder(dataDir)
})

test('the README leads from a clone to a received message, a reply and the console', { timeout: 180_000 }, async () => {
  const service = await follow('npm start')
  const setUpLink = /http:\S+\/link#\S+/.exec(service.terminal.out())?.[0] ?? ''
  const key = seen.get('prl_live_…') ?? ''

  await follow('./parley workspace list')
  await follow('./parley webhook create')
  const listener = await follow('./parley listen')
  const phone = await browser.newPage({ isDrawn: false })
  await phone.goto(here('http://127.0.0.1:8090'))
  await say(phone, 'hi')
  await reader.expectPrinted(listener.terminal, listener.quotes[1])

  const response = await follow('export PARLEY_API_KEY=prl_live_…')
  await bubble(phone, 'Hello Ana! How can we help?').getByRole('img', { name: 'Read' }).waitFor()
  await reader.expectPrinted(listener.terminal, response.quotes[1])

  const desk = await browser.newPage({ isDrawn: false })
  await desk.goto(setUpLink)
  await desk.getByLabel('Your name').fill('Ada')
  await desk.getByLabel('Email address').fill('ada@example.com')
  await desk.getByLabel('Password', { exact: true }).fill('seven quiet otters')
  await desk.getByRole('button', { name: 'Create account' }).click()
  await desk.getByRole('link', { name: 'Messages', exact: true }).click()
  await desk.getByRole('row', { name: 'Hello Ana! How can we help?' }).waitFor()
  await desk.getByRole('link', { name: 'Deliveries', exact: true }).click()
  await desk.getByRole('row', { name: /message\.received .*Delivered.* 200/ }).waitFor()
  await desk.getByRole('row', { name: /message\.read .*Delivered.* 200/ }).waitFor()

  await follow('curl -H "Authorization: Bearer $PARLEY_API_KEY" "http://127.0.0.1:8080/v1/templates')
  await follow('curl http://127.0.0.1:8080/v1/messages')
  await bubble(phone, 'tu pedido A-1001').getByRole('img', { name: 'Read' }).waitFor()
  // The phone shows it as read before the service has received the status.
  await until('the service reports the message as read', async () => {
    const list = await fetch(here('http://127.0.0.1:8080/v1/messages?limit=1'), {
      headers: { authorization: `Bearer ${key}` },
    })
    return ((await list.json()) as { data: { status: string }[] }).data[0]?.status === 'read'
  })
  await follow('curl -H "Authorization: Bearer $PARLEY_API_KEY" http://127.0.0.1:8080/v1/messages/')
  await follow('curl -H "Authorization: Bearer $PARLEY_API_KEY" "http://127.0.0.1:8080/v1/messages?reference=')
  await expectLine(runSnippet('new Parley', { PARLEY_API_KEY: key }), /Harbour Clinic/)

  await listener.terminal.interrupt()
  const example = await follow('PORT=8095 PARLEY_WEBHOOK_SECRET=')
  await follow('./parley phone send')
  await expectLine(example.terminal, /^message\.received .*"hi again"/m)
  await example.terminal.interrupt()
  const snippet = runSnippet('parleyWebhook', { PARLEY_WEBHOOK_SECRET: seen.get('whsec_…') ?? '' })
  await until('the receiver listens', () => fetch(here('http://127.0.0.1:8095')).then(Boolean, () => false))
  await say(phone, 'and again')
  await expectLine(snippet, /^16505550123 and again$/m)

  await follow('./parley key create')
  expect(steps.slice(followed), 'steps of the documents that were not followed').toEqual([])
  // An open page would log errors when its server stops.
  await Promise.all([phone.close(), desk.close()])
  await service.terminal.interrupt()
  expect(service.terminal.out()).toMatch(/Stopped\.\n$/)
})

test('every block of the README that can be run is followed', () => {
  const sections = blocksOf('README.md')
    .filter(isRun)
    .map(({ section }) => section)
  expect(new Set(sections)).toEqual(new Set(ofReadme))
})

test('the table of settings has exactly the settings of config.ts', () => {
  const namesIn = (text: string) =>
    new Set(text.match(/\b(PARLEY_[A-Z_]+|DATABASE_URL|PUBLIC_URL|LOG_LEVEL|HOST|PORT)\b/g))
  const rows = readFileSync(docs('run/configuration.md'), 'utf8').match(/^\| `[A-Z][^|]*\|/gm) ?? []
  const config = readFileSync(join(root, 'server', 'src', 'config.ts'), 'utf8')
  expect(namesIn(rows.join('\n'))).toEqual(namesIn(config))
})

const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })]

test.each(pages)('every link of %s has a target', (page) => {
  const text = readFileSync(join(root, page), 'utf8')
  const targets = [...text.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, target = '']) => target)
  if (page === 'README.md') expect(targets).not.toEqual([])
  expect(targets.filter((target) => !hasTarget(join(root, page), target))).toEqual([])
})

/** Runs the next commands of the documents, which start with `start`, and checks the output that they quote. */
async function follow(start: string): Promise<{ terminal: Terminal; quotes: Quote[] }> {
  const { commands = '', quotes = [] } = steps[followed++] ?? {}
  expect(commands.slice(0, start.length), 'the next commands of the documents').toBe(start)
  const typed = here(fillIn(commands, seen))
  const terminal = current ?? reader.openTerminal()
  if (/^npm start|parley listen|receiver\.ts/.test(typed)) {
    current = undefined
    terminal.start(typed)
    await reader.expectPrinted(terminal, quotes[0])
  } else {
    current = terminal
    const output = await terminal.run(typed)
    if (quotes[0] && !reader.isPrinted(quotes[0], output)) throw notPrinted(quotes[0], output)
  }
  return { terminal, quotes }
}

/** Runs the TypeScript snippet of the documents that contains `part`. */
function runSnippet(part: string, env: Record<string, string>): Terminal {
  const { text = '' } = snippets.find((block) => block.language === 'ts' && block.text.includes(part)) ?? {}
  const terminal = reader.openTerminal({ ...env, SNIPPET: here(text) })
  terminal.start('exec node_modules/.bin/node --input-type=module-typescript --eval "$SNIPPET"')
  return terminal
}

async function expectLine(terminal: Terminal, line: RegExp): Promise<void> {
  await until('it is printed', () => line.test(terminal.out())).catch(() => {
    throw new Error(`expected ${line}, but the output is:\n${terminal.all()}`)
  })
}

async function say(phone: Page, text: string): Promise<void> {
  await phone.getByRole('textbox', { name: 'Message' }).fill(text)
  // The button is enabled when the phone has loaded its contact.
  await phone.getByRole('button', { name: 'Send', exact: true }).click()
}

const bubble = (phone: Page, text: string) => phone.getByRole('log').locator('[data-id]').filter({ hasText: text })

function hasTarget(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : join(dirname(page), path)
  if (!existsSync(file)) return false
  const headings = anchor === undefined ? [] : (readFileSync(file, 'utf8').match(/^#+ .*$/gm) ?? [])
  return anchor === undefined || headings.map(slugOf).includes(anchor)
}

/** The anchor that GitHub gives a heading. */
const slugOf = (heading: string): string =>
  heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replace(/[^\p{L}\d\s_-]/gu, '')
    .replaceAll(' ', '-')
