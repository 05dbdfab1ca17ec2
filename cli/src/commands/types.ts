import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Template, TemplateVariable } from '@parley/contract/template'
import { StartupError } from '@parley/server/lib/refuse'
import { keyOptions } from '../by-key.ts'
import type { Command } from '../command.ts'
import { plural } from '../format.ts'
import { openSource } from '../open-source.ts'
import { workspaceOption } from '../workspace-option.ts'

const defaultFile = 'parley-templates.d.ts'

export const commands: readonly Command[] = [
  {
    name: 'types',
    details: `With the file in your project, the compiler checks the template, language and variables of every messages.send. Run it again when templates change. An API key needs the scope templates:read.`,
    options: {
      workspace: workspaceOption('Workspace whose templates are written'),
      ...keyOptions,
      out: { value: 'FILE', help: `File to write, or - to print it (default: ${defaultFile})` },
    },
    examples: ['types --workspace ID --out src/parley-templates.d.ts', 'types --url https://parley.example.com'],
    async run(call) {
      const templates = (await (await openSource(call)).templates()).filter(
        ({ sendable, status }) => sendable && status !== 'DELETED',
      )
      const text = templateTypes(templates)
      const out = call.option('out') ?? defaultFile
      const json = { object: 'template_types', file: out === '-' ? null : resolve(out), templates: templates.length }
      if (out === '-') return { lines: [text.trimEnd()], json: { ...json, text } }
      write(resolve(out), text)
      return { lines: [`Wrote the types of ${plural(templates.length, 'template')} to ${out}.`], json }
    },
  },
]

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new StartupError(`${file} cannot be written: ${(error as NodeJS.ErrnoException).code}.`)
  }
}

/** The file that adds the templates to `KnownTemplates` of the SDK. */
export function templateTypes(templates: readonly Template[]): string {
  const members = groupBy(templates.toSorted(byName), ({ name }) => name).flatMap(([name, ofName]) => [
    `    ${quoted(name)}: {`,
    ...groupBy(ofName, ({ language }) => language).flatMap(([language, same]) => languageLines(language, same)),
    '    }',
  ])
  return [
    '// Written by "parley types". Run it again when templates change.',
    "import type * as Value from '@parley/sdk/known-templates'",
    '',
    "declare module '@parley/sdk/known-templates' {",
    '  interface KnownTemplates {',
    ...members,
    '  }',
    '}',
    '',
    // Keeps the import if there is no variable.
    'export type { Value }',
    '',
  ].join('\n')
}

/** As `Map.groupBy`, which Node 20 does not have: the SDK's package runs there too. */
function groupBy(templates: readonly Template[], keyOf: (template: Template) => string): [string, Template[]][] {
  const groups = new Map<string, Template[]>()
  for (const template of templates) groups.set(keyOf(template), [...(groups.get(keyOf(template)) ?? []), template])
  return [...groups]
}

const byName = (a: Template, b: Template): number => compare(a.name, b.name) || compare(a.language, b.language)
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Two accounts of a workspace may have a template of the same name and language: the values of either are accepted. */
function languageLines(language: string, same: readonly Template[]): string[] {
  const [first] = same
  const bodies = [...new Set(same.map((template) => bodyLines(template).join('\n')))]
  return [
    `      /** ${comment(`${first?.category}, ${first?.status}`)} */`,
    `      ${quoted(language)}: ${bodies.join(' | ')}`,
  ]
}

function bodyLines({ variables, flow }: Template): string[] {
  const members = variables.flatMap((variable) => [
    ...(variable.example === null ? [] : [`          /** For example: ${comment(variable.example)} */`]),
    `          ${quoted(variable.key)}${variable.required ? '' : '?'}: ${typeOf(variable)}`,
  ])
  const lines = members.length === 0 ? ['        variables: {}'] : ['        variables: {', ...members, '        }']
  return ['{', ...lines, `        flow: ${flow !== null}`, '      }']
}

function typeOf({ type, in: place }: TemplateVariable): string {
  switch (type) {
    case 'text':
      return place === 'button' || place === 'offer' ? 'string' : 'Value.Text'
    case 'timestamp':
      return 'string'
    case 'image':
    case 'video':
    case 'gif':
      return 'Value.File'
    case 'document':
      return 'Value.Document'
    case 'location':
      return 'Value.Location'
    case 'product':
      return 'Value.Product'
    case 'products':
      return 'Value.Products'
    default:
      // A newer service may have a type that this program does not know.
      return 'unknown'
  }
}

const quoted = (text: string): string => JSON.stringify(text)

/** On one line, and without an end of the comment in it. */
const comment = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('*/', '*\\/')
