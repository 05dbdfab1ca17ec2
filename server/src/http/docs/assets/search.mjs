/**
 * Finds sections of the documentation. The browser and the page of results use the same function. Every word has to be in the
 * section; a word in a title counts most, then in a heading.
 */
export function search(index, query, max) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 8)
  if (words.length === 0) return []
  const found = []
  for (const entry of index) {
    const score = scoreOf(entry, words)
    if (score > 0) found.push({ entry, score })
  }
  found.sort((one, other) => other.score - one.score)
  return found.slice(0, max).map(({ entry }) => entry)
}

function scoreOf({ title, heading, text }, words) {
  const [inTitle, inHeading, inText] = [title, heading, text].map((part) => part.toLowerCase())
  let score = 0
  for (const word of words) {
    let found = 0
    if (inTitle.includes(word)) found += heading === '' ? 8 : 2
    if (inHeading.includes(word)) found += 5
    if (inText.includes(word)) found += 1
    if (found === 0) return 0
    score += found
  }
  return score
}
