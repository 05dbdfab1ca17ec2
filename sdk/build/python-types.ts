// The text of sdk/python/src/parley/types.py, which `npm run openapi` writes: the objects of the API as typed dictionaries, from the schemas of the contract.
import { join } from 'node:path'
import { receivedEventSchemas } from '@parley/contract/events'
import { FlowResponse } from '@parley/contract/flow-response'
import { StoredInboundMessage } from '@parley/contract/inbound-message'
import { Me } from '@parley/contract/key'
import { Media } from '@parley/contract/media'
import { Message, MessageStep, MessageWithHistory } from '@parley/contract/message'
import { Sender } from '@parley/contract/sender'
import { Template, TemplateFlow, TemplateVariable } from '@parley/contract/template'
import { Webhook } from '@parley/contract/webhook'
import { interfaceName } from './contract-types.ts'
import type { Schema } from './declare.ts'

export const pythonTypesFile = join(import.meta.dirname, '..', 'python', 'src', 'parley', 'types.py')

const objects = {
  Me,
  Webhook,
  Sender,
  TemplateVariable,
  TemplateFlow,
  Template,
  Message,
  MessageStep,
  MessageWithHistory,
  StoredInboundMessage,
  FlowResponse,
  Media,
} as unknown as Record<string, Schema>

/** The names of declared objects by their schema, and the declarations in the order in which Python needs them. */
interface Declared {
  names: Map<string, string>
  classes: string[]
}

export function pythonTypes(): string {
  const declared: Declared = { names: new Map(), classes: [] }
  for (const [name, schema] of Object.entries(objects)) declareClass(name, schema, declared)
  const events = Object.entries(receivedEventSchemas).map(([type, schema]) => {
    const name = interfaceName(type)
    declareClass(name, schema as unknown as Schema, declared)
    return name
  })
  return `"""The objects of the API, as typed dictionaries. Written by \`npm run openapi\`: do not change it.

New fields, event types and values may be added: ignore unknown ones.
"""

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

${declared.classes.join('\n\n')}

#: An event; \`type\` determines the type of \`data\`.
Event = Union[
${events.map((name) => `    ${name},`).join('\n')}
]
`
}

function declareClass(name: string, schema: Schema, declared: Declared): void {
  const { properties = {}, required = [] } = schema
  const optional = Object.keys(properties).filter((member) => !required.includes(member))
  // Python 3.9 has no NotRequired.
  if (optional.length > 0) throw new Error(`${name} has optional members, which are not supported: ${optional}.`)
  const members = Object.entries(properties).map(([member, value]) => {
    const note = value.description ? `    #: ${value.description.replaceAll(/\s+/g, ' ')}\n` : ''
    return { note, member, type: typeOf(value, `${name}${capitalized(member)}`, declared) }
  })
  // Some members have the names of keywords, which a class cannot have.
  declared.classes.push(
    [
      `${name} = TypedDict(`,
      `    "${name}",`,
      '    {',
      ...members.map(({ note, member, type }) => `${note.replace(/^ {4}/, '        ')}        "${member}": ${type},`),
      '    },',
      ')',
    ].join('\n'),
  )
  declared.names.set(JSON.stringify(schema), name)
}

function typeOf(schema: Schema, path: string, declared: Declared): string {
  const known = declared.names.get(JSON.stringify(schema))
  if (known) return known
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`
  // A value that is added later is not an error.
  if (schema.enum) return 'str'
  if (schema.anyOf) return unionOf(schema.anyOf, path, declared)
  if (schema.properties) {
    declareClass(path, schema, declared)
    return path
  }
  if (schema.patternProperties) {
    const [value = {}] = Object.values(schema.patternProperties)
    return `Dict[str, ${typeOf(value, `${path}Value`, declared)}]`
  }
  switch (schema.type) {
    case 'string':
      return 'str'
    case 'boolean':
      return 'bool'
    case 'integer':
      return 'int'
    case 'number':
      return 'float'
    case 'array':
      return `List[${typeOf(schema.items ?? {}, `${path}Item`, declared)}]`
    default:
      return 'Any'
  }
}

function unionOf(schemas: readonly Schema[], path: string, declared: Declared): string {
  const others = schemas.filter(({ type }) => type !== 'null')
  const types = [...new Set(others.map((each) => typeOf(each, path, declared)))]
  const union = types.length === 1 ? (types[0] ?? 'Any') : `Union[${types.join(', ')}]`
  return others.length < schemas.length ? `Optional[${union}]` : union
}

/** Literals of Python. */
const literal = (value: unknown): string =>
  value === true ? 'True' : value === false ? 'False' : JSON.stringify(value)

const capitalized = (text: string): string => text.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
