import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Template, TemplateVariable } from '@parley/contract/template'
import { expect, test } from 'vitest'
import { compile } from '../../sdk/build/compiler.ts'
import { declareContractTypes } from '../../sdk/build/contract-types.ts'
import { useSending } from '../../server/testing/sending.ts'
import { urlOf } from '../../server/testing/service.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { useTestServer } from '../../server/testing/test-server.ts'
import { runParley } from '../testing/run-parley.ts'
import { templateTypes } from './commands/types.ts'

/** `parley types`, and what the compiler says about programs that use the file. */
const server = useTestServer()
const sending = useSending(server)
const root = join(import.meta.dirname, '..', '..')

const types = (words: readonly string[], more: Record<string, string> = {}) =>
  runParley(['types', ...words], {
    PORT: '0',
    DATABASE_URL: urlOf(server.connection),
    PARLEY_SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    ...more,
  })

test('parley types writes the same file from the database and from the API', async () => {
  const { workspace } = await sending.newShop()
  const file = join(tempFolder(), 'templates.d.ts')
  const written = await types(['--workspace', workspace.id, '--out', file, '--json'])
  expect(written).toMatchObject({ code: 0, err: '' })
  const text = readFileSync(file, 'utf8')
  expect(text).toContain('"greeting": {')
  expect(JSON.parse(written.out)).toEqual({ object: 'template_types', file, templates: expect.any(Number) })

  const asked = await types(['--url', server.url, '--out', '-'], { PARLEY_API_KEY: workspace.secret })
  expect(asked).toEqual({ code: 0, err: '', out: text })
  const other = await sending.newShop()
  expect((await types(['--workspace', other.workspace.id, '--out', '-'])).code).toBe(0)
})

test('errors of parley types say what to do', async () => {
  const { workspace } = await sending.newShop()
  const errorOf = async (words: string[], env = {}) => {
    const { code, err } = await types(words, env)
    expect(code).toBe(1)
    return err
  }
  expect(await errorOf(['--url', server.url])).toContain('PARLEY_API_KEY is not set')
  expect(await errorOf(['--url', server.url, '--workspace', workspace.id])).toContain('either --url or --workspace')
  const wrong = { PARLEY_API_KEY: `prl_live_${'x'.repeat(38)}` }
  expect(await errorOf(['--url', server.url], wrong)).toContain('Invalid API key')
  expect(await errorOf(['--url', 'parley'], wrong)).toContain('must start with https://')
  const missing = join(tempFolder(), 'none', 'a.d.ts')
  expect(await errorOf(['--workspace', workspace.id, '--out', missing])).toContain('cannot be written: ENOENT')
})

const variable = (key: string, more: Partial<TemplateVariable> = {}): TemplateVariable => {
  return { key, in: 'body', type: 'text', required: true, example: null, ...more }
}
const template = (name: string, language: string, variables: TemplateVariable[], more: Partial<Template> = {}) =>
  ({ name, language, category: 'UTILITY', status: 'APPROVED', flow: null, variables, ...more }) as Template

const templates = [
  template('order', 'en', [
    variable('header.image', { in: 'header', type: 'image' }),
    variable('body.first_name', { example: 'Ana */ export {}\n' }),
    variable('buttons.0.url', { in: 'button' }),
  ]),
  template('order', 'es', [variable('body.nombre')]),
  template('hello', 'en_US', [], { flow: { flow_id: '1', button_index: 0 } }),
  // Of two accounts.
  template('sale', 'en', [variable('body.1')]),
  template('sale', 'en', [variable('body.2', { type: 'location' })]),
]

const program = `import { Parley } from '@parley/sdk'
import type { TemplateContent } from '@parley/sdk/known-templates'
const { messages } = new Parley({ key: 'prl_live_x', baseUrl: 'https://parley.example.com' })
const send = (template: TemplateContent) => messages.send({ to: '491701234567', type: 'template', template })
send({ name: 'order', language: 'en', variables: { 'header.image': 'https://a.example/1.jpg', 'body.first_name': 'Ana', 'buttons.0.url': '1' } })
send({ name: 'order', language: 'en', variables: { 'header.image': { id: 'med_1' }, 'body.first_name': { date_time: { fallback_value: 'May', month: 5, day_of_week: 'FRIDAY', calendar: 'GREGORIAN' } }, 'buttons.0.url': '1', 'buttons.1.payload': 'x' } })
send({ name: 'order', language: 'es', variables: { 'body.nombre': 'Ana' } })
send({ name: 'hello', language: 'en_US' })
send({ name: 'hello', language: 'en_US', flow: { token: 'a' } })
send({ name: 'sale', language: 'en', variables: { 'body.1': 'a' } })
send({ name: 'sale', language: 'en', variables: { 'body.2': { latitude: 1, longitude: '2' } } })
messages.send({ to: '491701234567', type: 'location', location: { latitude: '1', longitude: 2 } })
send({ id: 'tpl_1', variables: { anything: 1 } })
messages.send({ to: '491701234567', type: 'text', text: { body: 'hola' } })
`
const wrong = [
  "send({ name: 'ordre', language: 'en', variables: {} })",
  "send({ name: 'order', language: 'de', variables: { 'body.nombre': 'Ana' } })",
  "send({ name: 'order', language: 'es' })",
  "send({ name: 'order', language: 'es', variables: {} })",
  "send({ name: 'order', language: 'es', variables: { 'body.name': 'Ana' } })",
  "send({ name: 'order', language: 'es', variables: { 'body.nombre': 'Ana', 'body.more': 'x' } })",
  "send({ name: 'order', language: 'es', variables: { 'body.nombre': 7 } })",
  "send({ name: 'order', language: 'es', variables: { 'body.nombre': 'Ana' }, flow: { token: 'a' } })",
  "send({ name: 'hello', language: 'en_US', variables: { 'body.1': 'x' } })",
  "send({ name: 'hello' })",
  "messages.send({ to: '1', type: 'template', template: { name: 'ordre', language: 'en' } })",
]

test.each([{ module: 'nodenext' }, { module: 'esnext', moduleResolution: 'bundler' }])(
  'with the file, the compiler accepts the templates of the workspace only: %j',
  async (options) => {
    const folder = tempFolder()
    mkdirSync(join(folder, 'node_modules', '@parley'), { recursive: true })
    // The SDK with the types of the contract written out, as in its package: the compiler is four times as fast.
    cpSync(join(root, 'sdk', 'src'), join(folder, 'sdk'), { recursive: true })
    writeFileSync(join(folder, 'sdk', 'contract.ts'), await declareContractTypes())
    symlinkSync(join(folder, 'sdk'), join(folder, 'node_modules', '@parley', 'sdk'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'parley-templates.d.ts'), templateTypes(templates))
    const invalid = wrong.flatMap((line) => ['// @ts-expect-error', line])
    writeFileSync(join(folder, 'program.ts'), [program, ...invalid].join('\n'))
    const compilerOptions = {
      target: 'es2024',
      lib: ['esnext'],
      strict: true,
      // The sources of the SDK need it.
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules', '@types')],
      ...options,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    expect(await compile('-p', folder)).toBe('')
  },
)
