type Fields = Readonly<Record<string, unknown>>

/** What differs between two states of a thing, before and after: for the record. */
export function changesOf(before: Fields, after: Fields): { before: Fields; after: Fields } {
  const changed = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  const only = (fields: Fields) => Object.fromEntries(changed.map((name) => [name, fields[name]]))
  return { before: only(before), after: only(after) }
}
