/** Parts of generated Markdown. */

/** A text of the contract is not Markdown: `<key>` and `__proto__` stay as they are. */
export const plain = (text: string): string => text.replaceAll(/_(?=_)|(?<=_)_|[\\`*<]/g, '\\$&')

export const jsonBlock = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

/** Below an item of a list. */
export const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ')

/** The anchor that GitHub gives a heading. The type of an event is its anchor. */
export function slugOf(heading: string): string {
  const plain = heading.toLowerCase()
  return /^[a-z_]+\.[a-z_]+$/.test(plain) ? plain : plain.replaceAll(/[^\p{L}\d\s_-]/gu, '').replaceAll(' ', '-')
}
