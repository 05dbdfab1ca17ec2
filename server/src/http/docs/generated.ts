import { everyError } from '@parley/contract/console/errors'
import { errorExamples } from '@parley/contract/error-examples'
import { type ErrorCode, errorCatalogue } from '@parley/contract/errors'
import { receivedEventSchemas } from '@parley/contract/events'
import { fieldErrors } from '@parley/contract/field-errors'

/** The Markdown of the pages that come from the contract. */

export function errorsMarkdown(): string {
  const entries = Object.entries(errorCatalogue).map(
    ([code, { status, type, title, cause, remedy }]) =>
      `## ${code}\n\n${status} \`${type}\`\n\n**${title}.** ${plain(cause)}\n\n${plain(remedy)}\n\n${json(errorExamples[code as ErrorCode])}\n`,
  )
  const ofConsole = Object.entries(everyError).flatMap(([code, { status, message }]) =>
    Object.hasOwn(errorCatalogue, code) ? [] : [`| \`${code}\` | ${status} | ${plain(message)} |`],
  )
  const fields = Object.entries(fieldErrors).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
  return `# Errors

Every failed request under \`/v1\` returns an error in the same format. In your code, check \`error.code\`: codes are stable. \`error.message\` is for people and may change.

${entries.join('\n')}
## Field errors

An error with the code \`validation_failed\` lists every invalid field in \`error.errors\`. \`param\` is the field, and \`code\` is one of these. A code means the same on every endpoint.

| code | meaning |
| --- | --- |
${fields.join('\n')}

## Console errors

Requests of the console also get these. No endpoint under \`/v1\` returns them.

| code | status | message |
| --- | --- | --- |
${ofConsole.join('\n')}
`
}

/** A text of the contract is not Markdown: `<key>` and `__proto__` stay as they are. */
const plain = (text: string): string => text.replaceAll(/_(?=_)|(?<=_)_|[\\`*<]/g, '\\$&')

const json = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

interface Schema {
  description?: string
  examples?: unknown[]
}

export function eventsMarkdown(): string {
  const entries = Object.entries(receivedEventSchemas).map(([type, schema]) => {
    const { description = '', examples = [] } = schema as Schema
    return `## ${type}\n\n${description}\n\n${json(examples[0])}\n`
  })
  return `# Events

Webhooks deliver these events, and \`GET /v1/events\` returns them. Each has \`id\`, \`type\`, \`created_at\` and \`data\`. The header \`Service-Event\` of a delivery has the type. Fields and types may be added: ignore those that you do not know. The [API reference](/docs/api) describes every field. See [receiving](/docs/receiving) and [reading events](/docs/reading-events).

${entries.join('\n')}`
}
