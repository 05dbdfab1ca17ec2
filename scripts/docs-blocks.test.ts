import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
// Comes with @redocly/cli.
import { parse } from 'yaml'
import { commands } from '../cli/src/commands.ts'
import { parseArguments } from '../cli/src/parse.ts'
import { routes } from '../server/src/api.ts'
import { maxFileBodyBytes } from '../server/src/http/multipart.ts'
import { checkSend } from '../server/src/whatsapp/outgoing/check-send.ts'
import { tempFolder } from '../server/testing/temp-folder.ts'
import { blocksOf, type DocsBlock, docsFiles, isOutput, isRun } from './docs-blocks.ts'

/**
 * Every code block of the documentation has to be right in its language, also an example that no test can run. All others are
 * run: by `e2e/docs-pages.test.ts`, those of the README by `e2e/readme.test.ts`.
 */
const blocks = docsFiles().flatMap(blocksOf)
const checked = blocks.filter((block) => !isOutput(block))

/** Programs that read a source and say whether its syntax is right. */
const programs: Record<string, string[]> = {
  sh: ['bash', '-n'],
  go: ['gofmt', '-e'],
  php: ['php', '-l'],
  ruby: ['ruby', '-c'],
}

/** Languages in which a block is run. Others are examples. */
const runnable = ['sh', 'ts', 'python', 'json', 'sql', 'yaml']

test('every code block names its language, and is run or marked as output or as an example', () => {
  expect(blocks.length).toBeGreaterThan(130)
  expect(blocks.filter(({ language }) => language === '').map(({ at }) => at)).toEqual([])
  const marks = new Set(['output', 'example'])
  const wrong = blocks.filter(({ words }) => words.some((word) => !marks.has(word) && !word.startsWith('tab=')))
  expect(wrong.map(({ at, words }) => `${at} ${words.join(' ')}`)).toEqual([])
  const others = blocks.filter((block) => isRun(block) && !runnable.includes(block.language) && !isTab(block))
  expect(others.map(({ at, language }) => `${at} ${language}`)).toEqual([])
})

test('an output comes after a block that is run', () => {
  const lost = blocks.filter((block, index) => {
    const above = blocks[index - 1]
    return isOutput(block) && !(above?.file === block.file && (isOutput(above) || isRun(above)))
  })
  expect(lost.map(({ at }) => at)).toEqual([])
})

const isTab = ({ words }: DocsBlock) => words.some((word) => word.startsWith('tab='))

test.for(Object.entries(programs))('blocks in %s have no syntax errors', ([language, command], { skip }) => {
  const [program = '', ...args] = command
  skip(spawnSync(program, ['--help']).error !== undefined, `${program} is not installed`)
  // One shell starts the program for each block: a start from this process takes ten times as long.
  const cwd = tempFolder()
  const found = checked.filter((block) => block.language === language)
  for (const [index, { text }] of found.entries()) writeFileSync(join(cwd, String(index)), text)
  const script = 'for file in *; do "$@" < "$file" > .output 2>&1 || { echo "$file:"; cat .output; }; done'
  const { stdout } = spawnSync('sh', ['-c', script, 'sh', program, ...args], { cwd, encoding: 'utf8' })
  expect(stdout.replaceAll(/^(\d+):$/gm, (_, index) => `${found[Number(index)]?.at}:`)).toBe('')
})

test('blocks in JSON are valid, and those that send a message are accepted', () => {
  const json = blocks.filter((block) => block.language === 'json' && isRun(block))
  expect(json.flatMap(({ at, text }) => failureOf(at, () => JSON.parse(text)))).toEqual([])
  const sends = json
    .map(({ at, text }) => ({
      at,
      body: JSON.parse(text.replaceAll('msg_01a1de11-…', 'msg_x')) as Record<string, unknown>,
    }))
    .filter(({ body }) => 'type' in body && ('to' in body || 'in_reply_to' in body))
  expect(sends.length).toBeGreaterThan(3)
  for (const { at, body } of sends) expect(checkSend(body), at).toEqual([])
})

test('every parley command in the documentation exists, with its options', async () => {
  const typed = checked.filter(({ language }) => language === 'sh').flatMap(parleyLines)
  expect(typed.length).toBeGreaterThan(20)
  const wrong: string[] = []
  for (const { at, words } of typed) {
    const listed = commands.find(({ name }) => words.slice(0, name.split(' ').length).join(' ') === name)
    if (!listed) wrong.push(`${at} ${words.join(' ')}: no such command`)
    else {
      const command = await listed.load()
      wrong.push(
        ...failureOf(`${at} ${words.join(' ')}`, () =>
          parseArguments(command, words.slice(listed.name.split(' ').length)),
        ),
      )
    }
  }
  expect(wrong).toEqual([])
})

test('no block runs parley with npx, which outside of the clone runs a package of the npm registry', () => {
  const words = ({ text }: DocsBlock) => text.replaceAll(/[^\w./-]+/g, ' ')
  expect(blocks.filter((block) => /\bnpx (args )?parley\b/.test(words(block))).map(({ at }) => at)).toEqual([])
})

test('every path of the API in a curl command exists', () => {
  const paths = checked
    .filter(({ language }) => language === 'sh')
    .flatMap(({ at, text }) =>
      [...text.matchAll(/(?:\$PARLEY_URL|http:\/\/127\.0\.0\.1:8080)(\/v1\/[^\s"'?]*)/g)].map(([, path = '']) => ({
        at,
        path,
      })),
    )
  expect(paths.length).toBeGreaterThan(8)
  const exists = (path: string) =>
    routes.some((route) => new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path))
  expect(paths.filter(({ path }) => !exists(path))).toEqual([])
})

test('the alerts report refused sends, and missing webhooks of the network only after sends', () => {
  const [rules] = blocks.filter(({ text }) => text.startsWith('groups:'))
  const { groups } = parse(rules?.text ?? '') as { groups: { rules: { alert: string; expr: string }[] }[] }
  const expressions = Object.fromEntries(groups.flatMap((group) => group.rules).map(({ alert, expr }) => [alert, expr]))
  expect(expressions.SendsRejected).toContain('parley_sends_total{outcome="failed"}')
  expect(expressions.NoNetworkWebhooks).toMatch(
    /parley_sends_total\{outcome="sent"\}.* and .*parley_network_webhooks_total/,
  )
})

test('the documented nginx accepts the largest upload, and not much more', () => {
  const sizes = blocks
    .filter(({ language }) => language === 'nginx')
    .flatMap(({ text }) =>
      [...text.matchAll(/client_max_body_size (\d+)m;/g)].map(([, mebibytes]) => Number(mebibytes)),
    )
  const needed = maxFileBodyBytes / (1024 * 1024)
  expect(sizes).toEqual([expect.toSatisfy((size) => size >= needed && size < needed * 1.1)])
})

/** The lines of a block that begin with `./parley`, as words. */
function parleyLines({ at, text }: DocsBlock): { at: string; words: string[] }[] {
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .flatMap((line) => /(?:^|\s)\.\/parley (.*?)(?: +#.*| [|>&].*)?$/.exec(line)?.[1] ?? [])
    .map((line) => ({
      at,
      words: (line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? []).map((word) => word.replaceAll(/^["']|["']$/g, '')),
    }))
}

function failureOf(at: string, run: () => unknown): string[] {
  try {
    run()
    return []
  } catch (error) {
    return [`${at}: ${(error as Error).message}`]
  }
}
