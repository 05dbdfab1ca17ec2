/** Quotes a text for a POSIX shell, whatever it contains. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A curl command with one option per line. `how`: options before the URL, such as the method. */
export function curlCommand(url: string, options: readonly string[], how = ''): string {
  // curl reads brackets and braces in a URL as a pattern, unless this option is set.
  const glob = /[[\]{}]/.test(url) ? '--globoff ' : ''
  return [`curl ${how && `${how} `}${glob}${shellQuote(url)}`, ...options].join(' \\\n  ')
}
