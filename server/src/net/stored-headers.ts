/** So much of the headers of a response is stored. */
const storedMax = 4096

const headerLine = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*(.*?)[ \t]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: PostgreSQL rejects NUL, and none of them can be shown
const controlCharacters = /[\0-\x08\x0b-\x1f\x7f]/g

/**
 * The headers of a response, one in a line. A cookie is a secret of the receiver, so only its name is kept. Lines that are not
 * headers are left out, and with them the second line of a folded one. The last line is `…` if there was more.
 */
export function storedHeaders(lines: readonly string[]): string {
  let stored = ''
  for (const line of lines) {
    const [, name = '', value = ''] = headerLine.exec(line.replaceAll(controlCharacters, '')) ?? []
    if (name === '') continue
    const next = `${name}: ${name.toLowerCase().startsWith('set-cookie') ? withoutCookie(value) : value}\n`
    if (stored.length + next.length > storedMax) return `${stored}…`
    stored += next
  }
  return stored.trimEnd()
}

/** `id=secret; Path=/` becomes `id=(not stored)`. */
function withoutCookie(value: string): string {
  const name = /^([^=;]*)=/.exec(value)?.[1]
  return name === undefined ? '(not stored)' : `${name}=(not stored)`
}
