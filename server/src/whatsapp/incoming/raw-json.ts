/**
 * Takes JSON apart without changing it: numbers keep their digits, and nesting of any depth is no problem. The text must be valid
 * JSON, as `JSON.parse` has accepted it.
 */

/** The members of an object, or the items of a list by their index, each as text. Empty for any other value. */
export function partsOf(text: string): Map<string, string> {
  const parts = new Map<string, string>()
  let at = skipSpace(text, 0)
  const isObject = text[at] === '{'
  if (!isObject && text[at] !== '[') return parts
  for (let index = 0; ; index++) {
    at = skipSpace(text, at + 1)
    if (text[at] === '}' || text[at] === ']') return parts
    let name = String(index)
    if (isObject) {
      const end = endOfString(text, at)
      name = JSON.parse(text.slice(at, end)) as string
      // After the colon.
      at = skipSpace(text, skipSpace(text, end) + 1)
    }
    const end = endOfValue(text, at)
    // As in JSON.parse, the last one counts.
    parts.set(name, text.slice(at, end))
    at = skipSpace(text, end)
    if (text[at] !== ',') return parts
  }
}

/** How deep a value is nested. */
export function depthOf(text: string): number {
  let [depth, deepest] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]
    if (letter === '"') at = endOfString(text, at) - 1
    else if (letter === '{' || letter === '[') deepest = Math.max(deepest, ++depth)
    else if (letter === '}' || letter === ']') depth--
  }
  return deepest
}

function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const letter = text[at] as string
    if (letter === '"') at = endOfString(text, at) - 1
    else if (letter === '{' || letter === '[') depth++
    else if (letter === '}' || letter === ']') depth--
    else if (depth > 0 || !/[,\s]/.test(letter)) continue
    else return at
    // Below zero: the end of what contains a number or a word.
    if (depth <= 0) return depth < 0 ? at : at + 1
  }
  return text.length
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && /\s/.test(text[at] as string)) at++
  return at
}
