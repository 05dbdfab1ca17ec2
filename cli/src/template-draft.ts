/** A template from a JSON file in WhatsApp's shape, or from options. */
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import {
  type ComponentDraft,
  exampleFor,
  examplesOf,
  partOf,
  type TemplateDraft,
} from '@parley/contract/console/template-draft'
import { checkTemplate } from '@parley/contract/console/template-rules'
import { refuseInvalid, StartupError } from '@parley/server/lib/refuse'
import { type Call, type OptionRule, UsageError } from './command.ts'
import { isPlainObject, parseJson } from './json.ts'

export const draftOptions = {
  file: { value: 'FILE', help: 'JSON file in WhatsApp’s shape, with "components"; - reads standard input' },
  category: { value: 'NAME', help: 'MARKETING, UTILITY or AUTHENTICATION' },
  header: { value: 'TEXT', help: 'Text of the header, at most 60 characters' },
  body: { value: 'TEXT', help: 'Text of the body, with variables such as {{1}} or {{first_name}}' },
  footer: { value: 'TEXT', help: 'Text of the footer, at most 60 characters' },
  example: {
    value: 'NAME=VALUE',
    repeated: true,
    help: 'Example of a variable, such as 1=Ana; header.1=Ana for one of the header',
  },
} satisfies Record<string, OptionRule>

/** The draft of the file, or `base`, with what the options replace. An empty text removes a header or a footer. */
export async function readDraft(call: Call, base: TemplateDraft): Promise<TemplateDraft> {
  const given = call.option('file') === undefined ? {} : await readJson(call.option('file') ?? '')
  const components = 'components' in given ? given.components : base.components
  if (!Array.isArray(components)) throw new UsageError('The JSON needs "components", a list of objects.')
  const word = (name: 'name' | 'language' | 'category'): string => {
    const value = call.option(name) ?? (given as Record<string, unknown>)[name] ?? base[name]
    return typeof value === 'string' ? value : ''
  }
  const examples = readExamples(call.options('example'))
  const order = ['HEADER', 'BODY', 'FOOTER']
  const parts = order
    .map((type) => withText(call, components, type as 'BODY', examples))
    .filter((each) => each !== undefined)
  const others = (components as ComponentDraft[]).filter(({ type }) => !order.includes(String(type).toUpperCase()))
  return {
    name: word('name'),
    language: word('language'),
    category: word('category').toUpperCase() as TemplateDraft['category'],
    components: [...parts, ...others],
  }
}

/** Lists every problem with its path, before WhatsApp is called. */
export function requireValid(draft: TemplateDraft): TemplateDraft {
  const problems = checkTemplate(draft)
  if (problems.length === 0) return draft
  return refuseInvalid(
    problems.map(({ path, message }) => ({ param: path, code: 'invalid', message: `${path}: ${message}` })),
  )
}

function withText(
  { option }: Call,
  components: readonly unknown[],
  type: 'HEADER' | 'BODY' | 'FOOTER',
  examples: Readonly<Record<string, string>>,
): ComponentDraft | undefined {
  const part = type.toLowerCase() as 'header' | 'body' | 'footer'
  const given = option(part)
  const stored = partOf(components, type)
  if (given === '' && part !== 'body') return undefined
  const text = given ?? stored?.text
  const isText = given !== undefined || (stored !== undefined && text !== undefined)
  if (!isText || text === undefined) return stored
  if (part === 'footer') return { type: 'FOOTER', text }
  const own = Object.entries(examples).flatMap(([name, value]) => {
    const [place, key] = name.includes('.') ? name.split('.', 2) : ['body', name]
    return place === part && key !== undefined ? [[key, value]] : []
  })
  const example = exampleFor(part, text, { ...examplesOf(part, stored), ...Object.fromEntries(own) })
  const start = part === 'header' ? { type: 'HEADER' as const, format: 'TEXT' as const } : { type: 'BODY' as const }
  return { ...start, text, ...(example && { example }) } as ComponentDraft
}

function readExamples(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((each) => {
      const [, name, value] = /^([^=]+)=(.+)$/s.exec(each) ?? []
      if (!name || !value) throw new UsageError(`Invalid --example "${each}". Enter NAME=VALUE, such as 1=Ana.`)
      return [name, value]
    }),
  )
}

async function readJson(file: string): Promise<object> {
  const source = file === '-' ? await text(process.stdin) : readText(file)
  const value = parseJson(source)
  if (isPlainObject(value)) return value
  throw new UsageError(
    `${file === '-' ? 'Standard input' : file} is not a JSON object such as {"name":"…","components":[{"type":"BODY","text":"…"}]}.`,
  )
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartupError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`)
  }
}
