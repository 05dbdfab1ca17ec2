import { spawnSync } from 'node:child_process'
import { stripTypeScriptTypes } from 'node:module'
import { expect, test } from 'vitest'
import { commands } from '../cli/src/commands.ts'
import { parseArguments } from '../cli/src/parse.ts'
import { routes } from '../server/src/api.ts'
import { checkSend } from '../server/src/whatsapp/check-send.ts'
import { blocksOf, type DocsBlock, docsFiles, isShown } from './docs-blocks.ts'

/**
 * Every code block of the documentation is checked in its language. Some are run as well: those of the README and of the pages
 * that a newcomer reads by `e2e/readme.test.ts`, those of the quickstart by `server/src/http/docs/quickstart.test.ts`.
 */
const blocks = docsFiles().flatMap(blocksOf)
const checked = blocks.filter((block) => !isShown(block))

/** Programs that read a source and say whether its syntax is right. */
const programs: Record<string, string[]> = {
  sh: ['bash', '-n'],
  python: ['python3', '-c', 'import ast, sys; ast.parse(sys.stdin.read())'],
  go: ['gofmt', '-e'],
  php: ['php', '-l'],
  ruby: ['ruby', '-c'],
}

test('every code block names its language, and is checked or marked as output or as an example', () => {
  expect(blocks.length).toBeGreaterThan(100)
  expect(blocks.filter(({ language }) => language === '').map(({ at }) => at)).toEqual([])
  const known = new Set([...Object.keys(programs), 'ts', 'json'])
  expect(checked.filter(({ language }) => !known.has(language)).map(({ at, language }) => `${at} ${language}`)).toEqual(
    [],
  )
})

test.for(Object.entries(programs))('blocks in %s have no syntax errors', ([language, command], { skip }) => {
  const [program = '', ...args] = command
  skip(spawnSync(program, ['--help']).error !== undefined, `${program} is not installed`)
  for (const { at, text } of checked.filter((block) => block.language === language)) {
    const { status, stderr, stdout } = spawnSync(program, args, { input: text, encoding: 'utf8' })
    expect(status, `${at}: ${stderr}${status === 0 ? '' : stdout}`).toBe(0)
  }
})

test('blocks in TypeScript have no syntax errors', () => {
  const wrong = checked
    .filter(({ language }) => language === 'ts')
    .flatMap(({ at, text }) => failureOf(at, () => stripTypeScriptTypes(text)))
  expect(wrong).toEqual([])
})

test('blocks in JSON are valid, and those that send a message are accepted', () => {
  const json = checked.filter(({ language }) => language === 'json')
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

/** The lines of a block that begin with `npx parley`, as words. */
function parleyLines({ at, text }: DocsBlock): { at: string; words: string[] }[] {
  return text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .flatMap((line) => /(?:^|\s)npx parley (.*?)(?: +#.*| [|>&].*)?$/.exec(line)?.[1] ?? [])
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
