import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandServer } from '../cli/testing/command-server.ts'
import { blocksOf, type DocsBlock, docsFiles, isRun } from '../scripts/docs-blocks.ts'
import { type Embedded, openEmbedded } from '../server/src/db/embedded/embedded.ts'
import { newFolder, removeFolder } from '../server/testing/data-dir.ts'
import { type Running, startParley } from '../server/testing/parley.ts'
import { newDataDir } from '../server/testing/prepared-data-dir.ts'
import { until } from '../server/testing/until.ts'
import { newClone } from './docs/clone.ts'
import { type Demo, prepareDemo } from './docs/demo.ts'
import { Page, type PageOptions } from './docs/page.ts'
import { Receiver } from './docs/receiver.ts'
import { Reader, root } from './reader.ts'

/**
 * Runs every code block of the documentation that is not marked as output or as an example, page by page, with one service.
 * The blocks of the README are followed by `readme.test.ts`, which also starts the service with npm.
 */
const isOurs = ({ file, language, text, words }: DocsBlock) =>
  file !== 'README.md' &&
  text !== 'npm start\n' &&
  !words.some((word) => word.startsWith('tab=')) &&
  (language !== 'python' || hasPython)
const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0
/** First the pages about the oldest event and about events that were not delivered; last those that add a workspace and erase. */
const order = [
  'docs/events/polling.md',
  'docs/events/replays.md',
  '',
  'docs/run/meta.md',
  'docs/reference/personal-data.md',
]
const rank = (file: string) => (order.includes(file) ? order.indexOf(file) : 2)
const pages = docsFiles()
  .map((file) => ({ file, blocks: blocksOf(file) }))
  .filter(({ blocks }) => blocks.some((block) => isRun(block) && isOurs(block)))
  .sort((a, b) => rank(a.file) - rank(b.file))
/** The programs of the quickstart, one in each tab. A comment says how to save and run it; curl is typed. */
const programs = blocksOf('docs/start/quickstart.md').flatMap(({ text, words }) => {
  const tab = words.find((word) => word.startsWith('tab='))?.slice('tab='.length)
  const [, name, command = text] = /Save as (\S+) and run: (.+)/.exec(text) ?? []
  return tab ? [{ tab, text, name, command, program: name ? command.split(' ', 1)[0] : 'curl' }] : []
})

const folder = newFolder()
const dataDir = newDataDir(join(folder, 'data'))
const reader = new Reader(dataDir)
const commands = new CommandServer()
let service: Running & { url: string }
let demo: Demo
let options: Omit<PageOptions, 'clone'>
let postgres: Embedded | undefined
const receivers: Receiver[] = []

beforeAll(async () => {
  await reader.choosePorts('8080', '8090', '8091', '8095', '3000')
  for (const port of ['3000', '8095']) receivers.push(new Receiver(reader.here(port)))
  for (const receiver of receivers) await receiver.start()
  // Commands in this process would take a service in it for one that was killed.
  service = await startParley({
    PARLEY_DATA_DIR: dataDir,
    PORT: reader.here('8080'),
    PARLEY_SIMULATOR_PORT: reader.here('8090'),
  })
  const { url } = service
  const key = await until('it prints its key', () => /prl_live_\w+(?=\n)/.exec(service.out())?.[0])
  await commands.start()
  demo = await prepareDemo(reader, dataDir, url, key)
  const { senderId, webhookSecret, poke } = demo
  postgres = await openEmbedded({ dataDir, purpose: 'visitor' })
  const database = new pg.Client({ ...postgres.admin, database: postgres.connection.database })
  await database.connect()
  await database.query('create temporary table handled_events (id text primary key)')
  const home = join(folder, 'home')
  mkdirSync(join(home, '.config/fish/completions'), { recursive: true })
  const env = {
    HOME: home,
    PARLEY_URL: url,
    PUBLIC_URL: url,
    PARLEY_API_KEY: key,
    PORT: reader.here('8095'),
    PYTHONPATH: join(root, 'sdk', 'python', 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONUNBUFFERED: '1',
    TOKEN: demo.accessToken,
    SENDER_ID: senderId,
    SECRET: webhookSecret,
    T: '1794733200',
  }
  options = {
    reader,
    env,
    poke,
    url,
    key,
    senderId,
    database,
    commands,
    receiver: receivers[1] as Receiver,
  }
})

afterAll(async () => {
  await options?.database.end()
  await postgres?.close()
  await reader.close()
  commands.stop()
  service?.child.kill()
  await service?.ended
  for (const receiver of receivers) await receiver.stop()
  removeFolder(folder)
})

test.for(pages)('every block of $file works', { timeout: 180_000 }, async ({ file, blocks }) => {
  // A replay to a disabled webhook stays in progress, so that the page can cancel it.
  const isHeld = file === 'docs/events/replays.md'
  if (isHeld) await demo.disableWebhook()
  // A reader does not make as many requests in a minute.
  await options.database.query('truncate budget_windows')
  const page = new Page({ ...options, clone: newClone(join(folder, file)) })
  await page.begin()
  try {
    for (const [index, block] of blocks.entries()) {
      if (!isRun(block) || !isOurs(block)) continue
      await page.run(block, blocks[index + 1]).catch((error) => {
        throw new Error(`${block.at}: ${(error as Error).message}`)
      })
    }
  } finally {
    await page.end()
    if (isHeld) await demo.enableWebhook()
  }
})

test.for(programs)(
  'the quickstart in $tab sends a message that is delivered, and the same one if it is run again',
  { timeout: 300_000 },
  async ({ tab, text, name, command, program }, { skip }) => {
    expect(name === undefined, 'the name of the file').toBe(tab === 'curl')
    skip(spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0, `${program} is not installed`)
    await options.database.query('truncate budget_windows')
    const cwd = join(folder, tab)
    mkdirSync(cwd)
    if (name) writeFileSync(join(cwd, name), text)
    const { url, key } = options
    const terminal = reader.openTerminal({ PARLEY_URL: url, PARLEY_API_KEY: key }, { cwd, shell: 'bash' })
    // Go compiles its standard library first.
    const idOfSent = async () => /msg_[\da-f-]{36}/.exec(await terminal.run(command, 240_000))?.[0]
    const id = await idOfSent()
    expect(await idOfSent()).toBe(id)
    await until('the message is delivered', async () => {
      const response = await fetch(`${url}/v1/messages/${id}`, { headers: { authorization: `Bearer ${key}` } })
      const message = (await response.json()) as { status: string; error: unknown }
      if (message.status === 'failed') throw new Error(JSON.stringify(message.error))
      // Twice a second, because of the rate limit.
      return ['delivered', 'read'].includes(message.status) || sleep(500, false)
    })
  },
)
