/**
 * Texts from outside, such as a contact's name, may contain sequences that clear the screen, move the cursor or change what a
 * terminal does. Everything that is printed goes through here.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
const controls = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g
/** Colors that `styled` made, line breaks and tabs stay. */
const controlsInOutput =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
  /(\u001b\[(?:1|2|22|31|32|33|39)m)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** A text in one line, with control characters as people write them: `^[` for Escape. */
export const visible = (text: string): string => text.replace(controls, name)

/** Lines for a terminal. Only colors are kept. */
export const visibleLines = (text: string): string =>
  text.replace(controlsInOutput, (control: string, color: string | undefined) => color ?? name(control))

/** JSON escapes the control characters below 0x20 itself. Terminals also obey those from 0x7f to 0x9f. */
export const visibleJson = (json: string): string =>
  json.replace(/[\u007f-\u009f]/g, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)

function name(control: string): string {
  const code = control.charCodeAt(0)
  if (code === 0x0a || code === 0x0d || code === 0x09) return ' '
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`
  return code === 0x7f ? '^?' : `\\u${code.toString(16).padStart(4, '0')}`
}
