import { everyError } from '@parley/contract/console/errors'
import { errorExamples } from '@parley/contract/error-examples'
import { type ErrorCode, errorCatalogue } from '@parley/contract/errors'
import { fieldErrors } from '@parley/contract/field-errors'
import { jsonBlock, plain } from './markdown.ts'

export function errorsMarkdown(): string {
  const entries = Object.entries(errorCatalogue).map(
    ([code, { status, type, title, cause, remedy }]) =>
      `## ${code}\n\n${status} \`${type}\`\n\n**${title}.** ${plain(cause)}\n\n${plain(remedy)}\n\n${jsonBlock(errorExamples[code as ErrorCode])}\n`,
  )
  const ofConsole = Object.entries(everyError).flatMap(([code, { status, message }]) =>
    Object.hasOwn(errorCatalogue, code) ? [] : [`| \`${code}\` | ${status} | ${plain(message)} |`],
  )
  const fields = Object.entries(fieldErrors).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
  return `# Errors

Every failed request under \`/v1\` returns an error in the same format. In your code, check \`error.code\`: codes are stable. \`error.message\` is for people and may change.

Repeat a request after a network error, 409 \`idempotency_in_progress\`, 429, 500 and 503. Wait for the seconds in \`Retry-After\`, if the response has it, and wait longer each time. Repeat a send only with its [\`Idempotency-Key\`](/docs/api/idempotency). After any other error, change the request first.

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
