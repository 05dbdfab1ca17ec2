/** How many columns of a terminal a text takes: two for a Chinese character or an emoji, none for an accent of its own. */
export function widthOf(text: string): number {
  // Almost always. The others need tables of Unicode, which take longer to load.
  if (/^[ -~]*$/.test(text)) return text.length
  return [...text].reduce((sum, character) => sum + widthOfOne(character), 0)
}

/** The text, or its beginning and an ellipsis. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let [kept, used] = ['', 1]
  for (const character of text) {
    used += widthOfOne(character)
    if (used > width) break
    kept += character
  }
  return `${kept}…`
}

export const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

function widthOfOne(character: string): number {
  if (/[ -~]/.test(character)) return 1
  if (/\p{Mark}|[\u200b-\u200d]/u.test(character)) return 0
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
    character,
  )
    ? 2
    : 1
}
